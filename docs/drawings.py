"""Draws what is in ``docs/_static``: the logo, the drawings of the kernels, and the picture of the modes.

    python docs/drawings.py      # writes them anew; a test compares them with what is committed

Drawings are SVG put together from boxes, arrows and words; the picture is a PNG of the lab's own.
"""

import sys
import zlib
from collections.abc import Iterable
from html import escape
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
STATIC = HERE / "_static"

INK, FAINT = "#26323d", "#5b6670"
#: One colour for each byte of a word, least significant first.
BYTES = ("#f6c177", "#9ccfd8", "#c4a7e7", "#a3be8c")
PLAIN, KEY = "#eef1f4", "#f2cdcd"


class Drawing:
    """An SVG file of ``width`` by ``height``, drawn from top to bottom."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
            f' aria-label="{escape(title, quote=True)}"'
            ' font-family="system-ui, sans-serif" font-size="13">',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
            f'<path d="M0 0L7 3L0 6z" fill="{INK}"/></marker></defs>',
        ]

    def box(self, x: float, y: float, w: float, h: float, label: str = "", fill: str = PLAIN) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="2" fill="{fill}" stroke="{INK}"/>'
        )
        if label:
            self.text(x + w / 2, y + h / 2 + 4.5, label)

    def circle(self, x: float, y: float, label: str) -> None:
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="11" fill="#fff" stroke="{INK}"/>')
        self.text(x, y + 5, label)

    def text(
        self, x: float, y: float, label: str, anchor: str = "middle", colour: str = INK, size: int = 13
    ) -> None:
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">'
            f"{escape(label)}</text>"
        )

    def line(self, *points: tuple[float, float], arrow: bool = True, colour: str = INK) -> None:
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        head = ' marker-end="url(#head)"' if arrow else ""
        self.parts.append(f'<path d="M{path}" fill="none" stroke="{colour}"{head}/>')

    def svg(self) -> str:
        return "\n".join([*self.parts, "</svg>", ""])


def logo() -> str:
    """Two fish, one after the other, in a circle."""

    def fish(x: int, y: int, flip: int, colour: str) -> str:
        return (
            f'<g transform="translate({x} {y}) scale({flip} 1)" fill="{colour}">'
            '<ellipse cx="0" cy="0" rx="20" ry="11"/><path d="M-16 0L-32 -11L-32 11z"/>'
            '<circle cx="11" cy="-3" r="2.6" fill="#fff"/></g>'
        )

    shapes = fish(54, 34, 1, "#f08018") + fish(42, 64, -1, "#2854a0")
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><title>twofishkit</title>'
    return f"{head}{shapes}</svg>\n"


def feistel_round() -> str:
    """One round: two g, the PHT, two subkeys, two XORs and two rotations."""
    d = Drawing(720, 330, "One round of Twofish")
    columns = (60, 210, 540, 660)
    for x, name in zip(columns, ("R0", "R1", "R2", "R3"), strict=True):
        d.box(x - 40, 14, 80, 26, name)
    # g on the left two words, and PHT of what it gives.
    d.line((60, 40), (60, 236), arrow=False)
    d.line((210, 40), (210, 236), arrow=False)
    d.line((60, 84), (88, 84))
    d.box(90, 66, 84, 36, "g")
    d.line((174, 84), (298, 84))
    d.text(286, 78, "T0", anchor="end")
    d.line((210, 142), (188, 142))
    d.box(136, 130, 50, 24, "<<< 8")
    d.line((136, 142), (120, 142), (120, 156))
    d.box(90, 158, 84, 36, "g")
    d.line((174, 176), (252, 176), (252, 128), (298, 128))
    d.text(286, 122, "T1", anchor="end")
    d.text(132, 212, "4 S-boxes, MDS", colour=FAINT, size=11)
    d.box(300, 66, 78, 80, "PHT")
    d.text(339, 84, "a + b", size=11, colour=FAINT)
    d.text(339, 138, "a + 2b", size=11, colour=FAINT)
    # Subkeys, then the right two words.
    for y, name, box_y, end in ((84, "K[2r+8]", 26, 48), (128, "K[2r+9]", 164, 164)):
        d.line((378, y), (407, y))
        d.circle(418, y, "+")
        d.box(374, box_y, 88, 22, name, fill=KEY)
        d.line((418, end), (418, y - 11 if y == 84 else y + 11))
    d.line((429, 84), (529, 84))
    d.line((540, 40), (540, 73))
    d.circle(540, 84, "⊕")
    d.line((540, 95), (540, 178))
    d.box(506, 180, 68, 26, ">>> 1")
    d.line((540, 206), (540, 236), arrow=False)
    d.line((660, 40), (660, 56))
    d.box(626, 58, 68, 26, "<<< 1")
    d.line((660, 84), (660, 117))
    d.line((429, 128), (649, 128))
    d.circle(660, 128, "⊕")
    d.line((660, 139), (660, 236), arrow=False)
    # The swap of halves.
    for source, target in zip(columns, (540, 660, 60, 210), strict=True):
        d.line((source, 236), (target, 284))
    for x, name in zip(columns, ("R0'", "R1'", "R2'", "R3'"), strict=True):
        d.box(x - 40, 286, 80, 26, name)
    return d.svg()


def slicing() -> str:
    """Words of several blocks, cut into vectors of equal bytes."""
    d = Drawing(720, 250, "Slicing: from words of blocks to vectors of bytes")
    n = 6
    d.text(14, 22, "word A of blocks 0, 1, 2, ...", anchor="start", colour=FAINT, size=12)
    for block in range(n):
        for byte in range(4):
            x = 14 + 116 * block + 26 * byte
            d.box(x, 32, 26, 26, f"a{byte}", fill=BYTES[byte])
        d.text(14 + 116 * block + 52, 74, f"block {block}", size=11, colour=FAINT)
    names = ("through S-box s0", "through s1", "through s2", "through s3")
    for byte in range(4):
        y = 106 + 36 * byte
        for block in range(n):
            d.box(14 + 36 * block, y, 36, 26, f"a{byte}", fill=BYTES[byte])
        d.text(244, y + 18, f"one vector: byte {byte} of every block, all {names[byte]}", anchor="start")
    return d.svg()


def nibbles() -> str:
    """One q-permutation as look-ups in tables of 16 entries."""
    d = Drawing(720, 290, "A q-permutation as nibble look-ups")
    d.text(
        150,
        30,
        "each [ ] is one byte shuffle: 16 to 64 look-ups at once",
        anchor="start",
        size=12,
        colour=FAINT,
    )
    d.box(20, 14, 116, 26, "x of many blocks")
    d.line((48, 40), (48, 60))
    d.line((108, 40), (108, 60))
    d.box(20, 62, 56, 26, "high", fill=BYTES[0])
    d.box(80, 62, 56, 26, "low", fill=BYTES[1])
    d.line((136, 75), (150, 75))
    steps = (
        ("a = high ^ low", "b = Ta[high] ^ Tb[low]", "mix"),
        ("a' = t0[a] ^ t1[b]", "b' = (Ta·t0)[a] ^ (Tb·t1)[b]", "t0 and t1; mix again"),
        ("low' = t2[a']", "high' = t3[b']", "t2 and t3, in their places"),
    )
    for y, (first, second, what) in zip((62, 126, 190), steps, strict=True):
        d.box(152, y, 140, 26, first)
        d.box(302, y, 210, 26, second)
        d.text(526, y + 17, what, anchor="start", size=12, colour=FAINT)
        for x in (222, 407):
            d.line((x, y + 26), (x, y + 62))
        if y < 190:  # both results go into both tables
            d.line((222, y + 44), (407, y + 44), arrow=False)
    d.box(152, 254, 360, 26, "q(x); XOR a key byte: x of the next layer")
    return d.svg()


def byte_shuffles() -> str:
    """A 256-entry table in sixteen rows of sixteen."""
    d = Drawing(720, 330, "A table of 256 entries in sixteen rows, by byte shuffles and blends")
    indices = ("x + 40", "x", "(x ^ 80) + 40", "x ^ 80")
    texts = ("00 ... 3F", "40 ... 7F", "80 ... BF", "C0 ... FF")
    d.text(14, 32, "index:", anchor="start", size=12, colour=FAINT)
    d.text(14, 84, "answers for x in", anchor="start", size=12, colour=FAINT)
    d.text(14, 126, "byte shuffle of", anchor="start", size=12, colour=FAINT)
    for i, (index, text) in enumerate(zip(indices, texts, strict=True)):
        x = 128 + 148 * i
        d.box(x, 14, 128, 28, index)
        d.line((x + 64, 42), (x + 64, 66), arrow=False)
        d.text(x + 64, 84, text, size=12)
        d.line((x + 64, 92), (x + 64, 106))
        d.box(x, 108, 128, 28, f"row h{f' + {4 * i}' if i else ''}", fill=BYTES[i])
        d.line((x + 64, 136), (x + 64, 160), arrow=False)
    d.line((192, 160), (636, 160), arrow=False)
    d.line((414, 160), (414, 173))
    d.circle(414, 184, "⊕")
    told = "right where bits 5 and 4 of x are h; so for h = 0, 1, 2 and 3:"
    d.text(14, 189, told, anchor="start", size=12, colour=FAINT)
    for i, x in enumerate((164, 284, 404, 524)):
        d.box(x, 214, 90, 26, f"h = {(0, 2, 1, 3)[i]}")
    for x, y in ((209, 239), (449, 479)):
        d.line((x, 240), (x, 256), (y + 20, 256), (y + 20, 268))
        d.line((x + 120, 240), (x + 120, 256), (y + 40, 256), (y + 40, 268))
        d.box(y - 35, 270, 130, 24, "blend by bit 5")
    d.line((334, 282), (372, 282))
    d.line((444, 282), (426, 282))
    d.box(374, 270, 50, 24, "bit 4")
    d.line((399, 294), (399, 308))
    d.text(399, 322, "s[x]")
    return d.svg()


def byte_permutes() -> str:
    """A 256-entry table in four registers."""
    d = Drawing(720, 260, "A table of 256 entries in four registers")
    for i in range(4):
        d.box(20 + 110 * i, 20, 104, 28, f"s[{64 * i} ... {64 * i + 63}]", fill=BYTES[i // 2])
    d.text(480, 38, "one S-box: four registers of 64 bytes", anchor="start", size=12, colour=FAINT)
    d.box(20, 104, 214, 30, "VPERMI2B: bits 0 to 6 of x")
    d.box(240, 104, 214, 30, "VPERMI2B: bits 0 to 6 of x")
    for x in (72, 182):
        d.line((x, 48), (x, 102))
    for x in (292, 402):
        d.line((x, 48), (x, 102))
    d.text(237, 80, "x: 64 indices", size=12, colour=FAINT)
    d.line((237, 86), (160, 102), colour=FAINT)
    d.line((237, 86), (314, 102), colour=FAINT)
    d.line((127, 134), (127, 166), (190, 166), (190, 178))
    d.line((347, 134), (347, 166), (284, 166), (284, 178))
    d.box(140, 180, 194, 30, "blend by bit 7 of x")
    d.line((237, 210), (237, 232))
    d.text(237, 248, "s[x] for 64 blocks: no address depends on x")
    d.line((334, 195), (500, 195))
    d.box(502, 180, 190, 30, "GF2P8AFFINEQB")
    d.text(597, 228, "times 5B, times EF: MDS", size=12, colour=FAINT)
    return d.svg()


def ghash_powers() -> str:
    """Horner's rule, one block at a time, and four blocks with one reduction."""
    d = Drawing(720, 300, "GHASH: one block at a time, and several with one reduction")
    d.text(
        14, 22, "one at a time: each multiplication waits for the last", anchor="start", size=12, colour=FAINT
    )
    x = 30
    d.text(18, 70, "Y", size=13)
    for i in range(4):
        d.line((x, 65), (x + 24, 65))
        d.circle(x + 35, 65, "⊕")
        d.box(x + 15, 92, 40, 24, f"X{i + 1}", fill=BYTES[i])
        d.line((x + 35, 92), (x + 35, 78))
        d.line((x + 46, 65), (x + 66, 65))
        d.box(x + 68, 50, 84, 30, "× H, reduce")
        x += 152
    d.line((x, 65), (x + 30, 65))
    d.text(x + 44, 70, "Y'")
    d.text(
        14,
        150,
        "four at once: products do not wait for each other, and one reduction serves all",
        anchor="start",
        size=12,
        colour=FAINT,
    )
    for i in range(4):
        left = 30 + 130 * i
        label = "Y ⊕ X1" if i == 0 else f"X{i + 1}"
        power = "H" + "⁴³²"[i] if i < 3 else "H"
        d.box(left, 164, 56, 24, label, fill=BYTES[i])
        d.circle(left + 72, 176, "×")
        d.box(left + 84, 164, 32, 24, power, fill=KEY)
        d.line((left + 72, 187), (left + 72, 218))
    d.box(30, 220, 506, 26, "⊕ of four products of 255 bits")
    d.line((283, 246), (283, 264))
    d.box(228, 266, 110, 26, "reduce once")
    d.line((338, 279), (380, 279))
    d.text(394, 284, "Y'")
    return d.svg()


