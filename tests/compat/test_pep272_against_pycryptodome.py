"""`twofishkit.compat.pep272` behaves as pycryptodome does: any sequence of calls, step by step.

pycryptodome has no Twofish, so our objects are given AES as their block cipher (`tests.aes`) and run beside
its AES. After each call the results are equal, or both raise the same kind of error.
"""

import pytest
from Crypto.Cipher import AES as Theirs
from Crypto.Util import Counter
from hypothesis import given
from hypothesis import strategies as st

from tests.aes import AES
from twofishkit.compat import pep272 as Ours

KEY = bytes(range(32))
KINDS = (OverflowError, ValueError, TypeError)

pieces = st.one_of(
    st.integers(0, 70).map(lambda n: bytes((7 * n + i) % 256 for i in range(n))),
    st.integers(0, 4).map(lambda n: bytes(16 * n)),
)


def outcome(call):
    """(value, None) or (None, kind of error); MessageTooLong is a ValueError and an OverflowError."""
    try:
        value = call()
    except Exception as error:
        (kind, *_) = (k.__name__ for k in KINDS if isinstance(error, k))
        return None, kind
    return value, None


def make(module, mode, **parameters):
    if module is Theirs:
        return module.new(KEY[:32], mode, **parameters)
    key = (AES(KEY[:16]), AES(KEY[16:])) if mode == Ours.MODE_SIV else AES(KEY)
    return module.new(key, mode, **parameters)


def do(cipher, step, tag):
    """One step of a sequence on one object; what it returns, with what it wrote."""
    name, data, into, wrong = step
    method = getattr(cipher, name)
    if name in ("digest", "hexdigest"):
        return method()
    if name == "update":
        return method(data) is cipher
    given_tag = tag[:-1] + bytes((tag[-1] ^ wrong,)) if tag else b"no tag yet"
    if name == "verify":
        return method(given_tag)
    if name == "hexverify":
        return method(given_tag.hex())
    arguments = (data, given_tag) if name == "decrypt_and_verify" else (data,)
    if into is None:
        return method(*arguments)
    output = bytearray(max(len(data) + into, 0))
    result = method(*arguments, output=output)
    return result, bytes(output)


def steps(names, with_output=True):
    output = st.sampled_from((None, None, 0, 0, 1, -1)) if with_output else st.none()
    return st.lists(
        st.tuples(st.sampled_from(names), pieces, output, st.sampled_from((0, 0, 1))), min_size=1, max_size=6
    )


def compare(mode, parameters, sequence):
    """Run a sequence on both, up to an error after which the two differ, to our credit.

    After a refused tag ours alone forgets the plaintext. After data that is not whole blocks theirs has
    processed the whole ones among it, and lost them; ours is as it was.
    """
    both = [outcome(lambda m=m: make(m, mode, **parameters)) for m in (Theirs, Ours)]
    assert both[0][1] == both[1][1], both
    if both[0][1]:
        return
    theirs, ours = both[0][0], both[1][0]
    for name in ("iv", "IV", "nonce", "block_size"):
        assert getattr(theirs, name, None) == getattr(ours, name, None), name
    tag = None
    for number, step in enumerate(sequence):
        results = [outcome(lambda c=c, step=step, tag=tag: do(c, step, tag)) for c in (theirs, ours)]
        assert results[0] == results[1], (number, step)
        if results[0][1] and ("verify" in step[0] or step[2] not in (None, 0) or len(step[1]) % 16):
            return
        if step[0] == "digest" and results[0][0]:
            tag = results[0][0]


