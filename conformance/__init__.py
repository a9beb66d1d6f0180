"""The harness: draws histories, runs them on engines, judges and reports; models and engines live elsewhere."""
