"""Choose what to release by simulated releases."""
