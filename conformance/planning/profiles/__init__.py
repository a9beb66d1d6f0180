"""Profiles as data: how much of each suite a run does, and the core that judges it; read by `conformance.plan`."""
