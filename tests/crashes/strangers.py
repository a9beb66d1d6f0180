"""Engines that faults can't be driven in, or that do not come back from one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from delta_adapters.contract import Identity
from delta_adapters.reference import Reference
from delta_models.codec import encode
from delta_models.operations import Operation
from delta_models.outcomes import Committed, Outcome, Unknown

ELSEWHERE = """
import json, sys
from delta_adapters.reference import Reference
from delta_models.codec import decode
from delta_models.outcomes import Committed
for line in sys.stdin:
    folder, tag, operation = json.loads(line)
    engine = Reference()
    engine.open(folder)
    print(isinstance(engine.execute(decode(operation), tag), Committed), flush=True)
"""


class Stranger(Reference):
    """The honest engine under another name."""

    @property
    def identity(self) -> Identity:
        return Identity("stranger", "1.0", "https://example.org", "https://example.org/issues")


class LeavesItsFilesToAnother(Stranger):
    """Has all its changes made by a program that nothing is preloaded into, as a static one is."""

    def start(self, work: Path) -> None:
        environment = {key: each for key, each in os.environ.items() if key != "LD_PRELOAD"}
        environment["PYTHONPATH"] = os.pathsep.join(each for each in sys.path if each)
        self.other = subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE],
            env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def execute(self, operation: Operation, tag: str) -> Outcome:
        assert self.other.stdin is not None
        assert self.other.stdout is not None
        print(json.dumps([str(self.folder), tag, encode(operation)]), file=self.other.stdin, flush=True)
        done = self.other.stdout.readline() == "True\n"
        self.reader.forget()
        return Committed() if done else Unknown("the other program failed")


class HangsOnceItsStorageFails(Stranger):
    """Waits for ever, where its storage does not do as it is told."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        if isinstance(outcome, Unknown):
            threading.Event().wait()
        return outcome
