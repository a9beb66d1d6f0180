"""Engines whose storage can't be instrumented, or that hang after a fault."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from delta_adapters.contract import Identity
from delta_adapters.reference import Reference
from delta_models.codec import encode
from delta_models.operations import Operation
from delta_models.outcomes import Committed, Outcome, Unknown

CARRY = Path(__file__).with_name("carry.c")
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
    """Makes all changes by a program into which nothing is preloaded."""

    def start(self, work: Path) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        environment["PYTHONPATH"] = os.pathsep.join(folder for folder in sys.path if folder)
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


class LeavesItsFilesToAStaticProgram(Stranger):
    """Prepares changes elsewhere; a static program, into which nothing can be preloaded, copies them to the table."""

    def start(self, work: Path) -> None:
        self.carry, self.elsewhere = work / "carry", work / "elsewhere"
        subprocess.run(["cc", "-static", "-w", "-o", self.carry, CARRY], check=True)

    def execute(self, operation: Operation, tag: str) -> Outcome:
        table = self.folder
        shutil.rmtree(self.elsewhere, ignore_errors=True)
        if table.exists():
            shutil.copytree(table, self.elsewhere)
        self.open(str(self.elsewhere))
        outcome = super().execute(operation, tag)
        self.open(str(table))
        if self.elsewhere.exists():
            subprocess.run([self.carry, self.elsewhere, table.resolve()], check=True)
        return outcome


class HangsOnceItsStorageFails(Stranger):
    """Waits for ever once its storage fails."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        if isinstance(outcome, Unknown):
            threading.Event().wait()
        return outcome
