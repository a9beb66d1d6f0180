from __future__ import annotations

import time
from pathlib import Path

from delta_adapters.registry import installed_version
from delta_adapters.smoke import main


def test_the_smoke_test_passes_delta_rs(capsys):
    assert main(["delta-rs"]) == 0
    assert capsys.readouterr().out == f"delta-rs@{installed_version('delta-rs')}: works\n"


SMALL = Path(__file__).with_name("small_adapters.py")
BAD = Path(__file__).with_name("bad_adapters.py")


def test_the_smoke_test_tells_a_wrong_adapter(capsys):
    assert main([f"{SMALL}:MisreadsAll"]) == 1
    assert "small@1.0 fails its smoke test at: read back. Read(" in capsys.readouterr().err


def test_the_smoke_test_asks_nothing_that_is_not_claimed(capsys):
    assert main([f"{SMALL}:OnlyAppends"]) == 0
    assert main([f"{SMALL}:NeverCreates"]) == 0
    assert capsys.readouterr().out == "small@1.0: works\nsmall@1.0: works\n"


def test_the_smoke_test_asks_for_a_filter_of_an_adapter_that_claims_filters(capsys):
    assert main([f"{SMALL}:ClaimsFilters"]) == 1
    assert "small@1.0 fails its smoke test at: read with a filter" in capsys.readouterr().err


def test_an_engine_that_hangs_at_its_start_ends_the_smoke_test_in_time(capsys, monkeypatch):
    monkeypatch.setenv("CONFORMANCE_CALL_TIMEOUT", "2")
    began = time.monotonic()
    assert main([f"{BAD}:HangsAtStart"]) == 1
    assert "did not answer within " in capsys.readouterr().err
    assert time.monotonic() - began < 60  # without a limit of its own, a host has 180 s for its start


def test_the_smoke_test_tells_what_can_not_be_run(capsys):
    assert main(["delta-rust"]) == 3
    assert "no engine is called 'delta-rust'" in capsys.readouterr().err
