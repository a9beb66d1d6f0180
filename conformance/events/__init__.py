"""What a run emits: event types, their JSON form, and the bus that hands them to listeners."""
