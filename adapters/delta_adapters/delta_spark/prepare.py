"""Make everything of delta-spark that is made once and kept: its JARs and the archive of classes.

    python -m delta_adapters.delta_spark.prepare

Hosts fetch missing JARs by themselves, and work without the archive. This program is for a set-up, or an image.
"""

from __future__ import annotations

import sys

from delta_adapters.delta_spark.class_archive import make_archive
from delta_adapters.delta_spark.jars import JarsError, resolve, say
from delta_adapters.spark.java import JavaError, find_java


def main() -> int:
    """Return 0 if everything exists now, 3 if it can't be made."""
    try:
        java = find_java()
        jars = resolve(java=java)
    except (JavaError, JarsError) as error:
        say(f"{error}. {error.cure}")
        return 3
    return 0 if make_archive(java, jars) else 3


if __name__ == "__main__":
    sys.exit(main())
