"""One module a syntax: a document becomes text, piece by piece."""
