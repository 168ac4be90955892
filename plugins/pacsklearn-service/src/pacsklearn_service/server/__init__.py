"""Answering models behind HTTP; needs the extra ``server``."""
