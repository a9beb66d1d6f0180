"""The processes of a run: a coordinator, its workers, and what crosses between them."""
