"""Tests of the events and of what the reports make of them."""
