"""What pytest collects: `pytest --pyargs conformance.suites --conformance-engine delta-rs`.

A session plays one campaign, by `conformance run` itself, and each requirement of each engine is a test that reads its
verdict. The plugin (`conformance.pytest_plugin`) maps the name `conformance.suites` to this package.
"""
