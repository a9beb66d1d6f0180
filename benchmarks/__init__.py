"""Benchmarks of the project, each beside a peer and in one run: `./dev bench NAME`."""
