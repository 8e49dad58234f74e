"""Batch runs on Spark: how they are cut into tasks, sent to workers and watched."""