#: A call that is refused, and the calls after it: whether it counts, both have to agree.
GCM, CBC = (Ours.MODE_GCM, {"nonce": bytes(12)}), (Ours.MODE_CBC, {"iv": bytes(16)})
CCM = (Ours.MODE_CCM, {"nonce": bytes(11), "msg_len": 4, "assoc_len": 2})
AFTER_A_REFUSED_CALL = {
    "text, then the same call": (GCM, lambda c: c.encrypt("abc"), ("encrypt", b"abc"), ("digest",)),
    "text, then the other direction": (GCM, lambda c: c.encrypt("abc"), ("decrypt", b"abc")),
    "text, then associated data": (GCM, lambda c: c.encrypt("abc"), ("update", b"abc")),
    "associated data of text": (GCM, lambda c: c.update("abc"), ("encrypt", b"abc"), ("digest",)),
    "output too short": (GCM,
     lambda c: c.encrypt(b"abc", output=bytearray(2)), ("encrypt", b"abc"), ("digest",)),
    "wrong tag, then again": (GCM, lambda c: c.verify(bytes(16)), ("verify", bytes(16))),
    "wrong tag, then decrypt": (GCM, lambda c: c.verify(bytes(16)), ("decrypt", b"abc")),
    "update after digest": (GCM, lambda c: (c.digest(), c.update(b"x")), ("digest",), ("hexdigest",)),
    "encrypt after decrypt": (GCM, lambda c: (c.decrypt(b"x"), c.encrypt(b"x")), ("decrypt", b"y")),
    "half a block": (CBC, lambda c: c.encrypt(bytes(8)), ("decrypt", bytes(16))),
    "CBC, output too short": (CBC,
     lambda c: c.encrypt(bytes(16), output=bytearray(15)), ("encrypt", bytes(16))),
    "too much for CCM": (CCM,
     lambda c: (c.update(b"ab"), c.encrypt(b"abcde")), ("encrypt", b"abcd"), ("digest",)),
    "too much for CCM, twice": (
        CCM, lambda c: (c.update(b"ab"), c.encrypt(b"abcde")), ("encrypt", b"", bytearray(1)),
    ),
    "too much for CCM, and for its output": (
        CCM, lambda c: (c.update(b"ab"), c.encrypt(b"abcde", output=bytearray(4))), ("digest",),
    ),
    "too much associated data": (CCM, lambda c: c.update(b"abc"), ("encrypt", b"abcd")),
    "too little associated data": (CCM, lambda c: (c.update(b"a"), c.encrypt(b"abcd")), ("update", b"b")),
    "too little for CCM": (CCM,
     lambda c: (c.update(b"ab"), c.encrypt(b"abc"), c.digest()), ("encrypt", b"d")),
}  # fmt: skip


@pytest.mark.parametrize("name", AFTER_A_REFUSED_CALL)
def test_after_a_refused_call(name):
    (mode, parameters), refused, *calls = AFTER_A_REFUSED_CALL[name]
    theirs, ours = (make(module, mode, **parameters) for module in (Theirs, Ours))
    kinds = [outcome(lambda c=cipher: refused(c))[1] for cipher in (theirs, ours)]
    assert kinds[0] == kinds[1] is not None
    for call, *arguments in calls:
        results = [outcome(lambda c=c: getattr(c, call)(*arguments)) for c in (theirs, ours)]  # noqa: B023
        values = [
            (None if value is c else value, kind)
            for (value, kind), c in zip(results, (theirs, ours), strict=True)
        ]
        assert values[0] == values[1], call


IVS = st.sampled_from([bytes(range(16))] * 6 + [bytes(15), b"", bytes(17)])


@given(st.sampled_from((Ours.MODE_CBC, Ours.MODE_OFB)), IVS, steps(("encrypt", "decrypt")))
def test_cbc_and_ofb(mode, iv, sequence):
    compare(mode, {"iv": iv}, sequence)


@given(steps(("encrypt", "decrypt")))
def test_ecb(sequence):
    compare(Ours.MODE_ECB, {}, sequence)


@given(IVS, st.one_of(st.none(), st.integers(0, 17).map(lambda n: 8 * n), st.just(12)),
       st.sampled_from(("encrypt", "decrypt")).flatmap(lambda name: steps((name,))))  # fmt: skip
def test_cfb_of_every_segment_size(iv, segment_size, sequence):
    compare(
        Ours.MODE_CFB, {"iv": iv} | ({} if segment_size is None else {"segment_size": segment_size}), sequence
    )


nonces = st.integers(0, 17).map(lambda n: bytes(range(n)))


@given(nonces, st.data())
def test_ctr_with_nonce_and_initial_value(nonce, data):
    width = max(16 - len(nonce), 1)
    near_the_end = st.integers(0, 5).map(lambda k: (1 << 8 * width) - 1 - k)
    initial = data.draw(
        st.one_of(
            st.none(), st.integers(0, 300), near_the_end, st.just(bytes(width)), st.just(b"\xff" * width)
        )
    )
    parameters = {"nonce": nonce} | ({} if initial is None else {"initial_value": initial})
    compare(Ours.MODE_CTR, parameters, data.draw(steps(("encrypt", "decrypt"))))


