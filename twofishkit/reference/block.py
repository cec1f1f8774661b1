"""Twofish as a specification that runs: pure Python, in the order and with the names of the paper.

The cipher is a 16-round Feistel network on four 32-bit words with whitening at both ends. Read this
file beside "Twofish: A 128-Bit Block Cipher" (Schneier, Kelsey, Whiting, Wagner, Hall, Ferguson;
15 June 1998); section numbers below are the paper's. Every table is computed from its definition.

Words are integers below 2^32, and bytes enter and leave words least significant first
(section 4: "little-endian convention"). The traps are that one convention: a word printed as hex
shows its bytes in reverse, and byte 0 of a word is ``X & 0xFF``.

Cost: about 0.6 ms for a key and 30 us for a block. Timing: depends on key and data, through list
indices and through Python itself. Never use it where an attacker can measure.
"""

from dataclasses import dataclass

from twofishkit.errors import InvalidKey, InvalidLength, StateError

MASK = 0xFFFFFFFF

#: The primitive polynomials of the two fields, both of degree 8 over GF(2).
MDS_POLYNOMIAL = 0x169  # v(x) = x^8 + x^6 + x^5 + x^3 + 1, section 4.2
RS_POLYNOMIAL = 0x14D  # w(x) = x^8 + x^6 + x^3 + x^2 + 1, section 4.3

#: Section 4.3.2: h works on multiples of rho, which repeats one number in all four bytes.
RHO = 2**24 + 2**16 + 2**8 + 2**0

ROUNDS = 16


def rol(x: int, n: int) -> int:
    """Rotate a 32-bit word left by n bits, 0 < n < 32."""
    return ((x << n) | (x >> (32 - n))) & MASK


def ror(x: int, n: int) -> int:
    """Rotate a 32-bit word right by n bits, 0 < n < 32."""
    return ((x >> n) | (x << (32 - n))) & MASK


def words(data: bytes) -> tuple[int, ...]:
    """Split bytes into 32-bit words, least significant byte first. Source: section 4, P_i."""
    return tuple(int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4))


def multiply(a: int, b: int, polynomial: int) -> int:
    """Product of two bytes in GF(2^8) = GF(2)[x] / polynomial, one bit of b at a time."""
    product = 0
    for bit in range(8):
        if (b >> bit) & 1:
            product ^= a
        a <<= 1
        if a & 0x100:
            a ^= polynomial
    return product


# --- The permutations q0 and q1 (section 4.3.5) --------------------------------------------------

Q0_NIBBLES = (
    (0x8, 0x1, 0x7, 0xD, 0x6, 0xF, 0x3, 0x2, 0x0, 0xB, 0x5, 0x9, 0xE, 0xC, 0xA, 0x4),
    (0xE, 0xC, 0xB, 0x8, 0x1, 0x2, 0x3, 0x5, 0xF, 0x4, 0xA, 0x6, 0x7, 0x0, 0x9, 0xD),
    (0xB, 0xA, 0x5, 0xE, 0x6, 0xD, 0x9, 0x0, 0xC, 0x8, 0xF, 0x3, 0x2, 0x4, 0x7, 0x1),
    (0xD, 0x7, 0xF, 0x4, 0x1, 0x2, 0x6, 0xE, 0x9, 0xB, 0x3, 0x0, 0x8, 0x5, 0xC, 0xA),
)
Q1_NIBBLES = (
    (0x2, 0x8, 0xB, 0xD, 0xF, 0x7, 0x6, 0xE, 0x3, 0x1, 0x9, 0x4, 0x0, 0xA, 0xC, 0x5),
    (0x1, 0xE, 0x2, 0xB, 0x4, 0xC, 0x3, 0x7, 0x6, 0xD, 0xA, 0x5, 0xF, 0x9, 0x0, 0x8),
    (0x4, 0xC, 0x7, 0x5, 0x1, 0x6, 0x9, 0xA, 0x0, 0xE, 0xD, 0x8, 0x2, 0xB, 0x3, 0xF),
    (0xB, 0x9, 0x5, 0x1, 0xC, 0x3, 0xD, 0xE, 0x6, 0x4, 0x7, 0xF, 0x2, 0x0, 0x8, 0xA),
)


def q(x: int, t: tuple[tuple[int, ...], ...]) -> int:
    """One byte through a q-permutation whose four 4-bit permutations are t0, t1, t2, t3."""

    def ror4(nibble: int) -> int:
        return (nibble >> 1) | ((nibble << 3) & 0xF)

    a0, b0 = x >> 4, x & 0xF
    a1, b1 = a0 ^ b0, a0 ^ ror4(b0) ^ ((8 * a0) & 0xF)
    a2, b2 = t[0][a1], t[1][b1]
    a3, b3 = a2 ^ b2, a2 ^ ror4(b2) ^ ((8 * a2) & 0xF)
    a4, b4 = t[2][a3], t[3][b3]
    return 16 * b4 + a4


q0 = tuple(q(x, Q0_NIBBLES) for x in range(256))
q1 = tuple(q(x, Q1_NIBBLES) for x in range(256))

