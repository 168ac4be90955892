"""Tables larger than memory, and the candidate subsets of their rows."""
