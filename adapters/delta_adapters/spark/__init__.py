"""What the adapters of engines on Spark share: Java, a small session, and the calls of an API like delta-spark's.

Importing this package starts nothing and imports no pyspark. No engine is named here.
"""
