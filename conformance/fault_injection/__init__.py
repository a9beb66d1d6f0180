"""The storage boundary: what an engine changes under a table, in which order, and what becomes of it; no oracle."""
