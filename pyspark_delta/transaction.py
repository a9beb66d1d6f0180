"""One change of a table: record what it read, and commit by put-if-absent on top of non-conflicting other commits."""

from __future__ import annotations

import logging
import random
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark_delta import features
from pyspark_delta import schema as schemas
from pyspark_delta.conflicts import Intent, Isolation, Winner, check
from pyspark_delta.exceptions import (
    AppendOnlyTable,
    CommitOutcomeUnknown,
    ConcurrentWriteException,
    InvalidArgument,
    NotADeltaTable,
    StorageFailure,
)
from pyspark_delta.log.actions import (
    Action,
    Add,
    DomainMetadata,
    Metadata,
    Protocol,
    Remove,
    Txn,
    decode,
    dump,
)
from pyspark_delta.log.checkpoint_writer import write_checkpoint
from pyspark_delta.log.checksum import write_checksum
from pyspark_delta.log.log_cleanup import clean_up
from pyspark_delta.log.names import LOG, commit_name
from pyspark_delta.log.state import lines
from pyspark_delta.log.store import FileExists, is_out_of_space
from pyspark_delta.manifests import AFTER_EVERY_COMMIT, write_manifests
from pyspark_delta.version import __version__

if TYPE_CHECKING:
    from pyspark_delta.log.delta_log import DeltaLog
    from pyspark_delta.log.snapshot import Snapshot
    from pyspark_delta.predicates import Predicate

__all__ = ["Transaction"]

_log = logging.getLogger("pyspark_delta")

_TRIES = 1000
_LONGEST_PAUSE = 0.1
ENGINE = f"pyspark_delta/{__version__}"


