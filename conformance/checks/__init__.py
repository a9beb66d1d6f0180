"""One oracle a module: each looks at an `Observation` and reports breaches; none executes anything."""
