"""What a Delta table means, in pure Python, and the vocabulary that everyone speaks.

No engine and no Delta library live here, and nothing that starts a process.
"""
