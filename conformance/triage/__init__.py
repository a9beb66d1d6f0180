"""Triage: what to do with a finding. `replay` plays its history again."""
