"""One module for each operation on a table. Users call them through `pyspark_delta.table`."""
