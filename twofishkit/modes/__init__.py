"""One file per mode of operation; the classes are exported from `twofishkit` itself."""
