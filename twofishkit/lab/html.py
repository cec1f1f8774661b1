"""HTML for notebooks: tables, marked bits and small pictures, the same bytes for the same data.

Colours are half transparent, so that they work on light and dark pages. Pictures are PNG files written
here, without compression: what a compressor makes of an image differs between its versions.
"""

import base64
import html
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from twofishkit.buffers import Bytes

_CELL = "padding:1px 8px;text-align:right;white-space:nowrap"
_MARK = "background:rgba(230,126,0,.35);color:inherit;padding:0"
_STORED_BYTES = 65535


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """A table. Head and note are text; cells are HTML already."""
    lines = [
        '<div style="overflow-x:auto"><table style="border-collapse:collapse">',
        f'<caption style="text-align:left;padding:4px 8px">{html.escape(caption)}</caption>',
        "<thead><tr>"
        + "".join(f'<th style="{_CELL}">{html.escape(each)}</th>' for each in head)
        + "</tr></thead>",
        "<tbody>",
    ]
    lines += ["<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>" for row in rows]
    lines += ["</tbody>", "</table></div>"]
    if note:
        lines.append(f'<p style="font-size:90%;opacity:.8;padding:0 8px">{html.escape(note)}</p>')
    return "\n".join(lines)


def word(value: int, changed: int = 0) -> str:
    """A word as eight hex digits, those with a bit of ``changed`` marked."""
    parts: list[str] = []
    was_marked = False
    for at in range(28, -4, -4):
        marked = bool(changed >> at & 15)
        if marked != was_marked:
            parts.append(f'<mark style="{_MARK}">' if marked else "</mark>")
        parts.append(f"{value >> at & 15:X}")
        was_marked = marked
    if was_marked:
        parts.append("</mark>")
    return f'<span style="font-family:monospace">{"".join(parts)}</span>'


def bits(words: Sequence[int]) -> str:
    """Words as a strip of bits, 1.25 pixels each, most significant first; ones are drawn."""
    path = []
    for at, value in enumerate(words):
        # One space of two bits between words.
        path += [f"M{34 * at + 31 - bit} 0v10h1v-10z" for bit in range(31, -1, -1) if value >> bit & 1]
    width = 34 * len(words) - 2
    return (
        f'<svg width="{width * 5 // 4}" height="12" viewBox="0 0 {width} 10" preserveAspectRatio="none">'
        f'<path d="M0 0h{width}v10h-{width}z" fill="rgba(128,128,128,.18)"/>'
        f'<path d="{"".join(path)}" fill="rgb(230,126,0)"/></svg>'
    )


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _stored(data: bytes) -> bytes:
    """A zlib stream whose blocks hold the data as they are. Source: RFC 1950; RFC 1951, 3.2.4."""
    parts = [b"\x78\x01"]
    for at in range(0, max(len(data), 1), _STORED_BYTES):
        block = data[at : at + _STORED_BYTES]
        last = at + _STORED_BYTES >= len(data)
        parts += [struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF), block]
    return b"".join(parts) + struct.pack(">I", zlib.adler32(data))


def png(pixels: Bytes) -> bytes:
    """A PNG file of grey values uint8[height, width] or colours uint8[height, width, 3]."""
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    rows = pixels.reshape(height, -1)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)  # each row: filter 0
    chunks = chunk(b"IHDR", header), chunk(b"IDAT", _stored(filtered.tobytes())), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def image(pixels: Bytes, title: str, scale: float = 1) -> str:
    """A picture with its title below."""
    height, width = pixels.shape[:2]
    data = base64.b64encode(png(np.ascontiguousarray(pixels))).decode()
    return (
        '<figure style="display:inline-block;margin:4px 8px">'
        f'<img alt="{html.escape(title)}" width="{round(width * scale)}" height="{round(height * scale)}" '
        f'style="image-rendering:pixelated" src="data:image/png;base64,{data}">'
        f"<figcaption>{html.escape(title)}</figcaption></figure>"
    )


def grey(values: Any, low: float, high: float) -> Bytes:
    """Numbers as grey values: low is white, high is black."""
    share = (np.asarray(values, np.float64) - low) / ((high - low) or 1)
    levels: Bytes = np.rint(255 * (1 - np.clip(share, 0, 1))).astype(np.uint8)
    return levels
