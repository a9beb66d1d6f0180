"""`python -m benchmarks [NAME...]`: run these benchmarks, or all, and write `benchmarks/results/NAME.json`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
NOT_BENCHMARKS = {"__init__", "__main__", "bench", "pairs", "planted", "results"}


def names() -> list[str]:
    """Return the names of all benchmarks: the modules with a `main`."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHMARKS)


def run(chosen: list[str]) -> int:
    """Run the chosen benchmarks, or all. Return 0, 1 if a bar is missed, or 2 if a name is unknown."""
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    missed = False
    for name in chosen or names():
        result = importlib.import_module(f"benchmarks.{name}").main()
        path = result.write(HERE / "results")
        print(f"{name}: {path}")
        for row in result.rows:
            print(f"  {row}")
        missed |= any(row.holds is False for row in result.rows)
    return int(missed)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
