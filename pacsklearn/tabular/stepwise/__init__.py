"""Linear models of few columns, made to be released."""