#: Which permutation byte 0, 1, 2, 3 of h goes through *before* word L_i is XORed in (figure 2) ...
Q_BEFORE_L = (
    (q0, q0, q1, q1),  # L_0
    (q0, q1, q0, q1),  # L_1
    (q1, q1, q0, q0),  # L_2: keys of 192 bits and more
    (q1, q0, q0, q1),  # L_3: keys of 256 bits
)
#: ... and after the last of them.
Q_LAST = (q1, q0, q1, q0)

# --- The matrices MDS (section 4.2) and RS (section 4.3) -----------------------------------------

MDS = (
    (0x01, 0xEF, 0x5B, 0x5B),
    (0x5B, 0xEF, 0xEF, 0x01),
    (0xEF, 0x5B, 0x01, 0xEF),
    (0xEF, 0x01, 0xEF, 0x5B),
)
RS = (
    (0x01, 0xA4, 0x55, 0x87, 0x5A, 0x58, 0xDB, 0x9E),
    (0xA4, 0x56, 0x82, 0xF3, 0x1E, 0xC6, 0x68, 0xE5),
    (0x02, 0xA1, 0xFC, 0xC1, 0x47, 0xAE, 0x3D, 0x19),
    (0xA4, 0x55, 0x87, 0x5A, 0x58, 0xDB, 0x9E, 0x03),
)


def _mds_column(i: int, y: int) -> int:
    """Column i of MDS times the byte y, as a word: row r gives byte r."""
    return sum(multiply(MDS[row][i], y, MDS_POLYNOMIAL) << (8 * row) for row in range(4))


#: MDS_COLUMNS[i][y]: MDS times a vector is the XOR of four of these, one for each byte.
MDS_COLUMNS = tuple(tuple(_mds_column(i, y) for y in range(256)) for i in range(4))


def rs(eight_key_bytes: bytes) -> int:
    """RS times eight key bytes, as a word: one word of the S-box key. Source: section 4.3, S_i."""
    word = 0
    for row in range(4):
        for column, m in enumerate(eight_key_bytes):
            word ^= multiply(RS[row][column], m, RS_POLYNOMIAL) << (8 * row)
    return word


# --- The functions h, g and PHT ------------------------------------------------------------------


def sbox(i: int, x: int, L: tuple[int, ...]) -> int:
    """Byte position i of h before MDS: q-permutations with the bytes of L between them.

    With L the S-box key this is the key-dependent S-box s_i. Source: section 4.3.2, figure 2.
    """
    for layer in reversed(range(len(L))):
        x = Q_BEFORE_L[layer][i][x] ^ ((L[layer] >> (8 * i)) & 0xFF)
    return Q_LAST[i][x]


def h(X: int, L: tuple[int, ...]) -> int:
    """h(X, L): a word from a word X and a list L of two, three or four words. Source: 4.3.2."""
    z = 0
    for i in range(4):
        z ^= MDS_COLUMNS[i][sbox(i, (X >> (8 * i)) & 0xFF, L)]
    return z


def pht(a: int, b: int) -> tuple[int, int]:
    """The pseudo-Hadamard transform (a + b, a + 2b) modulo 2^32. Source: section 4.1."""
    return (a + b) & MASK, (a + 2 * b) & MASK


# --- The key schedule (section 4.3) --------------------------------------------------------------


