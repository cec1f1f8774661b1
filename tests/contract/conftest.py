"""Every test that asks for ``row``, ``mode`` or ``expected`` runs for each row of `ROWS` and each backend."""

from typing import Any

import pytest

from tests.contract.rows import ROWS, Row
from tests.contract.samples import DATA


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request: pytest.FixtureRequest) -> Row:
    return request.param


@pytest.fixture
def mode(backend: str, row: Row) -> Any:
    return row.mode()


@pytest.fixture
def expected(mode: Any, row: Row) -> bytes:
    """The ciphertext of DATA."""
    return row.encrypt(mode, DATA, None)
