"""Drive engines: the contract of an adapter, the host processes, and one package for each engine.

Whether an engine did the right thing is for `conformance` to judge.
"""
