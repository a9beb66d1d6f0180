"""The pytest plugin: options, fixtures and the terminal section; what a suite does lives in `conformance.suites`."""
