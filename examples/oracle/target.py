"""A Twofish under test, in Python: any port would stand here in place of twofishkit itself.

    python -m twofishkit diff --python target:answer

``answer`` gets one case and returns the output, or (ciphertext, tag). What it does not have raises
NotImplementedError, and a tag that does not match raises twofishkit.InvalidTag.
"""

import twofishkit as tk
from twofishkit.testing import Case

WITH_IV = {"cbc": tk.CBC, "ctr": tk.CTR}
COUNTERS = {"ctr64": (64, "big"), "ctr32": (32, "big"), "ctrle": (128, "little")}


def answer(case: Case) -> bytes | tuple[bytes, bytes]:
    """What this Twofish makes of one case."""
    if case.chunks or case.in_place:
        raise NotImplementedError
    if case.mode == "ecb":
        return run(tk.ECB(case.key), case)
    if case.mode in WITH_IV:
        return run(WITH_IV[case.mode](case.key, case.iv), case)
    if case.mode in COUNTERS:
        bits, byteorder = COUNTERS[case.mode]
        return run(tk.CTR(case.key, case.iv, counter_bits=bits, byteorder=byteorder), case)
    if case.mode == "gcm":
        gcm = tk.GCM(case.key, tag_length=case.tag_length)
        if case.decrypting:
            return gcm.decrypt_detached(case.iv, case.data, case.tag, case.aad)
        return gcm.encrypt_detached(case.iv, case.data, case.aad)
    raise NotImplementedError


def run(mode, case: Case) -> bytes:
    """One message in the direction that the case asks for."""
    return mode.decrypt(case.data) if case.decrypting else mode.encrypt(case.data)
