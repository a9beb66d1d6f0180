"""Conversions between types: by assignment, by an explicit CAST, and implicit in an expression."""
