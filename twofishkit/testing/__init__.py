"""The differential-testing kit: other implementations to compare with."""