@given(st.integers(1, 16), st.integers(0, 15), st.booleans(), st.booleans(), st.data())
def test_ctr_with_counter_objects(width, before, little, whole, data):
    before = min(before, 16 - width)
    initial = data.draw(st.one_of(st.integers(0, 200), st.integers(1, 4).map(lambda k: (1 << 8 * width) - k)))
    counter = Counter.new(
        8 * width, prefix=b"p" * before, suffix=b"s" * (16 - width - before - (not whole)),
        initial_value=initial, little_endian=little,
    )  # fmt: skip
    compare(Ours.MODE_CTR, {"counter": counter}, data.draw(steps(("encrypt", "decrypt"))))


def test_ctr_stops_before_a_counter_comes_again():
    for module in (Theirs, Ours):
        cipher = make(module, 6, nonce=bytes(15), initial_value=200)
        assert len(cipher.encrypt(bytes(4000))) == 4000
        with pytest.raises(OverflowError):
            cipher.encrypt(bytes(97))
        assert len(cipher.encrypt(bytes(96))) == 96
        with pytest.raises(OverflowError):
            cipher.encrypt(bytes(1))


@given(
    st.sampled_from((16, 18, 17)),
    st.sampled_from(("encrypt", "decrypt")).flatmap(lambda n: steps((n,), False)),
)
def test_openpgp(iv_length, sequence):
    compare(Ours.MODE_OPENPGP, {"iv": bytes(range(iv_length))}, sequence)


CALLS = (
    "update", "encrypt", "encrypt", "decrypt", "digest", "verify", "hexdigest", "hexverify",
    "encrypt_and_digest", "decrypt_and_verify",
)  # fmt: skip
mac_lengths = st.one_of(st.none(), st.integers(0, 18))


@given(st.sampled_from((Ours.MODE_GCM, Ours.MODE_EAX)), nonces, mac_lengths, steps(CALLS))
def test_gcm_and_eax(mode, nonce, mac_len, sequence):
    compare(mode, {"nonce": nonce} | ({} if mac_len is None else {"mac_len": mac_len}), sequence)


@given(nonces, mac_lengths, steps(CALLS, with_output=False))
def test_ocb(nonce, mac_len, sequence):
    compare(Ours.MODE_OCB, {"nonce": nonce} | ({} if mac_len is None else {"mac_len": mac_len}), sequence)


@given(st.lists(pieces, max_size=4), st.lists(pieces, max_size=3), st.booleans())
def test_ocb_in_pieces(message, associated, decrypting):
    ciphers = [make(module, Ours.MODE_OCB, nonce=b"n" * 12) for module in (Theirs, Ours)]
    for piece in associated:
        for cipher in ciphers:
            cipher.update(piece)
    name = "decrypt" if decrypting else "encrypt"
    for piece in message:
        assert getattr(ciphers[0], name)(piece) == getattr(ciphers[1], name)(piece)
    assert getattr(ciphers[0], name)() == getattr(ciphers[1], name)()
    if decrypting:
        assert [outcome(lambda c=c: c.verify(bytes(16)))[1] for c in ciphers] == ["ValueError"] * 2
    else:
        assert ciphers[0].digest() == ciphers[1].digest()


lengths = st.one_of(st.none(), st.none(), st.integers(0, 60), st.just(1 << 16))


@given(st.integers(5, 14), mac_lengths, lengths, lengths, steps(CALLS))
def test_ccm(nonce_bytes, mac_len, msg_len, assoc_len, sequence):
    parameters = {"nonce": bytes(nonce_bytes), "msg_len": msg_len, "assoc_len": assoc_len}
    compare(Ours.MODE_CCM, parameters | ({} if mac_len is None else {"mac_len": mac_len}), sequence)


@given(st.one_of(st.none(), nonces), steps(CALLS))
def test_siv(nonce, sequence):
    compare(Ours.MODE_SIV, {} if nonce is None else {"nonce": nonce}, sequence)
