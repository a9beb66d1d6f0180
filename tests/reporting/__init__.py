"""Tests of the reports that are made of a run's events."""
