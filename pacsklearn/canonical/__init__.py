"""One canonicalizer a file; see :class:`pacsklearn.core.canonicalizer.Canonicalizer`."""
