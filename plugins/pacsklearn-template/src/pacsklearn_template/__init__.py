"""The smallest possible pacsklearn plugin."""
