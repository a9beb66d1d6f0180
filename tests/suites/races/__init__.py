"""Tests of concurrent writers: what the model allows, how races are judged, which mutants are caught."""
