"""One result of each kind that shows itself."""

from twofishkit import lab

ZERO = bytes(16)
RESULTS = {
    "trace": lambda: lab.trace(ZERO, ZERO),
    "trace with subkeys": lambda: lab.trace(ZERO, ZERO, subkeys=True),
    "compare": lambda: lab.compare(lab.trace(ZERO, ZERO), lab.trace(bytes(24), ZERO)),
    "difference_table": lambda: lab.difference_table(lab.q0),
    "linear_table": lambda: lab.linear_table(lab.q1),
    "avalanche": lambda: lab.avalanche(samples=50, rounds=5),
    "strict_avalanche": lambda: lab.strict_avalanche(samples=4, rounds=3, flip="key"),
    "bit_balance": lambda: lab.bit_balance(samples=100, rounds=4),
    "byte_histogram": lambda: lab.byte_histogram(b"two fish & <more>"),
    "empty byte_histogram": lambda: lab.byte_histogram(b""),
    "encrypted_pictures": lambda: lab.encrypted_pictures(),
}
