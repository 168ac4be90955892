"""Asking a private prediction service over HTTP: needs no package beyond pacsklearn's own."""

from pacsklearn.client.private_model import PrivateModel

__all__ = ["PrivateModel"]
