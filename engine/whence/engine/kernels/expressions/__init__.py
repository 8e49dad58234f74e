"""Expressions and their functions on whole columns."""
