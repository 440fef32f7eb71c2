"""The append-only record: what was acknowledged, in order, chained by hashes."""
