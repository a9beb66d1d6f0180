"""The suite of races: writers of one table at once, in an order that a schedule decides."""
