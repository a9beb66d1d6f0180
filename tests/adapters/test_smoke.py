from __future__ import annotations

from pathlib import Path

from delta_adapters.registry import installed_version
from delta_adapters.smoke import main


def test_the_smoke_test_passes_delta_rs(capsys):
    assert main(["delta-rs"]) == 0
    assert capsys.readouterr().out == f"delta-rs@{installed_version('delta-rs')}: works\n"


def test_the_smoke_test_tells_a_wrong_adapter(capsys):
    bad = Path(__file__).with_name("bad_adapters.py")
    assert main([f"{bad}:Honest"]) == 1
    assert "tiny@1.0 fails its smoke test at: read back. Read(" in capsys.readouterr().err


def test_the_smoke_test_tells_what_can_not_be_run(capsys):
    assert main(["delta-rust"]) == 3
    assert "no engine is called 'delta-rust'" in capsys.readouterr().err
