"""Tests of how a run is planned, played, recorded and ended."""
