"""A Delta reader and writer for PySpark, written from the protocol; nothing of the harness, no Delta JAR."""
