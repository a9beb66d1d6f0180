"""Engines that lie in one documented way each, and the proof that each check hears it."""
