"""What to do with a finding: play it again."""
