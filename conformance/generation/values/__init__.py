"""Values of every type that histories hold."""
