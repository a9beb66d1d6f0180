"""Writers at once: the model of what they may do, how that is judged, and who is caught."""
