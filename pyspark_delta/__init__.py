"""A Delta reader and writer for PySpark users, written from the protocol; nothing of the harness and no Delta JAR lives here."""
