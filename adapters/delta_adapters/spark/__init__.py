"""The parts that adapters of engines on Spark share: Java, a small session, and calls of an API like delta-spark's.

Importing this package starts nothing and does not import pyspark. It names no engine.
"""
