"""libtomcrypt through ctypes, as a target: ECB, CTR with every counter, GCM, CCM, EAX, OCB and CMAC."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_ulong, c_void_p
from typing import Any, Self

from twofishkit.testing.cases import COUNTERS, REFUSED, UNSUPPORTED, Answer, Case
from twofishkit.testing.peers.library import declare, load
from twofishkit.testing.targets.function import called

#: Larger than the library's ``symmetric_key`` in any build.
_SCHEDULE_BYTES = 1 << 16
_DECRYPT = 1
#: Added to the bytes of a counter that is big-endian; without it the counter is little-endian.
_BIG_ENDIAN = 0x1000


class TomcryptTarget:
    """One-message functions of libtomcrypt."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.name = "libtomcrypt"
        self._lib: Any = library
        declare(library, c_int, "twofish_setup", c_char_p, c_int, c_int, c_void_p)
        for direction in ("encrypt", "decrypt"):
            declare(library, c_int, f"twofish_ecb_{direction}", c_char_p, c_void_p, c_void_p)
        declare(library, c_int, "ctr_start", c_int, c_char_p, c_char_p, c_int, c_int, c_int, c_void_p)
        declare(library, c_int, "ctr_encrypt", c_char_p, c_void_p, c_ulong, c_void_p)
        declare(library, c_int, "register_cipher", c_void_p)
        declare(library, c_char_p, "error_to_string", c_int)
        text, size = c_char_p, c_ulong
        strings = (text, size, text, size, text, size)
        declare(library, c_int, "omac_memory", c_int, text, size, text, size, c_void_p, c_void_p)
        declare(
            library, c_int, "gcm_memory", c_int, *strings, c_void_p, size, c_void_p, c_void_p, c_void_p, c_int
        )
        # ``ends``: text, its length, text, tag, length of the tag, direction.
        schedule, ends = (c_void_p,), (c_void_p, size, c_void_p, c_void_p, c_void_p, c_int)
        declare(library, c_int, "gcm_memory", c_int, *strings, *ends)
        declare(library, c_int, "ccm_memory", c_int, text, size, *schedule, text, size, text, size, *ends)
        for mode in ("eax", "ocb3"):
            tags = {"encrypt_authenticate": (c_void_p, c_void_p), "decrypt_verify": (text, size, c_void_p)}
            for name, end in tags.items():
                declare(library, c_int, f"{mode}_{name}_memory", c_int, *strings, text, size, c_void_p, *end)
        self._cipher: int = library.register_cipher(byref(c_int.in_dll(library, "twofish_desc")))

    @classmethod
    def find(cls) -> Self | None:
        library = load("tomcrypt", ("libtomcrypt.so.1",), ("tomcrypt",))
        return None if library is None else cls(library)

    def answer(self, case: Case) -> Answer:
        if case.mode in COUNTERS and not case.chunks and not case.in_place:
            return called(lambda: self._ctr(case))
        known = case.mode in ("ecb", "gcm", "ccm", "eax", "ocb", "cmac")
        if not known or case.chunks or case.in_place or case.tag_length != 16:
            return UNSUPPORTED
        if case.mode not in ("ecb", "cmac"):
            # Its decryption takes the length of a tag from the caller.
            cut = case.decrypting and len(case.tag) != 16
            return UNSUPPORTED if cut else called(lambda: self._aead(case))
        return called(lambda: self._cmac(case) if case.mode == "cmac" else self._ecb(case))

    def close(self) -> None:
        """Libraries stay loaded."""

    def _check(self, code: int) -> None:
        if code:
            # What it refuses it does not have, as with the other libraries.
            raise NotImplementedError(self._lib.error_to_string(code).decode())

    def _ecb(self, case: Case) -> bytes:
        schedule, out = ctypes.create_string_buffer(_SCHEDULE_BYTES), ctypes.create_string_buffer(16)
        self._check(self._lib.twofish_setup(case.key, len(case.key), 0, schedule))
        permute = self._lib.twofish_ecb_decrypt if case.decrypting else self._lib.twofish_ecb_encrypt
        result = b""
        for i in range(0, len(case.data), 16):
            self._check(permute(case.data[i : i + 16], out, schedule))
            result += out.raw
        return result

    def _ctr(self, case: Case) -> bytes:
        state, out = (
            ctypes.create_string_buffer(_SCHEDULE_BYTES),
            ctypes.create_string_buffer(len(case.data) + 1),
        )
        bits, byteorder = COUNTERS[case.mode]
        counter = bits // 8 + (_BIG_ENDIAN if byteorder == "big" else 0)
        self._check(self._lib.ctr_start(self._cipher, case.iv, case.key, len(case.key), 0, counter, state))
        self._check(self._lib.ctr_encrypt(case.data, out, len(case.data), state))
        return out.raw[:-1]

    def _cmac(self, case: Case) -> bytes:
        tag, size = ctypes.create_string_buffer(16), c_ulong(16)
        key, data = case.key, case.data
        self._check(self._lib.omac_memory(self._cipher, key, len(key), data, len(data), tag, byref(size)))
        return tag.raw

    def _aead(self, case: Case) -> Answer:
        lib, n = self._lib, len(case.data)
        key, nonce, aad = ((value, len(value)) for value in (case.key, case.iv, case.aad))
        source = ctypes.create_string_buffer(case.data, n + 1)
        out, tag, size = (
            ctypes.create_string_buffer(n + 1),
            ctypes.create_string_buffer(case.tag, 17),
            c_ulong(16),
        )
        if case.mode in ("gcm", "ccm"):
            # One function for both directions, from "plaintext" to "ciphertext" or back.
            texts = (out, n, source) if case.decrypting else (source, n, out)
            schedule = (None,) if case.mode == "ccm" else ()
            function = getattr(lib, f"{case.mode}_memory")
            head = (self._cipher, *key, *schedule, *nonce, *aad)
            code = function(*head, *texts, tag, byref(size), _DECRYPT if case.decrypting else 0)
            # Release 1.18 leaves it to its caller to compare the tag that decryption makes.
            refused = case.decrypting and (code != 0 or tag.raw[:16] != case.tag)
        else:
            name = {"eax": "eax", "ocb": "ocb3"}[case.mode]
            head = (self._cipher, *key, *nonce, *aad, case.data, n, out)
            if case.decrypting:
                valid = c_int()
                code = getattr(lib, f"{name}_decrypt_verify_memory")(*head, case.tag, 16, byref(valid))
                refused = code == 0 and not valid.value
            else:
                code = getattr(lib, f"{name}_encrypt_authenticate_memory")(*head, tag, byref(size))
                refused = False
        if refused:
            return REFUSED
        self._check(code)
        return Answer(out.raw[:n]) if case.decrypting else Answer(out.raw[:n], tag.raw[:16])
