"""Assembly for x86-64 as LLVM prints it (AT&T syntax), taken apart into functions and operands."""

import re
from dataclasses import dataclass, field

#: Names of registers, of each width, to the widest of the same register.
FAMILIES = {
    **{f"{size}{name}x": f"r{name}x" for name in "abcd" for size in ("r", "e", "")},
    **{f"{name}{part}": f"r{name}x" for name in "abcd" for part in "lh"},
    **{f"{size}{name}": f"r{name}" for name in ("si", "di", "bp", "sp") for size in ("r", "e", "")},
    **{f"{name}l": f"r{name}" for name in ("si", "di", "bp", "sp")},
    **{f"r{i}{suffix}": f"r{i}" for i in range(8, 16) for suffix in ("", "d", "w", "b")},
    **{f"{kind}mm{i}": f"zmm{i}" for i in range(32) for kind in "xyz"},
    **{f"k{i}": f"k{i}" for i in range(8)},
    "rip": "rip",
}


@dataclass(frozen=True)
class Operand:
    text: str
    kind: str  # "register", "memory", "immediate"
    register: str | None = None
    base: str | None = None
    index: str | None = None
    symbol: str | None = None
    displacement: int = 0
    mask: str | None = None
    zeroing: bool = False

    @property
    def n_bytes(self):
        """The width of a register."""
        name = self.text
        if name[0] in "xyz" and name[1:3] == "mm":
            return {"x": 16, "y": 32, "z": 64}[name[0]]
        if name[0] == "k" or (name[0] == "r" and not name.endswith(("d", "w", "b"))):
            return 8
        if name[0] == "e" or name.endswith("d"):
            return 4
        return 1 if name.endswith(("l", "h", "b")) else 2


@dataclass(frozen=True)
class Instruction:
    line: str
    mnemonic: str
    operands: tuple[Operand, ...]


@dataclass
class Function:
    name: str
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


_MEMORY = re.compile(r"([^()]*)\((?:%(\w+))?(?:,\s*%(\w+)(?:,\s*\d)?)?\)")


def _operand(text):
    text = text.strip()
    mask = re.search(r"\{%(k\d)\}", text)
    decorated = {"mask": mask and mask[1], "zeroing": "{z}" in text}
    text = re.sub(r"\s*\{[^}]*\}", "", text).lstrip("*")
    text = re.sub(r"^%[c-g]s:", "", text)
    if text.startswith("%"):
        return Operand(text[1:], "register", register=FAMILIES[text[1:]], **decorated)
    if text.startswith("$"):
        return Operand(text, "immediate", symbol=_symbol(text[1:]), **decorated)
    found = _MEMORY.fullmatch(text)
    outside, base, index = found.groups() if found else (text, None, None)
    numeric = re.fullmatch(r"-?\d*", outside)
    return Operand(
        text,
        "memory",
        base=FAMILIES[base] if base else None,
        index=FAMILIES[index] if index else None,
        symbol=None if numeric else _symbol(outside),
        displacement=int(outside or 0) if numeric else 0,
        **decorated,
    )


def _symbol(text):
    return None if re.fullmatch(r"-?\d+", text) else re.sub(r"[+-]\d+$", "", text).strip('"')


def parse(listing):
    """(functions, symbols in read-only data) of a listing."""
    functions, constants, types = [], set(), {}
    section, current = "", None
    for raw in listing.splitlines():
        line = re.sub(r"\s+#.*$", "", raw).rstrip().replace("rep;", "rep ")
        label = re.fullmatch(r'"?([^\s"]+)"?:', line)
        words = line.split()
        if label:
            name = label[1]
            if types.get(name) == "@function":
                current = Function(name)
                functions.append(current)
            elif "rodata" in section:
                constants.add(name)
            elif current is not None and name.startswith(".L"):
                current.labels[name] = len(current.instructions)
        elif words and words[0] == ".section":
            section = words[1]
        elif words and words[0] in (".text", ".data", ".bss"):
            section = words[0]
        elif words and words[0] == ".type":
            name, kind = line.split(maxsplit=1)[1].rsplit(",", 1)
            types[name.strip('"')] = kind
        elif words and not words[0].startswith(".") and "text" in section and current is not None:
            prefix = words[0] in ("rep", "lock", "notrack")
            mnemonic = " ".join(words[: 1 + prefix]).removeprefix("notrack ")
            rest = line.split(maxsplit=1 + prefix)[1 + prefix :]
            operands = re.split(r",\s*(?![^(]*\))", rest[0]) if rest else []
            current.instructions.append(
                Instruction(line.strip(), mnemonic, tuple(_operand(o) for o in operands))
            )
    return functions, constants
