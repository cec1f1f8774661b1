"""Sealed arrays: authenticated encryption that keeps dtype, shape and order. See docs/format.md."""

from twofishkit.sealed.archive import Archive, loadz, savez
from twofishkit.sealed.arrays import inspect, load, save, seal, unseal
from twofishkit.sealed.header import Header
from twofishkit.sealed.lazy import SealedArray, open_array
from twofishkit.sealed.rekeying import rekey
from twofishkit.sealed.writer import ArrayWriter, create_array

__all__ = [
    "Archive",
    "ArrayWriter",
    "Header",
    "SealedArray",
    "create_array",
    "inspect",
    "load",
    "loadz",
    "open_array",
    "rekey",
    "save",
    "savez",
    "seal",
    "unseal",
]
