"""What a check may inspect: values that describe one executed step."""
