"""Ledgers that outlive a process and that processes share."""
