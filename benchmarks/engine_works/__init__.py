"""The benchmarks of the engine by kind of work; `benchmarks.engine` lists them."""
