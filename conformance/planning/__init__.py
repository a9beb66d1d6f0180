"""What a run will play: profiles, evidence thresholds and the plan of chunks."""
