"""Profiles as data: how much of each suite a run does, and the core by which it is judged; read by `conformance.plan`."""
