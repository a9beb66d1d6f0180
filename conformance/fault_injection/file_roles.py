"""The role of a file under a table, by its name: the same words for every engine."""

from __future__ import annotations

import re

COMMIT, STAGING = "commit", "staging"
DATA, VECTOR, CHANGE = "data", "deletion-vector", "change"
CHECKPOINT, HINT, CHECKSUM, COMPACTION = "checkpoint", "hint", "checksum", "compaction"
CLEAN_UP, LIST, FOLDER, OTHER = "clean-up", "look", "folder", "other"
SIDE = "side"  # Hadoop's block checksum of another file
# Files of a stream's checkpoint: what it is about to do, what it has done, and the rest. Not the table's checkpoint.
STREAM_PLAN, STREAM_DONE, STREAM = "stream-plan", "stream-done", "stream"

# Files that several threads of one operation write, in no order.
UNORDERED = frozenset(
    {DATA, VECTOR, CHANGE, SIDE, FOLDER} | {f"{role}-staging" for role in (DATA, VECTOR, CHANGE)}
)
ROLES = frozenset(
    {COMMIT, STAGING, DATA, VECTOR, CHANGE, CHECKPOINT, HINT, CHECKSUM, COMPACTION, CLEAN_UP, LIST, FOLDER, OTHER, SIDE,
     STREAM_PLAN, STREAM_DONE, STREAM}
    | {
        f"{role}-staging"
        for role in (
            DATA, VECTOR, CHANGE, CHECKPOINT, HINT, CHECKSUM, COMPACTION, OTHER, STREAM_PLAN, STREAM_DONE, STREAM,
        )
    }
)  # fmt: skip

_LOG = "_delta_log/"
_PROGRESS = "_checkpoints/"
_OF_A_STREAM = {"offsets": STREAM_PLAN, "commits": STREAM_DONE}
_OF_THE_LOG = (
    (COMMIT, re.compile(r"\d{20}\.json")),
    (CHECKPOINT, re.compile(r"\d{20}\.checkpoint[\w.-]*?\.(?:parquet|json)")),
    (COMPACTION, re.compile(r"\d{20}\.\d{20}\.compacted\.json")),
    (CHECKSUM, re.compile(r"\d{20}\.crc")),
    (HINT, re.compile(r"_last_checkpoint")),
)
_OF_THE_TABLE = (
    (VECTOR, re.compile(r"deletion_vector_[\w-]+\.bin")),
    (DATA, re.compile(r"[^/]*\.parquet")),
)
_TEMPORARY = re.compile(r"#\d+$|\.tmp$|^\.|\.partial$|\.inprogress$")


def role_of(path: str) -> str:
    """Return the role of a file, by its path relative to the table."""
    name = path.rsplit("/", 1)[-1]
    if name.startswith(".") and name.endswith(".crc"):
        return SIDE
    if path.startswith(_LOG):
        return _in_the_log(path.removeprefix(_LOG), name)
    if path.startswith(_PROGRESS):
        role = next((_OF_A_STREAM[part] for part in path.split("/")[2:-1] if part in _OF_A_STREAM), STREAM)
        return f"{role}-staging" if _TEMPORARY.search(name) else role
    kinds = ((CHANGE, re.compile(r".*")),) if path.startswith("_change_data/") else _OF_THE_TABLE
    for role, pattern in kinds:
        if pattern.fullmatch(name) and not _TEMPORARY.search(name):
            return role
        if pattern.search(name):
            return f"{role}-staging"
    return OTHER


def _in_the_log(below: str, name: str) -> str:
    if below.startswith("_staged_commits/"):
        return STAGING
    if below.startswith("_sidecars/"):
        return f"{CHECKPOINT}-staging" if _TEMPORARY.search(name) else CHECKPOINT
    for role, pattern in _OF_THE_LOG:
        if pattern.fullmatch(name):
            return role
    for role, pattern in _OF_THE_LOG:
        if pattern.search(name):
            return STAGING if role == COMMIT else f"{role}-staging"
    return STAGING if _TEMPORARY.search(name) else OTHER
