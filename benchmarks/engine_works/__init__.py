"""What the benchmark of the engine measures, by kind of work; which works there are says `benchmarks.engine`."""
