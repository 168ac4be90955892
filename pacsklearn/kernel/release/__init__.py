"""How a release is taken: check, calibrate, charge, draw, learn."""
