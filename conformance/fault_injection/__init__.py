"""The storage boundary of an engine: records each change under a table, makes it fail, or pauses it. Judges nothing."""
