"""Mutants: engines that are honest but for one documented fault, and the proof that the checks catch each."""
