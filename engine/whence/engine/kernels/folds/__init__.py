"""Running totals of slots, of windows and over slices."""
