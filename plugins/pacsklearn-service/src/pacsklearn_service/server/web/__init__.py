"""What a web worker does: it reads requests and holds no secret."""
