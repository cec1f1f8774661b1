"""``python -m twofishkit bench``: how fast, beside what else this machine has."""
