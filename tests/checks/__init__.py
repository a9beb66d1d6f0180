"""The checks themselves: who is blamed, what is counted, and how a difference reads."""
