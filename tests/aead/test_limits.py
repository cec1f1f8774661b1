"""How long messages may be: to the byte, as a typed error, before anything is allocated or written.

A message that is too long is shown to the modes as a broadcast array: one byte of memory that says
it is 64 GiB.
"""

import numpy as np
import pytest

import twofishkit as tk
from tests.aead.table import MODES, STREAMS
from twofishkit import LimitExceeded

GCM_LIMIT = 2**36 - 32
OCB_LIMIT = 2**52
AAD_LIMIT = 2**61 - 1


def pretended(n):
    return np.broadcast_to(np.uint8(0), (n,))


def refused(mode_object, nonce, n, allowed):
    """All four methods, and streams, refuse a message of n bytes."""
    data, joined = pretended(n), pretended(n + mode_object.tag_length)
    for call in (mode_object.encrypt, mode_object.encrypt_detached):
        with pytest.raises(LimitExceeded, match=rf"the message has {n} bytes; .*{allowed}"):
            call(nonce, data)
    with pytest.raises(LimitExceeded, match=f"the message has {n} bytes"):
        mode_object.decrypt(nonce, joined)
    with pytest.raises(LimitExceeded, match=f"the message has {n} bytes"):
        mode_object.decrypt_detached(nonce, data, bytes(mode_object.tag_length))


def test_gcm_takes_2_36_minus_32_bytes_exactly():
    gcm = tk.GCM(bytes(32), tag_length=12)
    gcm._check_length(GCM_LIMIT, b"nonce")
    for n in (GCM_LIMIT + 1, GCM_LIMIT + 16, 2**36, 2**40):
        refused(gcm, bytes(12), n, r"2\^36 - 32")
        refused(gcm, bytes(60), n, r"2\^36 - 32")


def test_ocb_takes_2_48_blocks():
    ocb = tk.OCB(bytes(32))
    ocb._check_length(OCB_LIMIT, b"nonce")
    for n in (OCB_LIMIT + 1, 2**60):
        refused(ocb, bytes(12), n, r"2\^48 blocks")


@pytest.mark.parametrize("nonce_bytes", range(7, 14))
def test_ccm_takes_what_its_length_field_holds(nonce_bytes):
    """The counter and the length share 15 bytes with the nonce."""
    ccm, bits = tk.CCM(bytes(32)), 8 * (15 - nonce_bytes)
    ccm._check_length((1 << bits) - 1, bytes(nonce_bytes))
    if bits < 63:  # longer arrays cannot be pretended
        for n in (1 << bits, (1 << bits) + 1):
            refused(ccm, bytes(nonce_bytes), n, rf"2\^{bits} - 1")
    with pytest.raises(LimitExceeded):
        ccm._check_length(1 << bits, bytes(nonce_bytes))


def test_the_longest_ccm_message_of_a_13_byte_nonce(longest_ccm_message, backend):
    key, nonce, plaintext, wanted = longest_ccm_message
    ccm = tk.CCM(key)
    assert ccm.encrypt_detached(nonce, plaintext) == wanted
    assert ccm.decrypt_detached(nonce, *wanted) == plaintext


@pytest.fixture(scope="module")
def longest_ccm_message():
    """65535 bytes, by the reference: the last counter is 4096, far below what its field holds."""
    key, nonce, plaintext = bytes(range(16)), bytes(range(13)), bytes(range(255)) * 257
    assert len(plaintext) == 65535
    ccm = next(mode for mode in MODES if mode.name == "CCM")
    return key, nonce, plaintext, ccm.reference(key, nonce, plaintext, b"", 16)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_associated_data_has_less_than_2_61_bytes(mode):
    mode_object = mode.make(mode.key())
    too_long = pretended(AAD_LIMIT + 1)
    for call in (mode_object.encrypt, mode_object.encrypt_detached, mode_object.decrypt):
        with pytest.raises(LimitExceeded, match=rf"aad has {AAD_LIMIT + 1} bytes; at most 2\^61 - 1"):
            call(mode.nonce(), bytes(16), too_long)
    with pytest.raises(LimitExceeded):
        mode_object.decrypt_detached(mode.nonce(), bytes(16), bytes(16), too_long)


@pytest.mark.parametrize("mode", STREAMS, ids=str)
def test_streams_count_all_chunks(mode):
    mode_object = mode.make(mode.key())
    for context in (mode_object.encryptor(mode.nonce(), b"1"), mode_object.decryptor(mode.nonce(), b"1")):
        with pytest.raises(LimitExceeded, match="aad would have"):
            context.update_aad(pretended(AAD_LIMIT))
        context.update(b"abc")
        if mode.name != "EAX":
            n = {"GCM": GCM_LIMIT, "OCB": OCB_LIMIT}[mode.name] - 2
            with pytest.raises(LimitExceeded, match=f"the message has {n + 3} bytes"):
                context.update(pretended(n))
    # The refused chunks have left no trace.
    encryptor = mode_object.encryptor(mode.nonce(), b"1")
    with pytest.raises(LimitExceeded):
        encryptor.update_aad(pretended(AAD_LIMIT))
    assert encryptor.update(b"abc") + encryptor.finalize() + encryptor.tag == mode_object.encrypt(
        mode.nonce(), b"abc", b"1"
    )


def test_gmac_counts_all_chunks():
    mac = tk.GMAC(bytes(32), bytes(12)).update(b"1")
    with pytest.raises(LimitExceeded, match=rf"the message would have {AAD_LIMIT + 1} bytes"):
        mac.update(pretended(AAD_LIMIT))
    assert mac.digest() == tk.GMAC(bytes(32), bytes(12)).update(b"1").digest()


def test_siv_takes_126_strings():
    siv = tk.SIV(bytes(range(64)))
    strings = [bytes((i,)) for i in range(126)]
    blob = siv.encrypt(None, b"text", strings)
    assert siv.decrypt(None, blob, strings) == b"text"
    siv.encrypt(b"nonce", b"text", strings[:125])
    for nonce, count in ((None, 127), (None, 200), (b"nonce", 126), (b"nonce", 127)):
        with pytest.raises(LimitExceeded, match=rf"list of {count} strings; .*SIV allows 12[56]"):
            siv.encrypt(nonce, b"text", (strings * 2)[:count])
        with pytest.raises(LimitExceeded):
            siv.decrypt(nonce, bytes(20), (strings * 2)[:count])
