"""The accounts: the liability ledger, its reconciliation, and the proof of the record."""
