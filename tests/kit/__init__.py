"""Tests of action.yml, of the workflows, and of their steps."""
