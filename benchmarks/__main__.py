"""`python -m benchmarks [NAME...]`: runs benchmarks and writes `benchmarks/results/NAME.json`; without a name all."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
NOT_BENCHMARKS = {"__init__", "__main__", "bench", "pairs", "results"}


def names() -> list[str]:
    """The benchmarks that there are: modules with a `main`."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHMARKS)


def run(asked: list[str]) -> int:
    """Run those asked for; 0 if no bar is missed, 1 if one is, 2 for a name that does not exist."""
    unknown = [each for each in asked if each not in names()]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    missed = False
    for each in asked or names():
        result = importlib.import_module(f"benchmarks.{each}").main()
        path = result.write(HERE / "results")
        print(f"{each}: {path}")
        for row in result.rows:
            print(f"  {row}")
        missed |= any(row.holds is False for row in result.rows)
    return int(missed)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
