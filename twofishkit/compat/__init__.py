"""Drop-ins for code written for other libraries.

`twofishkit.compat.twofish`   the class of the PyPI package ``twofish`` 0.3.0: single blocks
`twofishkit.compat.pep272`    a PEP 272 module that behaves as pycryptodome's ciphers: ``new(key, mode, ...)``
`twofishkit.compat.aead`      AEAD classes called as ``cryptography``'s are: ``TwofishGCM(key).encrypt(...)``

They reproduce interfaces, with their habits and their errors. New code is better off with the names of
`twofishkit` itself: a PEP 272 object hands out plaintext before its tag is checked, for instance.
"""
