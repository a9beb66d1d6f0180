"""Tests of table sessions: steps, reads, copies and the end of a history."""
