"""The reference tables of other projects, unpacked once into the user's cache.

Their archives lie in the folder that `DELTA_CONFORMANCE_CORPORA` names, else in `../shared/corpora`. If an archive is
missing, its tests are skipped, and `tests/skips.py` reports it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Final

import pytest

# Short name -> the archive, and the folder in it that holds the cases.
ARCHIVES: Final = {
    "dat": ("dat-v0.0.3.tar.gz", "dat-v0.0.3/out/reader_tests/generated"),
    "acceptance": ("acceptance-workloads.tar.gz", "dat-acceptance-workloads"),
    "kernel-golden": ("kernel-golden.tar.gz", "kernel-rs-golden"),
    "connectors-golden": ("connectors-golden.tar.gz", "delta-connectors-golden"),
}


def corpus(name: str) -> Path:
    """Return the folder with the cases of a corpus, which is read only. Skip the test if the archive is missing."""
    archive_name, folder = ARCHIVES[name]
    archive = _home() / archive_name
    if not archive.is_file():
        pytest.skip(f"corpora: no {archive} (DELTA_CONFORMANCE_CORPORA says where else to look)")
    return unpacked(archive, _cache()) / folder


def unpacked(archive: Path, cache: Path) -> Path:
    """Return a folder with the files of an archive. Its name holds a hash, so each version has its own folder."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    target = cache / f"{archive.name.removesuffix('.tar.gz')}-{digest}"
    if target.is_dir():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    # Unpacked elsewhere and renamed, so a folder with the final name is complete, even if two processes unpack it.
    scratch = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=cache))
    try:
        with tarfile.open(archive) as opened:
            if hasattr(tarfile, "data_filter"):  # Python 3.11 has it from 3.11.4 on
                opened.extraction_filter = tarfile.data_filter
            opened.extractall(scratch)
        try:
            scratch.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def _home() -> Path:
    return Path(
        os.environ.get("DELTA_CONFORMANCE_CORPORA") or Path(__file__).parents[2] / "shared" / "corpora"
    )


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "delta-conformance", "corpora")
