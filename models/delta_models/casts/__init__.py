"""Convert values between types: on assignment, by an explicit CAST, and implicitly in an expression."""
