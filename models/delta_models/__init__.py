"""What a Delta table means, in pure Python, and the vocabulary that everyone speaks; no engine and no Delta library live here."""