class Transaction:
    """A transaction made by `DeltaLog.begin()`; it commits once. `snapshot` fails if there is no table yet."""

    def __init__(self, log: DeltaLog, snapshot: Snapshot | None) -> None:
        self.log = log
        self._snapshot = snapshot
        self.committed_version: int | None = None
        self._metadata: Metadata | None = None
        self._protocol: Protocol | None = None
        self._is_new = False
        self._whole_table = False
        self._predicates: list[Predicate | None] = []
        self._files: set[str] = set()
        self._app_ids: set[str] = set()

    @property
    def snapshot(self) -> Snapshot:
        """The version on which this transaction is based."""
        if self._snapshot is None:
            raise NotADeltaTable(f"{self.log.path} is no Delta table")
        return self._snapshot

    @property
    def table_exists(self) -> bool:
        """Whether the table had a version when the transaction began."""
        return self._snapshot is not None

    @property
    def read_version(self) -> int:
        """The version on which the transaction is based; -1 without a table."""
        return -1 if self._snapshot is None else self._snapshot.version

    @property
    def metadata(self) -> Metadata:
        """The table's metadata after the commit."""
        return self._metadata or self.snapshot.metadata

    @property
    def protocol(self) -> Protocol:
        """The table's protocol after the commit."""
        return self._protocol or self.snapshot.protocol

    def read_whole_table(self) -> None:
        """Record that the result depends on all files: any file that another writer adds or removes is a conflict."""
        self._whole_table = True

    def read_partitions(self, predicate: Predicate | None = None) -> None:
        """Record that the result depends on the files whose partition values allow the predicate to be true."""
        self._predicates.append(predicate)

    def read_files(self, adds: Iterable[Add | str]) -> None:
        """Record that the result depends on these files, given as actions or as paths of the log."""
        self._files.update(add if isinstance(add, str) else add.path for add in adds)

    def read_txn(self, app_id: str) -> int | None:
        """The latest version of an application; a concurrent commit under the same id becomes a conflict."""
        self._app_ids.add(app_id)
        return None if self._snapshot is None else self._snapshot.txn_version(app_id)

    def update_metadata(self, metadata: Metadata) -> None:
        """Commit this metadata too, and raise the protocol if the metadata needs it."""
        mapped = schemas.column_mapping_mode(metadata.configuration) != "none"
        schemas.check_names(
            schemas.from_json(metadata.schema_string), metadata.partition_columns, mapped=mapped
        )
        current = self._protocol or (self._snapshot.protocol if self._snapshot else None)
        protocol = features.protocol_for(metadata, current)
        if protocol != current:
            self._protocol = protocol
        self._metadata = replace(metadata, configuration=features.stored_properties(metadata.configuration))

    def update_protocol(self, protocol: Protocol) -> None:
        """Commit this protocol too."""
        self._protocol = protocol

    def new_table(self, metadata: Metadata, protocol: Protocol | None = None) -> None:
        """Create or replace the table: commit both metadata and protocol."""
        self._is_new = self._snapshot is None
        if protocol is not None:
            self._protocol = protocol
        self.update_metadata(metadata)
        if self._protocol is None and self._is_new:
            self._protocol = features.protocol_for(metadata)

    def commit(
        self,
        actions: Iterable[Action],
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        metrics: Mapping[str, str | int] | None = None,
        *,
        blind_append: bool = False,
        data_change: bool = True,
        user_metadata: str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> int:
        """Publish the actions as one version and return it. If it raises, nothing is visible or the error says so."""
        if self.committed_version is not None:
            raise InvalidArgument(
                f"this transaction was committed as version {self.committed_version}", "Begin another one."
            )
        everything = self._complete(list(actions))
        self._validate(everything)
        removes = any(isinstance(action, Remove) for action in everything)
        blind = not removes and (blind_append or not self._has_reads())
        isolation = self._isolation(everything, data_change)
        token = str(uuid.uuid4())
        info: dict[str, Any] = {
            "timestamp": int(time.time() * 1000),
            "operation": operation,
            "operationParameters": {name: _text(value) for name, value in (parameters or {}).items()},
            "isolationLevel": isolation.value,
            "isBlindAppend": blind,
            "operationMetrics": {name: str(value) for name, value in (metrics or {}).items()},
            "engineInfo": ENGINE,
            "txnId": token,
        }
        if user_metadata is not None:
            info["userMetadata"] = user_metadata
        if tags:
            info["tags"] = dict(tags)
        intent = self._intent(everything, isolation, blind)
        bodies: list[dict[str, Any]] = [{action.kind: action.to_json()} for action in everything]
        content = b"".join(dump(body) + b"\n" for body in bodies)
        version = self._publish_next(info, content, intent, token)
        self.committed_version = version
        self._maintain(version, [*bodies, {"commitInfo": info}], token)
        return version

    def _complete(self, actions: list[Action]) -> list[Action]:
        """The actions, with the protocol and metadata that were set on the transaction."""
        kinds = {action.kind for action in actions}
        first: list[Action] = []
        if self._protocol is not None and Protocol.kind not in kinds:
            first.append(self._protocol)
        if self._metadata is not None and Metadata.kind not in kinds:
            first.append(self._metadata)
        return first + actions

    def _validate(self, actions: Sequence[Action]) -> None:
        metadata = next((action for action in actions if isinstance(action, Metadata)), None)
        protocol = next((action for action in actions if isinstance(action, Protocol)), None)
        if self._snapshot is None:
            if metadata is None or protocol is None:
                raise NotADeltaTable(f"{self.log.path} is no Delta table")
        else:
            metadata = metadata or self._snapshot.metadata
            protocol = protocol or self._snapshot.protocol
            self._snapshot.check_writable()
        domains = dict(self._snapshot.domains) if self._snapshot is not None else {}
        features.check_writable(protocol, metadata, domains, self.log.path)
        if any(isinstance(action, DomainMetadata) for action in actions) and not features.supports(
            protocol, "domainMetadata"
        ):
            raise InvalidArgument("metadata domains need the table feature domainMetadata")
        if self._snapshot is not None:  # the property that counts is that of the rows that are there
            _check_append_only(actions, self._snapshot.metadata)
        _check_actions(actions, metadata)

    def _has_reads(self) -> bool:
        return bool(self._whole_table or self._predicates or self._files)

    def _isolation(self, actions: Sequence[Action], data_change: bool) -> Isolation:
        files = [action for action in actions if isinstance(action, Add | Remove)]
        if len(files) == len(actions) and not any(action.data_change for action in files):
            return Isolation.SNAPSHOT
        text = self.metadata.configuration.get("delta.isolationLevel", Isolation.SERIALIZABLE.value)
        level = next((isolation for isolation in Isolation if isolation.value.lower() == text.lower()), None)
        if level is None:
            raise InvalidArgument(
                f"the property delta.isolationLevel is {text!r}, which is no isolation level"
            )
        return Isolation.SNAPSHOT if level is Isolation.WRITE_SERIALIZABLE and not data_change else level

    def _intent(self, actions: Sequence[Action], isolation: Isolation, blind: bool) -> Intent:
        snapshot = self._snapshot
        return Intent(
            actions=actions,
            metadata=snapshot.metadata if snapshot else None,
            protocol=snapshot.protocol if snapshot else None,
            isolation=isolation,
            blind=blind,
            whole_table=self._whole_table,
            predicates=self._predicates,
            files=self._files,
            app_ids=self._app_ids,
            pruner=snapshot.pruner(snapshot.zone(self.log.spark)) if snapshot else None,
        )

    def _publish_next(self, info: dict[str, Any], content: bytes, intent: Intent, token: str) -> int:
        """Publish as the next free version, after checking every other commit in between for conflicts."""
        version = self.read_version + 1
        for attempt in range(_TRIES):
            if version > 0:
                info["readVersion"] = version - 1
            line = dump({"commitInfo": _ordered(info)}) + b"\n"
            if self._publish(version, line + content, token):
                return version
            version = self._check_winners(version, intent)
            if attempt:
                time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.001 * 2 ** min(attempt, 10))))
        raise ConcurrentWriteException(
            f"other writers were faster in {_TRIES} tries, the last for version {version}"
        )

    def _publish(self, version: int, content: bytes, token: str) -> bool:
        """Whether this transaction took the version; false if another commit has it."""
        name = f"{LOG}/{commit_name(version)}"
        try:
            self.log.store.put_if_absent(name, content)
        except FileExists:
            # It may be our own commit, if the storage repeated a request whose answer was lost.
            return self._is_own(name, version, token)
        except OSError as problem:
            try:
                if self._is_own(name, version, token):
                    return True
            except FileNotFoundError:
                cause = (
                    "the disk is full" if is_out_of_space(problem) else f"the storage refuses it ({problem})"
                )
                raise StorageFailure(
                    f"version {version} of {self.log.path} can't be committed: {cause}"
                ) from problem
            return False
        except BaseException:  # Ctrl-C during the request: record whether the commit was made
            try:
                if self._is_own(name, version, token):
                    self.committed_version = version
            except (OSError, CommitOutcomeUnknown):
                _log.warning("%s: whether version %s was committed is not known", self.log.path, version)
            raise
        return True

    def _is_own(self, name: str, version: int, token: str) -> bool:
        """Whether the commit of this version is this transaction's; FileNotFoundError if there is no such commit."""
        try:
            content = self.log.store.read(name)
        except FileNotFoundError:
            raise
        except OSError as problem:
            raise CommitOutcomeUnknown(
                f"the storage did not say whether version {version} of {self.log.path} was committed, "
                f"and can't be read ({problem})"
            ) from problem
        return token.encode() in content.split(b"\n", 1)[0]

    def _check_winners(self, first: int, intent: Intent) -> int:
        """Check all commits from this version on for conflicts and return the version after them."""
        version = first
        while True:
            try:
                content = self.log.store.read(f"{LOG}/{commit_name(version)}")
            except FileNotFoundError:
                if (
                    version == first
                ):  # the other commit is gone: the log was cleaned up, or the table replaced
                    raise ConcurrentWriteException(
                        f"version {version} of {self.log.path} came and went"
                    ) from None
                return version
            actions = [action for line in lines(version, content) if (action := decode(line)) is not None]
            check(intent, Winner(version, actions))
            version += 1

    def _maintain(self, version: int, bodies: list[dict[str, Any]], token: str) -> None:
        """Checksum, checkpoint, clean-up and manifests. The commit stands without them, so failures are only logged."""
        try:
            snapshot = self.log.committed(version, bodies)
            # If Spark holds the state, the totals would take a job for each commit.
            if not snapshot.state.base.is_remote:
                is_newest = snapshot.version == version
                write_checksum(snapshot if is_newest else self.log.snapshot(version), token)
            interval = features.whole_number(snapshot.properties, "delta.checkpointInterval", 10)
            if version > 0 and interval > 0 and version % interval == 0:
                write_checkpoint(self.log.snapshot(version), int(time.time() * 1000))
                if features.flag(snapshot.properties, "delta.enableExpiredLogCleanup", default=True):
                    clean_up(snapshot, int(time.time() * 1000))
            if features.flag(snapshot.properties, AFTER_EVERY_COMMIT):
                write_manifests(snapshot)
        except Exception:  # noqa: BLE001 - the commit stands, whatever stops the upkeep
            _log.warning("%s: upkeep after version %s failed", self.log.path, version, exc_info=True)


