"""What becomes of a run's events: the file, the claims, the verdict, and the reports that people and machines read."""
