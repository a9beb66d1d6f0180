"""The suites: they generate or hold histories, execute them at tables, and record the results."""
