"""Twofish taken apart, for notebooks: traces, reduced rounds, many keys at once, statistics, pictures.

Everything is a NumPy array. What people look at shows itself as a table or a picture in a notebook, and
has ``plot()`` (matplotlib comes with ``pip install "twofishkit[lab]"``; nothing else needs it).

Timing depends on keys and data throughout, and traces are as secret as their keys: use the lab with keys
made for experiments.

>>> from twofishkit import lab
>>> lab.encrypt(bytes(32), bytes(16), rounds=3, whitening=False).shape
(16,)
"""

from twofishkit.lab.anatomy import MDS, RS, g, h, pht, q0, q1, round, sbox_key, sboxes, subkeys
from twofishkit.lab.boxes import difference_table, linear_table
from twofishkit.lab.encryption import encrypt, encrypt_each_round
from twofishkit.lab.pictures import encrypted_pictures, picture
from twofishkit.lab.shown import Shown
from twofishkit.lab.statistics import avalanche, bit_balance, byte_histogram, strict_avalanche
from twofishkit.lab.tracing import compare, trace

__all__ = [
    "MDS",
    "RS",
    "Shown",
    "avalanche",
    "bit_balance",
    "byte_histogram",
    "compare",
    "difference_table",
    "encrypt",
    "encrypt_each_round",
    "encrypted_pictures",
    "g",
    "h",
    "linear_table",
    "pht",
    "picture",
    "q0",
    "q1",
    "round",
    "sbox_key",
    "sboxes",
    "strict_avalanche",
    "subkeys",
    "trace",
]
