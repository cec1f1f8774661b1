"""Each mode on its own: against the reference, and where other libraries went wrong."""
