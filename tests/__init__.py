"""Tests of this repository, in folders that mirror it; what a user runs against an engine is `conformance.suites`."""
