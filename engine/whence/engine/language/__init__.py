"""What a chain is: processors, expressions and formulas, in Python and in files."""
