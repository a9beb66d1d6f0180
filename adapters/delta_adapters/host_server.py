"""The program of a host: load one adapter and answer the requests of the host client, one at a time.

The host supervisor starts it as `python -P -m delta_adapters.host_server --read FD --write FD --work FOLDER SPEC`.
SPEC is `module:Class` or `file.py:Class`. What the adapter or its engine prints goes to the log files. Answers go only
through the inherited descriptors. If an exception leaves the adapter, the host reports it as a bug and stays alive.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import platform
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delta_adapters.contract import CONTRACT_VERSION, Adapter, Answer, Identity
from delta_adapters.wire import PROTOCOL, Channel, Closed
from delta_models.codec import decode, encode
from delta_models.outcomes import REJECTIONS, Outcome, Rejected

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_MESSAGE = 4000
Parts = tuple[memoryview, ...]
Reply = tuple[dict[str, Any], Parts]


class AdapterMisbehaved(TypeError):
    """The adapter's answer is not of a kind that the contract allows."""


def load(spec: str) -> type[Adapter]:
    """Return the adapter class that a spec names."""
    module_name, colon, class_name = spec.rpartition(":")
    if not colon:
        raise AdapterMisbehaved(f"{spec!r} is no adapter: module:Class or file.py:Class was expected")
    if module_name.endswith(".py"):
        name = Path(module_name).stem
        module_spec = importlib.util.spec_from_file_location(name, module_name)
        if module_spec is None or module_spec.loader is None:
            raise AdapterMisbehaved(f"{module_name} can't be loaded as a module")
        module = importlib.util.module_from_spec(module_spec)
        sys.modules[name] = module
        module_spec.loader.exec_module(module)
    else:
        module = importlib.import_module(module_name)
    adapter: type[Adapter] = getattr(module, class_name)
    return adapter


class HostServer:
    """Answers requests until one of them is `stop` or the harness is gone."""

    def __init__(self, channel: Channel, spec: str, work: Path) -> None:
        self._channel = channel
        self._spec = spec
        self._work = work
        self._adapter: Adapter | None = None

    def run(self) -> None:
        """Answer requests, then end the process."""
        stopping = False
        while not stopping:
            try:
                header = self._channel.receive().header
            except Closed:
                break
            call = header.get("call")
            try:
                reply, parts = self._answer(str(call), header)
            except Exception as error:  # noqa: BLE001 - any exception that leaves the adapter is its bug
                reply, parts = {"bug": _describe(error)}, ()
            try:
                self._channel.send({"id": header.get("id"), **reply}, parts)
            except Closed:
                break
            stopping = call == "stop"
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # some engines abort in the interpreter's own shutdown, after all answers are out

    def _answer(self, call: str, header: dict[str, Any]) -> Reply:
        match call:
            case "execute":
                operation = decode(header["operation"])
                start = time.perf_counter()
                outcome = self._started.execute(operation, header["tag"])
                return {"seconds": time.perf_counter() - start, "outcome": _outcome(outcome, "execute")}, ()
            case "read":
                return self._read(decode(header["operation"]))
            case "open":
                self._started.open(header["location"])
                return {}, ()
            case "hello":
                return self._hello(header), ()
            case "stop":
                if self._adapter is not None:
                    self._adapter.stop()
                return {}, ()
        raise AdapterMisbehaved(f"the host knows no call {call!r}")

    @property
    def _started(self) -> Adapter:
        if self._adapter is None:
            raise AdapterMisbehaved("the first call must be hello")
        return self._adapter

    def _hello(self, header: dict[str, Any]) -> dict[str, Any]:
        versions = {"protocol": PROTOCOL, "contract": CONTRACT_VERSION}
        if {key: header.get(key) for key in versions} != versions:
            return {"refused": versions}
        adapter = load(self._spec)()
        adapter.start(self._work)
        identity, capabilities = adapter.identity, adapter.capabilities
        if not isinstance(identity, Identity):
            raise AdapterMisbehaved(f"identity is a {type(identity).__name__}, an Identity was expected")
        if not isinstance(capabilities, Mapping):
            raise AdapterMisbehaved(
                f"capabilities is a {type(capabilities).__name__}, a mapping was expected"
            )
        self._adapter = adapter
        return {
            **versions,
            "pid": os.getpid(),
            "python": platform.python_version(),
            "identity": {name: getattr(identity, name) for name in Identity.__dataclass_fields__},
            "capabilities": dict(capabilities),
        }

    def _read(self, read: Any) -> Reply:
        start = time.perf_counter()
        answer = self._started.read(read)
        seconds = time.perf_counter() - start
        if not isinstance(answer, Answer):
            return {"seconds": seconds, "outcome": _outcome(answer, "read")}, ()
        arrow = sys.modules.get("pyarrow")  # not imported here: an adapter that made a table has imported it
        if arrow is None or not isinstance(answer.table, arrow.Table):
            raise AdapterMisbehaved(
                f"read answered a {type(answer.table).__name__}, a pyarrow.Table was expected"
            )
        if answer.version is not None and not isinstance(answer.version, int):
            raise AdapterMisbehaved(
                f"read answered version {answer.version!r}, a number or None was expected"
            )
        return {"seconds": seconds, "version": answer.version}, (to_ipc(answer.table),)


def to_ipc(table: pa.Table) -> memoryview:
    """Return a table in Arrow's stream format."""
    import pyarrow as pa  # noqa: PLC0415 - as long as the whole rest of a host's start

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return memoryview(sink.getvalue())


def _outcome(outcome: object, method: str) -> Any:
    if not isinstance(outcome, Outcome):
        expected = "an Outcome" if method == "execute" else "an Answer or an Outcome"
        raise AdapterMisbehaved(f"{method} answered {outcome!r:.200}, {expected} was expected")
    if isinstance(outcome, Rejected):
        if outcome.kind not in REJECTIONS:
            raise AdapterMisbehaved(f"{method} answered a rejection of unknown kind {outcome.kind!r}")
        outcome = Rejected(outcome.kind, outcome.message[:LONGEST_MESSAGE])
    return encode(outcome)


def _describe(error: BaseException) -> dict[str, str]:
    return {
        "type": type(error).__name__,
        "message": str(error)[:LONGEST_MESSAGE],
        "traceback": "".join(traceback.format_exception(error))[-2 * LONGEST_MESSAGE :],
    }


def main() -> None:
    """Run the host's process."""
    parser = argparse.ArgumentParser(prog="delta_adapters.host_server")
    parser.add_argument("--read", type=int, required=True)
    parser.add_argument("--write", type=int, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("spec")
    arguments = parser.parse_args()
    for descriptor in (arguments.read, arguments.write):
        os.set_inheritable(descriptor, False)  # an engine's children must not keep the harness' end open
    HostServer(Channel(arguments.read, arguments.write), arguments.spec, arguments.work).run()


if __name__ == "__main__":
    main()
