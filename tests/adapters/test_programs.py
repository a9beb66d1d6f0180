"""Any program that speaks the host protocol on its standard streams is an engine; any other is refused with words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from delta_adapters.builds import build_hash
from delta_adapters.contract import CONTRACT_VERSION
from delta_adapters.host_client import HostClient
from delta_adapters.host_errors import HostDied, HostGarbage, HostHung
from delta_adapters.registry import EngineSpec, UnknownEngine, availability, parse_engine
from delta_adapters.smoke import TABLE, smoke, smoke_engine
from delta_adapters.wire import MAGIC, PROTOCOL
from delta_models.codec import decode, encode
from delta_models.operations import Append
from delta_models.outcomes import REJECTIONS, Outcome, Rejected
from delta_models.schema import parse
from delta_models.values import value_from_json, value_to_json
from tests.programs import ROOT, command

DOC = (ROOT / "docs" / "host-protocol.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    """Programs run in the folder where the harness was started."""
    monkeypatch.chdir(ROOT)


class TestNames:
    def test_the_text_before_the_sign_is_the_name_and_the_rest_the_command(self):
        spec = parse_engine("mine=./host --flag 'two words'")
        assert spec == EngineSpec("mine", "", command=("./host", "--flag", "two words"))
        assert parse_engine(str(spec)) == spec

    @pytest.mark.parametrize(
        ("text", "complaint"),
        (
            ("mine=", "mine=COMMAND was expected"),
            ("mine='", "names no program: No closing quotation"),
            ("delta-rs=./host", "the name of an engine that the project knows"),
            ("nobody", "or NAME=COMMAND for a program that speaks the host protocol"),
        ),
    )
    def test_a_text_that_names_no_program_is_refused(self, text, complaint):
        with pytest.raises(UnknownEngine, match=complaint):
            parse_engine(text)

    def test_a_program_that_is_not_there_is_no_engine(self):
        answer = availability(parse_engine("mine=no-such-program"))
        assert (bool(answer), answer.broken) == (False, True)
        assert "there is no program no-such-program on PATH" in answer.why

    def test_another_content_is_another_build(self, tmp_path):
        program = tmp_path / "host"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        first = build_hash(parse_engine(f"mine={program}"))
        program.write_text("#!/bin/sh\nexit 1\n")
        assert build_hash(parse_engine(f"mine={program}")) != first


class TestAnswers:
    @pytest.mark.parametrize("kind", ("honest", "json"))
    def test_a_program_passes_the_smoke_test_whatever_form_its_rows_have(self, kind, tmp_path):
        assert smoke_engine(parse_engine(command(kind)), tmp_path) == "small@1.0"

    @pytest.mark.parametrize(
        ("kind", "error", "words"),
        (
            ("answers-another", HostGarbage, r"an answer to request 3, request 4 was asked"),
            ("hangs", HostHung, r"did not answer within .* while it was asked to execute Create"),
        ),
    )
    def test_a_program_that_breaks_the_protocol_fails_it(self, kind, error, words, tmp_path):
        spec = parse_engine(command(kind))
        with HostClient.start(spec, tmp_path / "host") as host:
            host.ready()
            with pytest.raises(error, match=words):
                smoke(host, tmp_path / TABLE, within=5)

    @pytest.mark.parametrize(
        ("line", "error", "words"),
        (
            (
                "mine=echo hello, this is no frame",
                HostGarbage,
                "a frame begins with b'DCW1', this with b'hello, this",
            ),
            ("mine=cat /dev/urandom", HostGarbage, "the standard output of a program"),
            ("mine=false", HostDied, r"died \(exit code 1\)"),
        ),
    )
    def test_a_program_that_is_no_host_is_refused_with_what_it_said(self, line, error, words, tmp_path):
        with (
            HostClient.start(parse_engine(line), tmp_path / "host") as host,
            pytest.raises(error, match=words),
        ):
            host.ready(10)

    @pytest.mark.parametrize(
        "answer",
        (
            {"outcome": {"is": "Append"}, "seconds": 0},
            {"outcome": {"is": "Rejected", "kind": "no-such-kind"}, "seconds": 0},
            {"outcome": encode(Rejected("schema")), "seconds": "soon"},
            {"seconds": 0},
        ),
    )
    def test_an_answer_that_is_no_outcome_is_garbage(self, answer, tmp_path):
        script = tmp_path / "host.py"
        hello = {
            "protocol": PROTOCOL,
            "contract": CONTRACT_VERSION,
            "identity": {"name": "x", "version": "1", "homepage": "", "issue_tracker": ""},
            "capabilities": {
                "format": 1, "operations": {"Append": {}}, "types": {"data": ["long"], "partition": []},
                "features": {"read": [], "write": []}, "storages": ["local"],
                "guarantees": {"commits-of-several-processes-on-local-files": False},
            },
        }  # fmt: skip
        script.write_text(SCRIPT.format(answers={"hello": hello, "execute": answer}))
        append = decode(
            json.loads(next(line for line in DOC.splitlines() if line.startswith('{"is": "Append"')))
        )
        with (
            HostClient.start(parse_engine(f"mine=python3 {script}"), tmp_path / "work") as host,
            pytest.raises(HostGarbage, match="an answer that is none"),
        ):
            host.execute(append, timeout=20)


SCRIPT = """
import json, struct, sys
while True:
    prefix = sys.stdin.buffer.read(16)
    if len(prefix) < 16:
        break
    _, header, body = struct.unpack("<4sIQ", prefix)
    request = json.loads(sys.stdin.buffer.read(header))
    reply = json.dumps({{"id": request["id"], **{answers}.get(request["call"], {{}})}}).encode()
    sys.stdout.buffer.write(struct.pack("<4sIQ", b"DCW1", len(reply), 0) + reply)
    sys.stdout.buffer.flush()
