"""Profiles as data: how much of each suite a run plays, and its core. `conformance.planning.profile` reads them."""
