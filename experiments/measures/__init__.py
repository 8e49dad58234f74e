"""One way to measure a file; each is a program that reads a cell and prints what it took."""
