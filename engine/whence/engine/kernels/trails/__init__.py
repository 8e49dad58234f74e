"""What the rows of a batch are derived from, and how it becomes blocks of associations."""
