"""Meta-estimators and what is built on them."""
