"""Finds where x86-64 machine code lets secrets reach addresses, branches or shift counts.

Works on assembly as LLVM prints it (AT&T syntax), so that it serves where no emulator runs the
instructions: AVX-512. Every function of a listing is interpreted over all paths, with each register,
the flags and each byte of the stack either *public* or *secret*:

- arguments (addresses, lengths) are public; so are constants in read-only data;
- what is loaded from any other memory is secret; from the stack, as secret as what was stored there;
- a result is secret if an operand is, or the old value of a register that is not wholly overwritten.

Reported is an instruction where a secret reaches

- an address; the mask of a load or store; a jump's or call's target
- a conditional jump or move (by the flags)
- a shift count in a general register, or a division
- a call's arguments
- hardware gathers and scatters at all.

What is not known to be public is secret: instructions that are not known here can only cause false alarms,
with one exception, instructions that write registers which they do not name (`_IMPLICIT` lists those).
"""

import re

from tests.traces.listing import FAMILIES, Operand, parse

PUBLIC, SECRET = "public", "secret"
#: Public as well: the address of read-only data, whose contents are public, and of a known function.
CONSTANT, FUNCTION = "constant", "function"
MEMORY_FUNCTIONS = "memcpy", "memmove", "memset"

_GENERAL = {name for name in FAMILIES.values() if name[0] == "r"} - {"rip", "rsp"}
_ARGUMENTS = "rdi", "rsi", "rdx", "rcx", "r8", "r9"
_SAVED = {"rbx", "rbp", "r12", "r13", "r14", "r15"}
_SUFFIX_BYTES = {"b": 1, "w": 2, "l": 4, "q": 8}

#: What instructions read and write besides their operands.
_IMPLICIT = {
    **{f"{name}{s}": (("rax", "rdx"), ("rax", "rdx")) for name in ("mul", "imul") for s in "bwlq"},
    **{f"{name}{s}": (("rax", "rdx"), ("rax", "rdx")) for name in ("div", "idiv") for s in "bwlq"},
    **{f"mulx{s}": (("rdx",), ()) for s in "lq"},
    **{name: (("rax",), ("rdx",)) for name in ("cltd", "cqto", "cwtd")},
    **{name: (("rax",), ("rax",)) for name in ("cltq", "cwtl", "cbtw")},
    **{f"cmpxchg{s}": (("rax",), ("rax",)) for s in "bwlq"},
}
#: Vector instructions whose last operand is a source too; others with VEX overwrite it.
_DESTRUCTIVE = re.compile(
    r"vperm[it]2|vpternlog|vpsh[lr]dv|vf(n?m|maddsub|msubadd)|vpdp|vpmadd52|v4f|vdbpsad$"
)
#: Instructions without VEX whose last operand is no source, as far as they are met with.
_OVERWRITING = re.compile(
    r"mov(?!s[sd]$|[hl]p[sd]$|hlps|lhps)|set|rorx|sarx|shlx|shrx|andn|bextr|bzhi|pdep|pext|mulx|bls|"
    r"lzcnt|tzcnt|popcnt|kmov|pmov"
)
_TWO_RESULTS = re.compile(r"mulx|xchg|xadd")
_ONLY_FLAGS = re.compile(r"(cmp|test|bt)[bwlq]$|v?p?test$|vtestp|k(or)?test|v?u?comis")
#: Which flags other instructions write, and which they keep, need not be known: old and new are joined.
_ALL_FLAGS = re.compile(r"(add|sub|adc|sbb|and|or|xor|neg)[bwlq]$|andn|bextr|bzhi|bls|lzcnt|tzcnt|popcnt")
_NO_FLAGS = re.compile(r"mov|set|cmov|rorx|sarx|shlx|shrx|pdep|pext|mulx|not|bswap|xchg|c[lqw]t|cwtl|cbtw")
_CLEARING = re.compile(r"(xor|sub)[lq]$|v?p?xor[dq]?$|v?xorp[sd]$|kxor[bwdq]$|v?psub[bwdq]$|v?pcmpeq[bwdq]$")
_SHIFT = re.compile(r"(s[ha][lr]x?|ro[lr]|rc[lr]|sh[lr]d)[bwlq]$")
_MASKED_BY_VECTOR = re.compile(r"vp?maskmov|v?maskmovdqu")


