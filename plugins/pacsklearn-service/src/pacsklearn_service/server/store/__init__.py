"""What is kept in the database: accounts, keys, replies, the audit log."""
