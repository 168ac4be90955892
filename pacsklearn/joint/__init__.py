"""Fast fits of all candidate subsets, one family a file."""
