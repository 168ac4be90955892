"""Sessions: one secret, one belief, one ledger."""
