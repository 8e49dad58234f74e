"""Columns of a batch as arrays: texts and keys as numbers, arrays that grow."""
