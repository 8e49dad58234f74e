"""W3C PROV: what a document is, and the syntaxes in which it is written and read."""
