"""Assembly of the table-free kernels lets no secret decide on addresses, branches or shift counts.

AVX-512 above all, which valgrind cannot run. `gather`'s cores must be found, and so must each way to leak.
"""

import pytest

from tests.traces.assembly import leaks
from tests.traces.kernels import QUICK, SLOW, TELLTALE


def _pairs(kernels):
    return [(target, name) for target, names in kernels.items() for name in names]


@pytest.mark.parametrize(("target", "name"), _pairs(QUICK))
def test_no_leaks(compiled, target, name):
    listing = compiled(target)[name].listing
    assert listing.count("zmm" if target == "AVX-512" else "ymm") > 100
    assert leaks(listing) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("target", "name"), _pairs(SLOW))
def test_no_leaks_in_more_kernels(compiled, target, name):
    assert leaks(compiled(target, slow=True)[name].listing) == {}


@pytest.mark.parametrize("name", TELLTALE)
def test_table_look_ups_are_found(compiled, name):
    """At least the 16 look-ups of a round, for one block and for many."""
    found = leaks(compiled("AVX2")[name].listing)
    assert list(found.values()).count("address") >= 32


# The analysis itself ------------------------------------------------------------------------------

LISTING = """
	.section	.rodata,"a",@progbits
table:
	.quad	1
	.text
	.type	other,@function
other:
	retq
	.type	f,@function
f:
{}
.LBB0_1:
	retq
"""
#: What each function starts with: a secret in r10, its comparison in the flags, secrets in zmm1 and k1.
SECRETS = "movq (%rdi), %r10\nvmovdqu64 (%rdi), %zmm1\nvpmovb2m %zmm1, %k1\n"
LEAKS = {
    "address of a load": ("movq (%rsi,%r10), %rax", "address"),
    "address of a vector load": ("vmovdqu64 (%rsi,%r10,8), %zmm2", "address"),
    "address of a store": ("movb $0, (%r10)", "address"),
    "address through arithmetic": ("movl %r10d, %eax\nandl $255, %eax\nmovq (%rsi,%rax,8), %rax", "address"),
    "address through lea": ("leaq (%rsi,%r10), %rax\nxorl (%rax), %ecx", "address"),
    "address in read-only data": ("movabsq $table, %rax\nmovq (%rax,%r10,8), %rax", "address"),
    "address out of a vector": ("vmovq %xmm1, %rax\nmovq (%rsi,%rax), %rax", "address"),
    "address out of a lane": ("vpextrq $1, %xmm1, %rax\nmovq (%rsi,%rax), %rax", "address"),
    "address out of a mask": ("kmovq %k1, %rax\nmovq (%rsi,%rax), %rax", "address"),
    "address out of signs": ("vpmovmskb %ymm1, %eax\nmovq (%rsi,%rax), %rax", "address"),
    "address out of flags": (
        "xorl %eax, %eax\ncmpq $1, %r10\nsete %al\nmovq (%rsi,%rax), %rax",
        "address",
    ),
    "address from the stack": ("pushq %r10\npopq %rax\nmovq (%rax), %rax", "address"),
    "address from a spilled slot": ("movq %r10, -8(%rsp)\nmovq -8(%rsp), %rax\nmovq (%rax), %rax", "address"),
    "address from a vector on the stack": (
        "movq %rsi, -24(%rsp)\nvmovdqu64 %zmm1, -72(%rsp)\nmovq -24(%rsp), %rax\nmovq (%rax), %rax",
        "address",
    ),
    "address from a slot that others may write": (
        "movq %rsi, -8(%rsp)\nleaq -16(%rsp), %rax\nmovq %r10, 8(%rax)\n"
        "movq -8(%rsp), %rax\nmovq (%rax), %rax",
        "address",
    ),
    "second result": ("movq %rsi, %rdx\nmulxq %r10, %rax, %rcx\nmovq (%rsi,%rax), %rax", "address"),
    "implicit result": ("movq %r10, %rax\nmulq %rsi\nmovq (%rsi,%rdx), %rax", "address"),
    "copies of secret length": ("movq %r10, %rcx\nrep stosb %al, %es:(%rdi)", "address"),
    "gather": ("vpgatherdd (%rsi,%zmm1,4), %zmm2 {%k1}", "address"),
    "branch": ("testq %r10, %r10\nje .LBB0_1", "branch"),
    "branch on memory": ("cmpb $1, (%rsi)\njne .LBB0_1", "branch"),
    "branch on arithmetic": ("addq %rsi, %r10\njb .LBB0_1", "branch"),
    "branch on a shifted-out bit": ("shlq $1, %r10\njb .LBB0_1", "branch"),
    "branch on a vector": ("vptest %ymm1, %ymm1\nje .LBB0_1", "branch"),
    "branch on a mask": ("kortestq %k1, %k1\nje .LBB0_1", "branch"),
    "branch on one of two paths": (
        "testq %rsi, %rsi\nje .LBB0_2\nmovq %r10, %rsi\n.LBB0_2:\ntestq %rsi, %rsi\njne .LBB0_1",
        "branch",
    ),
    "branch in a later turn of a loop": (
        ".LBB0_2:\ntestq %rax, %rax\nje .LBB0_1\nmovq %r10, %rax\ncmpq %rsi, %rdx\njne .LBB0_2",
        "branch",
    ),
    "computed jump": ("jmpq *%r10", "branch"),
    "conditional move": ("cmpq %rsi, %r10\ncmovbq %rsi, %rax", "conditional move"),
    "shift count": ("movl %r10d, %ecx\nshlq %cl, %rsi", "shift count"),
    "shift count in any register": ("shlxq %r10, %rsi, %rax", "shift count"),
    "division": ("movq %r10, %rax\nxorl %edx, %edx\ndivq %rsi", "division"),
    "division by a secret": ("movq %rsi, %rax\nxorl %edx, %edx\ndivq %r10", "division"),
    "mask of a store": ("vmovdqu8 %zmm2, (%rsi) {%k1}", "mask of a load or store"),
    "mask of a load": ("vpxorq (%rsi), %zmm2, %zmm2 {%k1}", "mask of a load or store"),
    "mask in a vector": ("vpmaskmovd %ymm2, %ymm1, (%rsi)", "mask of a load or store"),
    "length of a copy": ("movq %r10, %rdx\nmovabsq $memcpy, %rax\ncallq *%rax", "argument"),
    "argument": ("movq %r10, %rdi\ncallq other", "argument"),
    "unknown function": ("callq elsewhere", "call of an unknown function"),
    "unknown instruction": ("frobnicate %r10, %rsi\nmovq (%rsi), %rax", "address"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_each_way_to_leak_is_found(name):
    code, reason = LEAKS[name]
    assert reason in leaks(LISTING.format(SECRETS + code)).values()


HARMLESS = {
    "arguments": "testq %rcx, %rcx\njle .LBB0_1\nmovq (%rdi,%rcx,8), %rax\nshlq %cl, %rsi\n"
    "movq 8(%rsp), %rax\nmovq (%rax), %rax",
    "arithmetic on secrets": "addq %r10, %r10\nrolq $3, %r10\nbswapq %r10\nimulq %r10, %r10\n"
    "movq %r10, (%rsi)",
    "select in vectors": "vpblendmb %zmm1, %zmm2, %zmm3 {%k1}\nvmovdqu64 %zmm3, (%rsi)",
    "permute by secrets": "vpermi2b %zmm2, %zmm3, %zmm1\nvpshufb %zmm1, %zmm2, %zmm3",
    "flags of public values": "xorq %r10, %rax\ncmpq %rsi, %rdx\nvpxor %xmm1, %xmm1, %xmm2\nje .LBB0_1",
    "public mask": "vpbroadcastq %rcx, %zmm1\nmovabsq $table, %rax\nvpcmpgtq (%rax), %zmm1, %k1\n"
    "vmovdqu64 (%rsi), %zmm2 {%k1} {z}",
    "registers used again": "movq %rsi, %r10\nmovq (%r10), %rax\nxorl %eax, %eax\nmovq (%rsi,%rax), %rax",
    "public values on the stack": "pushq %rsi\nsubq $64, %rsp\nmovq %rdx, 8(%rsp)\nmovq %r10, (%rsp)\n"
    "vmovups %zmm1, -128(%rsp)\nmovq 8(%rsp), %rax\nmovq (%rax), %rcx\n"
    "addq $64, %rsp\npopq %rax\nmovq (%rax), %rax",
    "call": "movq %r10, %rsi\nmovabsq $memset, %rax\ncallq *%rax\nmovq (%rbx), %rax",
    "read-only data": "movabsq $table+8, %rax\nmovq 8(%rax), %rcx\nmovq (%rsi,%rcx,8), %rcx",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_nothing_else_is_found(name):
    assert leaks(LISTING.format(SECRETS + HARMLESS[name])) == {}
