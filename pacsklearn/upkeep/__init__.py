"""Ledgers kept in order: their tables, copies and repair. No charge is made or refused here."""
