"""Findings: fingerprints, folders, scripts."""
