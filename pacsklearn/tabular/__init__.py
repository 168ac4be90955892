"""Models of tables: codebooks, additive and stepwise models, fixed forests, choosing, students."""
