"""One module an operation that changes a table or tells about it; what a user calls is in `pyspark_delta.table`."""
