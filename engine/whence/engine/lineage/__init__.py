"""What leads where: sets of positions, associations, and whatever follows them."""
