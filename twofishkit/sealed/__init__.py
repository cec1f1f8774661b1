"""Sealed arrays: authenticated encryption that keeps dtype, shape and order. See docs/format.md."""

from twofishkit.sealed.archive import Archive, loadz, savez
from twofishkit.sealed.arrays import inspect, load, save, seal, unseal
from twofishkit.sealed.header import Header

__all__ = ["Archive", "Header", "inspect", "load", "loadz", "save", "savez", "seal", "unseal"]
