import pytest

from twofishkit.integrations import keys

KEY = bytes(range(100, 132))
KEY_ID = "test-key"
VARIABLE = "TWOFISHKIT_KEY_TEST_KEY"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """One key, in the environment; none of the user's own."""
    monkeypatch.delenv(keys.DIRECTORY_VARIABLE, raising=False)
    monkeypatch.setenv(VARIABLE, KEY.hex())
    monkeypatch.setattr(keys, "_providers", [])
    monkeypatch.setattr(keys, "_from_keyring", lambda key_id: None)
