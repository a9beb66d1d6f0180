"""The suites: each draws or holds histories, plays them at tables, and reports what it saw."""
