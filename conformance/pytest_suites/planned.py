"""The campaign of a pytest session: the words of its `conformance run`, and the tests that it has, before it is played.

The names of the tests follow from the engines and the catalogue of requirements alone, so every xdist worker collects
the same ones.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.cli import run
from conformance.cli.dispatch import Parser
from conformance.cli.errors import UsageError
from conformance.planning.claims import planned_engines
from conformance.planning.own_settings import own_settings
from conformance.planning.plan import Plan, engine_specs
from delta_adapters.registry import KNOWN, EngineSpec
from delta_models.requirements import CATALOGUE, Requirement

DEFAULT_PROFILE = "dev"
OPTIONS = (
    "engine", "profile", "part", "table", "suite", "regressions", "baseline", "deviations", "budget", "examples",
    "steps", "seed", "jobs", "max-findings", "out",
)  # fmt: skip
NO_ENGINE = "no engine is named, so there is nothing to test"
NAME_ONE = (
    "Give --conformance-engine NAME, again for more, or name engines in the table [tool.conformance] of pyproject.toml."
    " `conformance engines` lists those that can run here."
)
OBSERVABLE: tuple[Requirement, ...] = tuple(rule for rule in CATALOGUE if rule.unobservable is None)
PLACES = {"crash": "crashes", "example": "examples", "race": "races"}  # the suites of whole areas
KEPT, VERDICT = "kept", "verdict"


@dataclass(frozen=True, slots=True)
class CampaignEngine:
    """An engine of the campaign: its name in tests, without a version unless two need one, and how a run names it."""

    name: str
    spec: str


@dataclass(frozen=True, slots=True)
class Campaign:
    """The one run of a session.

    `words` are the options of its `conformance run`, which is started in `folder`. `home` is the folder that the
    processes of the session share. `key` is the same for two sessions that ask for the same. `core` maps
    `ENGINE REQUIREMENT` to the suites whose evidence the core counts; empty means all. `kept` are the names of the kept
    histories.
    """

    words: tuple[str, ...]
    folder: Path
    home: Path
    key: str
    profile: str
    engines: tuple[CampaignEngine, ...]
    suites: tuple[str, ...]
    core: Mapping[str, Sequence[str]]
    kept: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of all tests but that of the verdict."""
        rules = {f"{engine.name}::{rule.id}" for engine in self.engines for rule in OBSERVABLE}
        return frozenset(rules | {f"{KEPT}::{name}" for name in self.kept})

    def suites_of(self, engine: str, requirement: str) -> tuple[str, ...]:
        """The suites whose histories give the evidence of a requirement."""
        counted = tuple(self.core.get(f"{engine} {requirement}", ()))
        place = PLACES.get(requirement.partition(".")[0])
        return counted or ((place,) if place is not None else self.suites)

    def is_core(self, engine: str, requirement: str) -> bool:
        """Whether the verdict of the run hangs on the evidence of a requirement."""
        return f"{engine} {requirement}" in self.core

    def to_json(self) -> dict[str, Any]:
        """The JSON form, which xdist sends to its workers."""
        return {
            "words": list(self.words), "folder": str(self.folder), "home": str(self.home), "key": self.key,
            "profile": self.profile, "engines": [[engine.name, engine.spec] for engine in self.engines],
            "suites": list(self.suites), "core": {name: list(suites) for name, suites in self.core.items()},
            "kept": list(self.kept),
        }  # fmt: skip

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Campaign:
        """Read a campaign from its JSON form."""
        engines = tuple(CampaignEngine(*engine) for engine in form["engines"])
        lists = {name: tuple(form[name]) for name in ("words", "suites", "kept")}
        paths = {name: Path(form[name]) for name in ("folder", "home")}
        return cls(**{**form, **lists, **paths, "engines": engines})


