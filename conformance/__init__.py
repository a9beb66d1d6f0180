"""The harness: draws histories, runs them on engines, judges them and reports; no model of a table and no engine live here."""
