"""What a run says while it goes on, and its last lines: on a terminal, in plain lines, or for another program."""
