"""Twofish in other packages' formats: Zarr and numcodecs, with keys by name. See docs/zarr.md."""
