"""The values of every type that histories may hold."""
