"""Tests of faults at the storage boundary: what is played, how it is judged, which mutants are caught."""
