"""The Monte-Carlo tests of the AES submissions: 10,000 blocks, each made of the ones before."""

from collections.abc import Callable

from twofishkit.reference.gf128 import xor
from twofishkit.testing import oracle
from twofishkit.testing.cases import Answer, Case
from twofishkit.testing.katfiles import MonteCarlo

STEPS = 10_000

Ask = Callable[[Case], Answer]


def run(test: MonteCarlo, ask: Ask | None = None) -> Answer:
    """What a target makes of one test, asked block by block with ECB; without a target, the reference.

    Returns
    -------
    Answer
        With the last output, or the first answer that is none.
    """
    if ask is None:
        cipher = oracle.expand(test.key)
        permute = cipher.decrypt_block if test.decrypting else cipher.encrypt_block

        def one(block: bytes) -> Answer:
            return Answer(permute(block))
    else:
        operation = "ecb-decrypt" if test.decrypting else "ecb-encrypt"

        def one(block: bytes) -> Answer:
            return ask(Case(test.id, operation, test.key, data=block))

    return (_cbc if test.mode == "cbc" else _ecb)(test, one)


def _ecb(test: MonteCarlo, one: Callable[[bytes], Answer]) -> Answer:
    answer = Answer(test.given)
    for _ in range(STEPS):
        answer = one(answer.data)
        if answer.status != "ok" or len(answer.data) != 16:
            break
    return answer


def _cbc(test: MonteCarlo, one: Callable[[bytes], Answer]) -> Answer:
    """Encryption takes the ciphertext before the last as its next plaintext, the IV as the second."""
    chained, block, before = test.iv, test.given, test.iv
    answer = Answer(block)
    for _ in range(STEPS):
        answer = one(block if test.decrypting else xor(block, chained))
        if answer.status != "ok" or len(answer.data) != 16:
            return answer
        if test.decrypting:
            answer = Answer(xor(answer.data, chained))
            chained, block = block, answer.data
        else:
            chained, block, before = answer.data, before, answer.data
    return answer
