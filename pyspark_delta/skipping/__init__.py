"""File skipping: find the files that a filter need not read."""
