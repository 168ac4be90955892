"""What trials tell of a mechanism: bounds on means of draws, coordinates in their span."""