DRAWINGS = {
    "logo.svg": logo,
    "round.svg": feistel_round,
    "slicing.svg": slicing,
    "shuffles.svg": byte_shuffles,
    "nibbles.svg": nibbles,
    "permutes.svg": byte_permutes,
    "ghash.svg": ghash_powers,
}


def modes_picture() -> np.ndarray:
    """uint8[h, w, 3]: plaintext, ECB and GCM side by side, each pixel twice as large."""
    from twofishkit import lab

    plain, ecb, _, _, gcm = np.array(lab.encrypted_pictures())
    gap = np.full((plain.shape[0], 6, 3), 255, np.uint8)
    strip = np.concatenate([plain, gap, ecb, gap, gcm], axis=1)
    return strip.repeat(2, axis=0).repeat(2, axis=1)


def compressed_png(pixels: np.ndarray) -> bytes:
    """The lab's PNG with its pixels compressed: for a repository, where size counts."""
    from twofishkit.lab import html

    height = pixels.shape[0]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    plain = html.png(pixels)
    header, end = plain[:33], plain[-12:]  # the signature with IHDR, and IEND
    return header + html.chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + end


def write(directory: Path) -> Iterable[str]:
    for name, draw in DRAWINGS.items():
        (directory / name).write_text(draw(), "utf-8")
        yield name
    (directory / "modes.png").write_bytes(compressed_png(modes_picture()))
    yield "modes.png"


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    for name in write(STATIC):
        print(STATIC / name)
