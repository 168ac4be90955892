"""What every candidate gives: the universe, fits and values of all candidates."""
