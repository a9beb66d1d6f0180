"""File skipping: which files a filter need not read."""