"""


class TestPage:
    """`docs/host-protocol.md` says what the code does."""

    def test_the_requests_and_outcomes_that_it_shows_are_read_by_the_codec(self):
        blocks = re.findall(r"```json\n(.*?)```", DOC, re.DOTALL)
        forms = [json.loads(line) for block in blocks for line in block.splitlines()]
        values = [decode(form) for form in forms]
        assert [encode(value) for value in values] == forms
        assert isinstance(values[1], Append)
        shown = {type(value) for value in values if isinstance(value, Outcome)}
        assert shown == set(Outcome.__args__)
        assert all(value.kind in REJECTIONS for value in values if isinstance(value, Rejected))

    def test_it_shows_a_value_of_each_type(self):
        types = {
            "decimal": {"type": "decimal(4,2)"},
            "struct": {"type": {"type": "struct", "fields": [_field("a", "long"), _field("b", "string")]}},
            "array": {"type": {"type": "array", "elementType": "long", "containsNull": True}},
            "map": {
                "type": {"type": "map", "keyType": "string", "valueType": "long", "valueContainsNull": True}
            },
        }
        table = DOC.partition("| type | value | example |")[2].partition("\n\n")[0]
        shown = {}
        for line in table.splitlines()[2:]:
            names, _, examples = (cell.strip() for cell in line.strip("|").split("|"))
            given = [json.loads(example) for example in re.findall(r"`([^`]*)`", examples)]
            for index, name in enumerate(re.findall(r"`(\w+)`", names)):
                shown[name] = given[min(index, len(given) - 1)]
        claimable = json.loads((ROOT / "adapters/delta_adapters/capabilities.schema.json").read_text())
        all_types = set(claimable["$defs"]["types"]["items"]["enum"]) - {"void", "char"}
        assert set(shown) == all_types
        for name, form in shown.items():
            data_type = parse(types.get(name, {"type": name})["type"])
            value = value_from_json(data_type, form)
            assert value_from_json(data_type, value_to_json(data_type, value)) == value, name

    def test_it_names_the_frame_and_the_versions(self):
        assert f"`{MAGIC.decode()}`" in DOC
        assert f'"protocol": {PROTOCOL}, "contract": {CONTRACT_VERSION}' in DOC
        assert Path(ROOT, "examples", "kernel-host", "KernelHost.java").is_file()


def _field(name, data_type):
    return {"name": name, "type": data_type, "nullable": True, "metadata": {}}
