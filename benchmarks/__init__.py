"""What the project measures of itself, always beside a peer and in one run: `./dev bench NAME`."""
