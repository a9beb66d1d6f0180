"""The suites, as pytest collects them: `pytest --pyargs conformance.suites --conformance-engine delta-rs`.

What a suite does is in `conformance.chunks`; the command line plays the same chunks without pytest.
"""
