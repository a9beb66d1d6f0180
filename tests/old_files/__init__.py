"""Files that the harness wrote at commit 61b1528, and what it said of them then."""
