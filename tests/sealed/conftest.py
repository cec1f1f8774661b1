import pytest

from twofishkit.sealed import keys

KEY = bytes(range(32))


@pytest.fixture
def cheap_scrypt(monkeypatch):
    """Passphrases that cost a millisecond; readers take any cost that a header states."""
    monkeypatch.setattr(keys, "SCRYPT_LOG2_N", 4)
