"""The honest engine: the model's operations on real Delta tables, in pure Python with pyarrow. For small data, no Java.

Its agreement with the model counts as no evidence, for it is the model that writes. It is there so that a run is
possible everywhere, and so that liars have somebody honest to differ from.
"""

from __future__ import annotations

from delta_adapters.reference import actions
from delta_adapters.reference.actions import CommitBuilder
from delta_adapters.reference.engine import Reference

__all__ = ["CommitBuilder", "Reference", "actions"]
