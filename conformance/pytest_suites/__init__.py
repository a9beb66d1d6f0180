"""The tests that pytest collects: `pytest --pyargs conformance.suites --conformance-engine delta-rs`.

Each test plays a chunk of one suite, by the code that the worker processes of the command line use. The plugin
(`conformance.pytest_plugin`) maps the name `conformance.suites` to this package.
"""
