"""How results show themselves: HTML that is well formed and always the same, text, and plots."""

import hashlib
import pickle
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.lab.results import RESULTS
from tests.processes import run
from twofishkit import GCM, errors, lab
from twofishkit.lab import html
from twofishkit.lab.pictures import DEMONSTRATION_KEY

VOID = {"img"}


@pytest.fixture(params=RESULTS)
def result(request):
    return RESULTS[request.param]()


class Balanced(HTMLParser):
    """Fails on a tag that is closed in the wrong order or not at all."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_well_formed_and_deterministic(result):
    first = result._repr_html_()
    parser = Balanced()
    parser.feed(first)
    parser.close()
    assert parser.open == []
    assert first == result._repr_html_()
    assert "0x7f" not in first
    assert len(first) < 500_000


def test_html_is_the_same_in_another_process():
    """And under another backend."""
    script = """
    import hashlib
    from twofishkit import lab
    results = lab.trace(bytes(16), bytes(16)), lab.encrypted_pictures(), lab.difference_table(lab.q0)
    print(*(hashlib.sha256(each._repr_html_().encode()).hexdigest() for each in results))
    """
    results = RESULTS["trace"](), RESULTS["encrypted_pictures"](), RESULTS["difference_table"]()
    here = [hashlib.sha256(each._repr_html_().encode()).hexdigest() for each in results]
    assert run(script, TWOFISHKIT_BACKEND="numpy").split() == here


def test_text_is_short_and_is_str_too(result):
    assert repr(result) == str(result)
    assert len(repr(result).splitlines()) <= 22
    assert all(len(line) <= 120 for line in repr(result).splitlines())


def test_results_are_arrays_and_what_is_made_from_them_is_plain():
    table = lab.difference_table(lab.q0)
    assert isinstance(table, np.ndarray)
    for plain in (table[1:], table + 1, np.add(1, table), np.array(table), table.max(axis=0)):
        assert type(plain) is np.ndarray
    assert isinstance(table[0, 0], np.integer)
    total = np.zeros_like(np.array(table))
    np.add(table, table, out=total)
    assert (total == 2 * np.array(table)).all()
    table += 1
    assert table[0, 0] == 257


@pytest.mark.parametrize("change", [lambda a: a.reshape(-1), lambda a: a.T, lambda a: a.copy()])
def test_other_shapes_have_no_look(change):
    other = change(lab.difference_table(lab.q0))
    assert other._repr_html_() is None
    assert repr(other).startswith("array(")
    with pytest.raises(errors.UnsupportedType, match="no plot"):
        other.plot()


def test_results_are_pickled_as_plain_arrays():
    table = lab.byte_histogram(b"abc")
    again = pickle.loads(pickle.dumps(table))
    assert type(again) is np.ndarray
    assert np.array_equal(again, table)


# --- Pictures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (5, 3, 3), (300, 400), (200, 300, 3)])
def test_png_holds_the_pixels(shape):
    pixels = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    data = html.png(pixels)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert int.from_bytes(data[at + 8 + length : at + 12 + length], "big") == zlib.crc32(kind + body)
        chunks[kind] = body
        at += length + 12
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    assert chunks[b"IHDR"][:8] == shape[1].to_bytes(4, "big") + shape[0].to_bytes(4, "big")
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(shape[0], -1)
    assert not rows[:, 0].any()
    assert rows[:, 1:].tobytes() == pixels.tobytes()


@pytest.mark.parametrize("height", [12, 96, 240])
def test_picture_has_flat_areas_and_two_fish(height):
    pixels = lab.picture(height)
    assert pixels.shape == (height, height * 4 // 3, 3)
    colours, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    assert 4 <= len(colours) <= 6
    assert counts.max() > pixels.shape[0] * pixels.shape[1] // 3


def distinct(pixels):
    return len(np.unique(pixels.reshape(-1, 16), axis=0))


def test_only_ecb_shows_equal_blocks():
    plain, ecb, *others = np.array(lab.encrypted_pictures())
    blocks = plain.size // 16
    assert distinct(plain) == distinct(ecb) < blocks // 4
    for ciphertext in others:
        assert distinct(ciphertext) == blocks
    gcm = GCM(DEMONSTRATION_KEY).encrypt(bytes(12), plain.tobytes())
    assert others[-1].tobytes() == gcm[:-16]


def test_a_picture_of_ones_own():
    grey = np.arange(32 * 48, dtype=np.uint8).reshape(32, 48)
    assert lab.encrypted_pictures(grey, bytes(16)).shape == (5, 32, 48)
    for wrong, error in [
        (grey[:31, :47], errors.InvalidLength),
        (grey[:0], errors.InvalidLength),
        (grey.astype("f4"), errors.UnsupportedType),
        (np.zeros((16, 16, 4), np.uint8), errors.UnsupportedType),
    ]:
        with pytest.raises(error):
            lab.encrypted_pictures(wrong)
    for height in (0, 13, 1212):
        with pytest.raises(errors.InvalidLength):
            lab.picture(height)


def test_the_lab_imports_neither_matplotlib_nor_numba():
    script = """
    import sys
    from twofishkit import lab
    lab.trace(bytes(16), bytes(16)), lab.difference_table(lab.sboxes(bytes(16))[0])
    print([name for name in ("matplotlib", "numba") if name in sys.modules])
    """
    assert run(script).strip() == "[]"
