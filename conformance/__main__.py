"""`python -m conformance`: the same as the command `conformance`."""

from __future__ import annotations

import sys

from conformance.cli import main

sys.exit(main())
