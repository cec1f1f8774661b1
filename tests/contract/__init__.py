"""The contract that every mode keeps, whatever its kernels: one table of modes, one suite."""
