"""What a run tells GitHub Actions: annotations, the summary of the job, and the outputs of the step."""
