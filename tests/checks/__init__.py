"""Tests of the checks, by the modules of `conformance.checks`. `tests/mutants` shows that each check works."""