def _join(a, b):
    if a == b:
        return a
    return SECRET if SECRET in (a, b) else PUBLIC


class State:
    """What is known before an instruction; all else is secret."""

    def __init__(self):
        self.registers = dict.fromkeys(_GENERAL, PUBLIC)
        self.flags = PUBLIC
        #: The stack pointer, and the public bytes, relative to its value when the function was called.
        self.top, self.stack = 0, set()

    def copy(self):
        other = State()
        other.registers, other.flags = dict(self.registers), self.flags
        other.top, other.stack = self.top, set(self.stack)
        return other

    def get(self, register):
        return PUBLIC if register in ("rip", "rsp") else self.registers.get(register, SECRET)

    def merge(self, other):
        """Join with what is known on another path; whether anything was lost by that."""
        assert self.top == other.top
        registers = {r: _join(self.get(r), other.get(r)) for r in self.registers}
        flags, stack = _join(self.flags, other.flags), self.stack & other.stack
        changed = (registers, flags, stack) != (self.registers, self.flags, self.stack)
        self.registers, self.flags, self.stack = registers, flags, stack
        return changed


class Analysis:
    """One function, interpreted until nothing changes; `found` are its leaks as (line, reason)."""

    def __init__(self, function, functions, constants):
        self.function, self.constants = function, constants
        self.callable = {f.name for f in functions} | set(MEMORY_FUNCTIONS)
        self.found, self.reached = {}, set()
        #: Where addresses of stack memory were taken: above them, others than this function's own
        #: instructions may write, so that nothing there is taken for public.
        self.escaped = float("inf")
        while True:
            before = self.escaped
            self.found.clear()
            self._interpret()
            if self.escaped == before:
                return

    def _interpret(self):
        states, work = {0: State()}, [0]
        while work:
            at = work.pop()
            state = states[at].copy()
            for target in self._step(at, state):
                if target not in states:
                    states[target] = state.copy()
                    work.append(target)
                elif states[target].merge(state):
                    work.append(target)
        self.reached = set(states)

    def _leak(self, instruction, reason):
        self.found.setdefault(instruction.line, reason)

    # Memory

    def _is_own_stack(self, operand):
        return operand.base == "rsp" and operand.index is None

    def _bytes(self, state, operand, n):
        start = state.top + operand.displacement
        return range(start, start + n)

    def _load(self, state, operand, n):
        if self._is_own_stack(operand):
            bytes_read = self._bytes(state, operand, n)
            if bytes_read.start >= 8 or (
                state.stack.issuperset(bytes_read) and bytes_read.stop <= self.escaped
            ):
                return PUBLIC  # the caller's arguments, or stored as public
            return SECRET
        if (
            CONSTANT in (state.get(operand.base), state.get(operand.index))
            or operand.symbol in self.constants
        ):
            return PUBLIC
        return SECRET

    def _store(self, state, operand, n, value, exact):
        if self._is_own_stack(operand):
            written = self._bytes(state, operand, n)
            if value == SECRET:
                state.stack.difference_update(written)
            elif exact:
                state.stack.update(written)

    def _check_address(self, state, instruction, operand):
        if SECRET in (state.get(r) for r in (operand.base, operand.index) if r):
            self._leak(instruction, "address")
        if operand.index and operand.index.startswith("zmm"):
            self._leak(instruction, "gather or scatter")

    # Instructions

    def _step(self, at, state):
        """Interpret one instruction; where it may lead."""
        i = self.function.instructions[at]
        name, operands = i.mnemonic, i.operands
        if name.startswith(("ret", "ud2", "int3", "hlt")):
            return []
        following = [at + 1] if at + 1 < len(self.function.instructions) else []
        if name.startswith("j"):
            return self._jump(i, state, following)
        if name.startswith("call"):
            self._call(i, state)
        elif re.match(r"(push|pop)[wq]$", name):
            self._push_or_pop(i, state)
        elif operands and operands[-1].register == "rsp" and not _ONLY_FLAGS.match(name):
            self._move_stack(i, state)
        elif name.startswith("lea"):
            self._take_address(state, operands)
        elif not name.startswith(("nop", "endbr", "prefetch", "xchg %ax")):
            self._compute(i, state)
        return following

    def _jump(self, i, state, following):
        target = i.operands[0]
        if i.mnemonic not in ("jmp", "jmpq"):
            decides = state.get("rcx") if "cxz" in i.mnemonic else state.flags
            if decides == SECRET:
                self._leak(i, "branch")
            return [self.function.labels[target.text], *following]
        if target.kind == "memory" and target.symbol in self.function.labels and not target.base:
            return [self.function.labels[target.symbol]]
        if target.kind == "memory":
            self._check_address(state, i, target)
            value = self._load(state, target, 8)
        else:
            value = state.get(target.register)
        if value == SECRET:
            self._leak(i, "branch")
        return [at for at in self.function.labels.values() if at < len(self.function.instructions)]

    def _call(self, i, state):
        target = i.operands[0]
        value = state.get(target.register) if target.kind == "register" else FUNCTION
        name = target.symbol or value.removeprefix(FUNCTION + " ")
        if name not in self.callable:
            self._leak(i, "call of an unknown function")
        needed = {"memset": ("rdi", "rdx")}.get(
            name, _ARGUMENTS[:3] if name in MEMORY_FUNCTIONS else _ARGUMENTS
        )
        if SECRET in (state.get(register) for register in needed):
            self._leak(i, "argument")
        for register in list(state.registers):
            if register not in _SAVED:
                state.registers[register] = SECRET
        state.registers["rax"], state.flags = PUBLIC, SECRET

    def _take_address(self, state, operands):
        source, target = operands
        values = [state.get(r) for r in (source.base, source.index) if r]
        if "rsp" in (source.base, source.index):
            self.escaped = min(self.escaped, state.top + source.displacement)
        value = CONSTANT if source.symbol in self.constants or CONSTANT in values else PUBLIC
        state.registers[target.register] = SECRET if SECRET in values else value

    def _push_or_pop(self, i, state):
        operand = i.operands[0]
        if i.mnemonic.startswith("push"):
            state.top -= 8
            here = Operand("", "memory", base="rsp")
            self._store(state, here, 8, self._value(i, state, operand), exact=True)
        else:
            value = self._load(state, Operand("", "memory", base="rsp"), 8)
            state.top += 8
            state.registers[operand.register] = value

    def _move_stack(self, i, state):
        amount = i.operands[0]
        if amount.kind == "immediate" and i.mnemonic in ("subq", "addq"):
            state.top += int(amount.text[1:]) * (1 if i.mnemonic == "addq" else -1)
        else:  # aligned, or restored from the frame pointer: another frame, of which nothing is known
            state.top = -(1 << 40) if i.mnemonic == "andq" else 0
            state.stack.clear()

    def _value(self, i, state, operand):
        if operand.kind == "immediate":
            if operand.symbol in self.constants:
                return CONSTANT
            return f"{FUNCTION} {operand.symbol}" if operand.symbol in self.callable else PUBLIC
        if operand.kind == "register":
            if operand.register == "rsp":
                self.escaped = min(self.escaped, state.top)
            return state.get(operand.register)
        self._check_address(state, i, operand)
        return self._load(state, operand, _bytes_read(i))

    def _compute(self, i, state):
        name, operands = i.mnemonic, i.operands
        *sources, target = operands or (None,)
        vector = name[0] in "vk" or (target is not None and str(target.register).startswith("zmm"))
        reads, writes = self._implicit(i, state)
        flags_only = bool(_ONLY_FLAGS.match(name))
        overwrites = _OVERWRITING.match(name) or (name[0] in "vk" and not _DESTRUCTIVE.match(name))
        if flags_only or (target is not None and target.mask and not target.zeroing):
            overwrites = False
        values = [self._value(i, state, o) for o in sources] + [state.get(r) for r in reads]
        values += [state.get(o.mask) for o in operands if o.mask]
        if name.startswith(("set", "cmov", "adc", "sbb", "rc")):
            values.append(state.flags)
        if target is not None and not overwrites:
            values.append(self._value(i, state, target))
        same = len(operands) > 1 and len({o.text for o in operands}) == 1
        value = SECRET if SECRET in values and not (same and _CLEARING.match(name)) else PUBLIC
        if value == PUBLIC and name.startswith(("mov", "add", "sub")):
            value = next((v for v in values if v != PUBLIC), PUBLIC)
        self._check(i, state)
        if not flags_only:
            self._write(i, state, target, value)
        if _TWO_RESULTS.match(name):
            self._write(i, state, operands[-2], value)
        for register in writes:
            state.registers[register] = value
        plain = SECRET if value == SECRET else PUBLIC
        if flags_only or _ALL_FLAGS.match(name):
            state.flags = plain
        elif not vector and not _NO_FLAGS.match(name):
            state.flags = _join(state.flags, plain)

    def _implicit(self, i, state):
        """Registers that an instruction reads and writes without naming them."""
        name = i.mnemonic
        if name.startswith("rep "):
            registers = ("rcx", "rdi", "rsi") if "movs" in name else ("rcx", "rdi")
            if SECRET in map(state.get, registers):
                self._leak(i, "address")
            return registers, registers
        if name.startswith("imul") and len(i.operands) > 1:
            return (), ()
        return _IMPLICIT.get(name, ((), ()))

    def _write(self, i, state, target, value):
        if target is None:
            return
        if target.kind == "register":
            if target.n_bytes < 4 and target.register in _GENERAL:  # the rest of the register stays
                value = _join(value, state.get(target.register))
            state.registers[target.register] = value
            return
        self._check_address(state, i, target)
        registers = [o.n_bytes for o in i.operands if o.kind == "register"]
        n = max(registers) if registers else _SUFFIX_BYTES.get(i.mnemonic[-1], 8)
        plain = re.match(r"v?mov([bwlq]|[au]p[sd]|dq[au]\d*)$", i.mnemonic) and not target.mask
        self._store(state, target, n, value, bool(plain))

    def _check(self, i, state):
        """The leaks that are neither addresses nor jumps."""
        name, operands = i.mnemonic, i.operands
        if name.startswith("cmov") and state.flags == SECRET:
            self._leak(i, "conditional move")
        if len(operands) > 1 and _SHIFT.match(name) and self._value(i, state, operands[0]) == SECRET:
            self._leak(i, "shift count")
        if re.match(r"i?div[bwlq]$", name):
            values = [state.get("rax"), state.get("rdx"), self._value(i, state, operands[0])]
            if SECRET in values:
                self._leak(i, "division")
        if any(o.kind == "memory" for o in operands):
            masks = [o.mask for o in operands if o.mask]
            if _MASKED_BY_VECTOR.match(name):
                masks += [o.register for o in operands[:2] if o.kind == "register"]
            if SECRET in map(state.get, masks):
                self._leak(i, "mask of a load or store")


def _bytes_read(i):
    """The most bytes that an instruction's memory operand is read for."""
    name = i.mnemonic
    narrow = re.match(r"mov[zs]([bwl])[wlq]$", name) or re.match(r"v?p(?:broadcast|insr)([bwdq])$", name)
    if narrow:
        return {"d": 4, **_SUFFIX_BYTES}[narrow[1]]
    if re.match(r"v?mov[dq]$|vpbroadcast|vbroadcast(i128|[fi]32x4|ss|sd)", name):
        return 16 if "128" in name or "x4" in name else 4 if name.endswith(("d", "ss")) else 8
    registers = [o.n_bytes for o in i.operands if o.kind == "register"]
    return max(registers) if registers else _SUFFIX_BYTES.get(name[-1], 8)


def leaks(listing):
    """{line: reason} of all functions in a listing, Numba's wrappers for Python excepted."""
    functions, constants = parse(listing)
    mine = [function for function in functions if not function.name.startswith("_ZN7cpython")]
    assert mine
    found = {}
    for function in mine:
        analysis = Analysis(function, functions, constants)
        assert analysis.reached == set(range(len(function.instructions))), function.name
        found.update(analysis.found)
    return found
