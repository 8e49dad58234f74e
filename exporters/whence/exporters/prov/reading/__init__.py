"""One module a syntax: a file that anybody wrote becomes statements."""