@dataclass(frozen=True)
class RoundState:
    """What one block looks like after a step, in the convention of the submission's ecb_ival file.

    ``r`` is -1 for the block that enters, 0 after the input whitening, 1 to 16 after each round
    and 17 after the output whitening. ``x`` holds the four words *without* the Feistel swap: odd
    rounds change words 2 and 3, even rounds change words 0 and 1. ``t0`` and ``t1`` are the two
    outputs of g in round r, and None outside the rounds.
    """

    r: int
    x: tuple[int, int, int, int]
    t0: int | None = None
    t1: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class KeySchedule:
    """Everything that encryption derives from one key. Make it with `expand_key`.

    Attributes
    ----------
    key_bits : 128, 192 or 256
    K : 40 words    K[0..3] input whitening, K[4..7] output whitening, K[2r+8], K[2r+9] of round r
    S : key_bits / 64 words    the S-box key, S[i] = RS times key bytes 8i ... 8i+7
    g_tables : 4 lists of 256 words    g(X) is the XOR of one entry of each, one for each byte of X
    """

    key_bits: int
    K: list[int]
    S: list[int]
    g_tables: list[list[int]]

    def __repr__(self) -> str:
        return f"<KeySchedule of a {self.key_bits}-bit key>"

    def wipe(self) -> None:
        """Overwrite the words held here; later use raises StateError.

        Python may keep copies of the integers elsewhere in memory until it reuses the space.
        """
        for held in (self.K, self.S, *self.g_tables):
            held[:] = [0] * len(held)
        self.g_tables.clear()

    def g(self, X: int) -> int:
        """g(X) = h(X, S), through the tables. Source: sections 4.2 and 4.3.4."""
        s0, s1, s2, s3 = self.g_tables
        return s0[X & 0xFF] ^ s1[(X >> 8) & 0xFF] ^ s2[(X >> 16) & 0xFF] ^ s3[X >> 24]

    def encrypt_block(self, plaintext: bytes, trace: list[RoundState] | None = None) -> bytes:
        """Encrypt one block of 16 bytes.

        With a list as ``trace``, append the `RoundState` of r = -1, 0, ..., 17 to it.

        Raises
        ------
        InvalidLength : the block is not 16 bytes
        StateError : the schedule was wiped

        Source: section 4, figure 1.
        """
        self._check(plaintext)
        K = self.K
        P = words(plaintext)
        # Input whitening.
        R0, R1, R2, R3 = P[0] ^ K[0], P[1] ^ K[1], P[2] ^ K[2], P[3] ^ K[3]
        if trace is not None:
            trace += [RoundState(-1, (P[0], P[1], P[2], P[3])), RoundState(0, (R0, R1, R2, R3))]
        for r in range(ROUNDS):
            # F(R0, R1, r), section 4.1.
            T0, T1 = self.g(R0), self.g(rol(R1, 8))
            F0, F1 = pht(T0, T1)
            F0, F1 = (F0 + K[2 * r + 8]) & MASK, (F1 + K[2 * r + 9]) & MASK
            R0, R1, R2, R3 = ror(R2 ^ F0, 1), rol(R3, 1) ^ F1, R0, R1
            if trace is not None:
                x = (R0, R1, R2, R3) if r % 2 else (R2, R3, R0, R1)
                trace.append(RoundState(r + 1, x, T0, T1))
        # Output whitening undoes the last swap: C_i = R_{16, (i+2) mod 4} xor K[i+4].
        C = (R2 ^ K[4], R3 ^ K[5], R0 ^ K[6], R1 ^ K[7])
        if trace is not None:
            trace.append(RoundState(17, C))
        return b"".join(word.to_bytes(4, "little") for word in C)

    def decrypt_block(self, ciphertext: bytes, trace: list[RoundState] | None = None) -> bytes:
        """Decrypt one block of 16 bytes: the steps of `encrypt_block`, undone last to first.

        With a list as ``trace``, append the states r = 17, 16, ..., -1: the trace that encryption
        leaves, in reverse.

        Raises
        ------
        InvalidLength : the block is not 16 bytes
        StateError : the schedule was wiped
        """
        self._check(ciphertext)
        K = self.K
        C = words(ciphertext)
        R0, R1, R2, R3 = C[2] ^ K[6], C[3] ^ K[7], C[0] ^ K[4], C[1] ^ K[5]
        if trace is not None:
            trace.append(RoundState(17, (C[0], C[1], C[2], C[3])))
        for r in reversed(range(ROUNDS)):
            after = (R0, R1, R2, R3) if r % 2 else (R2, R3, R0, R1)
            T0, T1 = self.g(R2), self.g(rol(R3, 8))
            F0, F1 = pht(T0, T1)
            F0, F1 = (F0 + K[2 * r + 8]) & MASK, (F1 + K[2 * r + 9]) & MASK
            R0, R1, R2, R3 = R2, R3, rol(R0, 1) ^ F0, ror(R1 ^ F1, 1)
            if trace is not None:
                trace.append(RoundState(r + 1, after, T0, T1))
        P = (R0 ^ K[0], R1 ^ K[1], R2 ^ K[2], R3 ^ K[3])
        if trace is not None:
            trace += [RoundState(0, (R0, R1, R2, R3)), RoundState(-1, P)]
        return b"".join(word.to_bytes(4, "little") for word in P)

    def _check(self, block: bytes) -> None:
        if not self.g_tables:
            raise StateError("this key schedule was wiped")
        if len(block) != 16:
            raise InvalidLength(f"a block is 16 bytes, not {len(block)}")


def expand_key(key: bytes) -> KeySchedule:
    """Derive subkeys K and S-box key S from a key of 16, 24 or 32 bytes.

    Raises
    ------
    InvalidKey : the key has another length

    Source: sections 4.3 and 4.3.3. k = N/64 is the number of words in each of Me, Mo and S.
    """
    key = bytes(key)
    if len(key) not in (16, 24, 32):
        raise InvalidKey(f"a Twofish key is 16, 24 or 32 bytes, not {len(key)}")
    M = words(key)
    Me, Mo = M[0::2], M[1::2]
    S = tuple(rs(key[i : i + 8]) for i in range(0, len(key), 8))

    K: list[int] = []
    for i in range(20):
        A = h(2 * i * RHO, Me)
        B = rol(h((2 * i + 1) * RHO, Mo), 8)
        K_even, K_odd = pht(A, B)
        K += [K_even, rol(K_odd, 9)]

    # The vector S of the paper lists its words in reverse: S = (S_{k-1}, ..., S_0).
    s = tuple(reversed(S))
    g_tables = [[MDS_COLUMNS[i][sbox(i, x, s)] for x in range(256)] for i in range(4)]
    return KeySchedule(8 * len(key), K, list(S), g_tables)
