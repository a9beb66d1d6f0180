"""Mutants whose vacuum deletes what a version within the retention still needs."""

from __future__ import annotations

import uuid

from delta_adapters.reference import Reference, actions
from delta_models import operations as ops
from delta_models.log import Add, deletion_vectors
from delta_models.log.parsing import parse_action
from delta_models.log.reader import live_adds
from tests.mutants import stories
from tests.mutants.introspection import CHANGED, MARKED
from tests.mutants.registry import trips


@trips("vacuum.keeps-data-files", stories.VACUUM_GENTLY)
class VacuumsRetainedFiles(Reference):
    """A vacuum deletes the files of tombstones that have not expired."""

    def unreferenced(self, snapshot, hours):
        return super().unreferenced(snapshot, 0.0)


@trips("vacuum.keeps-change-data", (*CHANGED, ops.Vacuum()))
class VacuumsChangeData(Reference):
    """A vacuum deletes the change data of young versions."""

    def unreferenced(self, snapshot, hours):
        return [*super().unreferenced(snapshot, hours), *(self.folder / "_change_data").rglob("*.parquet")]


class KeepsVectorsInFiles(Reference):
    """Deletion vectors stand in files of their own."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        for form in forms:
            vector = form.get("add", {}).get("deletionVector")
            if vector is not None and vector["storageType"] == "i":
                form["add"]["deletionVector"] = self.filed(form)
        super().publish(version, forms)

    def filed(self, form: actions.Form) -> actions.Form:
        """The same vector in a file."""
        add = parse_action("add", form["add"], "", [])
        assert isinstance(add, Add)
        assert add.deletion_vector is not None
        rows = deletion_vectors.read(add.deletion_vector, self.folder)
        bitmap = deletion_vectors.encode_bitmap(rows)
        data, (offset,) = deletion_vectors.encode_file([bitmap])
        name = uuid.uuid4()
        (self.folder / f"deletion_vector_{name}.bin").write_bytes(data)
        encoded = deletion_vectors.z85_encode(name.bytes)
        return deletion_vectors.DeletionVector("u", encoded, len(bitmap), len(rows), offset).to_json()


@trips("vacuum.keeps-vectors", (*MARKED, ops.Vacuum()))
class VacuumsVectors(KeepsVectorsInFiles):
    """A vacuum takes the files of deletion vectors for left-overs."""

    honest_twin = KeepsVectorsInFiles

    def unreferenced(self, snapshot, hours):
        vectors = [add.deletion_vector for add in live_adds(snapshot)]
        files = [vector.file(self.folder) for vector in vectors if vector is not None]
        return [*super().unreferenced(snapshot, hours), *filter(None, files)]
