"""The views of the page, one a file; each answers one question."""
