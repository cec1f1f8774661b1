"""The contract that every mode keeps, whatever its kernels: one table of modes, one suite.

Bytes in, bytes out is the yardstick, itself compared with the reference in ``tests/modes``.
"""
