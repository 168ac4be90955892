"""Private prediction service: answering models behind HTTP; needs the extra ``service``."""
