"""A small profile, and the engines that its plans are made for."""

from __future__ import annotations

from conformance.planning.profile import parse_profile

ENGINES = ("delta-rs", "delta-spark")


def small(**changes):
    form = {
        "suites": {
            "lockstep": {"chunks": 3, "heavy_histories": 2, "heavy_chunks": 2},
            "shared": {"chunks": 1},
        },
        "core": [{"requirements": ["write.schema"], "engines": list(ENGINES), "suite": "lockstep"}],
    }
    return parse_profile("small", {**form, **changes})
