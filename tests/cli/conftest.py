"""A fixture that runs commands in its own folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conversation import Conversation


@pytest.fixture
def talk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Conversation:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Conversation(tmp_path, capsys)
