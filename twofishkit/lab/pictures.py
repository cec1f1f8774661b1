"""One picture under several modes: what a mode hides, seen.

The picture is drawn here, two fish, from ellipses and triangles: flat areas of one colour, in which
blocks repeat.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import Bytes, Data
from twofishkit.cipher import Twofish
from twofishkit.errors import InvalidLength, UnsupportedType
from twofishkit.lab import html
from twofishkit.lab.looks import panels_of
from twofishkit.lab.shown import Shown, show
from twofishkit.modes.cbc import CBC
from twofishkit.modes.ctr import CTR
from twofishkit.modes.ecb import ECB
from twofishkit.modes.gcm import GCM

#: The key of the pictures, for it to be the same everywhere. Not for anything else.
DEMONSTRATION_KEY = bytes(range(32))

_WATER, _SAND = (176, 216, 240), (236, 214, 160)
_ORANGE, _BLUE, _WHITE, _BLACK = (240, 128, 24), (40, 84, 160), (255, 255, 255), (16, 16, 16)
_NAMES = ("plaintext", "ECB", "CBC", "CTR", "GCM")
_HINTS = ("", ": equal blocks show", "", "", " (and a tag)")


def picture(height: int = 96) -> Bytes:
    """Two fish: the picture that this project encrypts.

    Parameters
    ----------
    height : int
        A multiple of 12, up to 1200.

    Returns
    -------
    uint8[height, 4 height / 3, 3]
        Red, green and blue.

    Examples
    --------
    >>> from twofishkit import lab
    >>> lab.picture().shape
    (96, 128, 3)
    """
    if not 12 <= height <= 1200 or height % 12:
        raise InvalidLength(f"height is {height}; it must be a multiple of 12, up to 1200")
    # Coordinates of pixel centres in a picture of 128 by 96.
    y, x = (np.mgrid[0:height, 0 : height * 4 // 3] + 0.5) * (96 / height)
    pixels = np.empty((*x.shape, 3), np.uint8)
    pixels[:] = _WATER
    pixels[y > 84] = _SAND
    _fish(pixels, x, y, 76, 34, 1.0, _ORANGE)
    _fish(pixels, x, y, 46, 66, -0.7, _BLUE)
    return pixels


def _fish(
    pixels: Bytes, x: Any, y: Any, at_x: float, at_y: float, size: float, colour: tuple[int, int, int]
) -> None:
    """Draw a fish around (at_x, at_y); one of negative size looks to the left."""
    u, v = (x - at_x) / size, (y - at_y) / abs(size)
    body = (u / 34) ** 2 + (v / 18) ** 2 < 1
    tail = (u > -54) & (u < -26) & (np.abs(v) < (-22 - u) * 0.55)
    fin = (u > -10) & (u < 10) & (v > -28) & (v < -8) & (v > -u - 22)
    stripe = body & (np.abs(u - 8) < 4)
    pixels[body | tail | fin] = colour
    pixels[stripe] = _WHITE
    pixels[(u - 22) ** 2 + (v + 5) ** 2 < 20] = _WHITE
    pixels[(u - 23) ** 2 + (v + 5) ** 2 < 6] = _BLACK


def encrypted_pictures(image: npt.NDArray[np.uint8] | None = None, key: Data = DEMONSTRATION_KEY) -> Shown:
    """A picture, and its ciphertexts under ECB, CBC, CTR and GCM as pictures of the same shape.

    Parameters
    ----------
    image : uint8[height, width] or uint8[height, width, 3], optional
        `picture` if none is given. Its size in bytes is a multiple of 16.
    key : bytes-like

    Returns
    -------
    uint8[5, height, width] or uint8[5, height, width, 3]
        Plaintext, ECB, CBC, CTR, GCM (without its tag).

    Raises
    ------
    UnsupportedType, InvalidLength
        If image is not such a picture.

    Notes
    -----
    IVs and nonce are zero, so that the result is always the same. Never do this with data that matter.

    Examples
    --------
    >>> from twofishkit import lab
    >>> lab.encrypted_pictures().shape
    (5, 96, 128, 3)
    """
    plain = picture() if image is None else np.ascontiguousarray(image)
    if plain.dtype != np.uint8 or plain.ndim not in (2, 3) or (plain.ndim == 3 and plain.shape[2] != 3):
        raise UnsupportedType(
            f"image is {plain.dtype} of shape {plain.shape}; it must be uint8 of (height, width)"
            " or (height, width, 3)"
        )
    if not plain.size or plain.size % 16:
        raise InvalidLength(f"image has {plain.size} bytes; ECB and CBC need a multiple of 16")
    iv = bytes(16)
    with Twofish(key) as cipher:
        ciphertexts = [
            ECB(cipher).encrypt(plain),
            CBC(cipher, iv).encrypt(plain),
            CTR(cipher, iv).encrypt(plain),
            GCM(cipher).encrypt_detached(iv[:12], plain)[0],
        ]
    return show(np.stack([plain, *ciphertexts]), _PicturesLook())


@dataclass(frozen=True)
class _PicturesLook:
    def text(self, values: Any) -> str:
        height, width = values.shape[1:3]
        return f"One picture of {width} x {height} pixels under four modes: {', '.join(_NAMES)}"

    def html(self, values: Any) -> str:
        scale = max(1, 160 // values.shape[1])
        pictures = zip(values, _NAMES, _HINTS, strict=True)
        return "".join(html.image(each, name + hint, scale) for each, name, hint in pictures)

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        panels = panels_of(ax, len(values), pyplot, 2.6, 2.3)
        for panel, pixels, name, hint in zip(panels, values, _NAMES, _HINTS, strict=True):
            panel.imshow(pixels, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
            panel.set_title(name + hint, fontsize="medium")
            panel.set_axis_off()
        return panels
