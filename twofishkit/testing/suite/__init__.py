"""The oracle as a pytest suite: ``pytest --pyargs twofishkit.testing.suite --twofish-cmd ./target``.

One test for each published vector and each generated case. What the target does not support is skipped;
a failing test shows input, expected and actual output, and the known mistake that gives the same.
"""
