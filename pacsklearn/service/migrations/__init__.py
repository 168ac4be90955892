"""How the service's tables came to be, step by step."""
