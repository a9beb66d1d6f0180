"""Faults at the storage boundary: what is played, how it is judged, and who is caught."""