def _check_actions(actions: Sequence[Action], metadata: Metadata) -> None:
    """Refuse actions that no commit of this table may have together."""
    adds = [action for action in actions if isinstance(action, Add)]
    removes = [action for action in actions if isinstance(action, Remove)]
    _check_files_once(adds, removes)
    _check_partition_values(adds, metadata)
    if any(not isinstance(action, Action) for action in actions):
        raise InvalidArgument("what is committed must be actions of the log")
    _check_transactions_once(actions)


def _check_append_only(actions: Sequence[Action], metadata: Metadata) -> None:
    is_append_only = features.flag(metadata.configuration, "delta.appendOnly")
    if is_append_only and any(isinstance(action, Remove) and action.data_change for action in actions):
        raise AppendOnlyTable("the table takes no removal of rows: its property delta.appendOnly is true")


def _check_files_once(adds: Sequence[Add], removes: Sequence[Remove]) -> None:
    for kind, files in (("added", adds), ("removed", removes)):
        paths = [file.path for file in files]
        if len(set(paths)) < len(paths):
            twice = next(path for index, path in enumerate(paths) if path in paths[:index])
            raise InvalidArgument(f"the file {twice} is {kind} twice in one commit")
    both = {add.key for add in adds} & {remove.key for remove in removes}
    if both:
        raise InvalidArgument(f"the file {min(path for path, _ in both)} is added and removed in one commit")


def _check_partition_values(adds: Sequence[Add], metadata: Metadata) -> None:
    schema = schemas.from_json(metadata.schema_string)
    names = {
        schemas.physical_name(field) for field in schema.fields if field.name in metadata.partition_columns
    }
    for add in adds:
        if set(add.partition_values) != names:
            raise InvalidArgument(
                f"the file {add.path} has values for {sorted(add.partition_values)}, not for {sorted(names)}"
            )


def _check_transactions_once(actions: Sequence[Action]) -> None:
    app_ids = [action.app_id for action in actions if isinstance(action, Txn)]
    if len(set(app_ids)) < len(app_ids):
        raise InvalidArgument("a transaction id appears twice in one commit")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dump(value).decode()


def _ordered(info: dict[str, Any]) -> dict[str, Any]:
    """The commit's information in the order of other engines: time and operation first."""
    order = ("timestamp", "operation", "operationParameters", "readVersion")
    return {
        **{name: info[name] for name in order if name in info},
        **{k: v for k, v in info.items() if k not in order},
    }
