"""One canonicalizer a file; see :class:`pacsklearn.kernel.outputs.canonicalizer.Canonicalizer`."""
