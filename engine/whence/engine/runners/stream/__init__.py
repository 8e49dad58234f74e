"""Streams: batches as Spark hands them over, what is committed of each, and how to resume."""
