"""Writers at once on one table: which pairs, in which orders, and the table where they meet."""