def settings_of(given: Mapping[str, Any]) -> argparse.Namespace:
    """The settings of `conformance run` for options of the plugin, those of pyproject.toml included. Raises UsageError.

    `given` maps the names of `OPTIONS` to texts or lists of texts; None and an empty list are not given.
    """
    parser = Parser("run", run.HELP)
    run.add_arguments(parser)
    try:
        arguments = parser.parse_args(list(_words(given)))
        settings = run.with_own_settings(arguments)
    except UsageError as error:
        raise in_words_of_pytest(error) from error
    if arguments.profile is None and own_settings(Path.cwd()).profile is None:
        settings.profile = DEFAULT_PROFILE
    return settings


def plan_campaign(given: Mapping[str, Any], home: Path) -> Campaign:
    """Plan the campaign of a session. Raises UsageError."""
    settings = settings_of(given)
    if not settings.engines:
        raise UsageError(NO_ENGINE, NAME_ONE)
    try:
        options, plan = run.checked_options(settings)
    except UsageError as error:
        raise in_words_of_pytest(error) from error
    words = tuple(_words({**given, "profile": given.get("profile") or settings.profile}))
    asked = [name for name in words if not name.startswith("--out=")]
    baseline = settings.baseline.read_bytes() if settings.baseline else b""
    keyed = "\n".join([*asked, *options.engines]).encode() + b"\n" + baseline
    specs = engine_specs(options)
    engines = tuple(campaign_engines(specs))
    return Campaign(
        words=words,
        folder=Path.cwd(),
        home=home,
        key=hashlib.sha256(keyed).hexdigest()[:16],
        profile=settings.profile,
        engines=engines,
        suites=plan.suites,
        core=_core(plan, specs, engines),
        kept=tuple(kept.name for kept in plan.kept),
    )


def campaign_engines(specs: Iterable[EngineSpec]) -> Iterator[CampaignEngine]:
    """Yield each engine with a name for its tests: what it calls itself, and more if two call themselves the same."""
    specs = list(specs)
    called = {engine.key: engine.name for engine in planned_engines(specs)}
    names = [called.get(str(spec)) or _last_word(spec) for spec in specs]
    often = Counter(names)
    used: Counter[str] = Counter()
    for spec, name in zip(specs, names, strict=True):
        build = spec.version or (Path(spec.path).name if spec.path else "")
        full = f"{name}@{build}" if often[name] > 1 and build else name
        used[full] += 1
        yield CampaignEngine(full if used[full] == 1 else f"{full}-{used[full]}", str(spec))


def in_words_of_pytest(error: UsageError) -> UsageError:
    """The same error about the options of the plugin."""
    names = "|".join(OPTIONS)
    text = re.sub(rf"(?<![\w-])--(?={names})", "--conformance-", str(error))
    message, _, cure = text.replace("conformance run --help", "pytest --help").partition("\n  ")
    return UsageError(message, cure)


def _words(given: Mapping[str, Any]) -> Iterator[str]:
    """The options of `conformance run`, as words of one piece each, so that no value is taken for an option."""
    for name in OPTIONS:
        value = given.get(name)
        for text in value if isinstance(value, list | tuple) else [value]:
            if text is not None:
                yield f"--{name}={text}"


def _last_word(spec: EngineSpec) -> str:
    """A name for an engine that does not say its own: `Mine` of `adapters/mine.py:Mine`."""
    return spec.name if spec.name in KNOWN else re.split(r"[:/]", spec.name)[-1].lower()


def _core(
    plan: Plan, specs: Sequence[EngineSpec], engines: Sequence[CampaignEngine]
) -> dict[str, Sequence[str]]:
    called = {engine.key: engine.name for engine in planned_engines(specs)}
    core: dict[str, set[str]] = {}
    for threshold in plan.core:
        for engine in engines:
            if called.get(engine.spec) == threshold.engine:
                core.setdefault(f"{engine.name} {threshold.requirement}", set()).add(threshold.suite)
    return {name: () if "" in suites else sorted(suites) for name, suites in core.items()}
