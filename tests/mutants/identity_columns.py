"""Mutants that generate wrong values for identity columns, or keep a wrong high-water mark."""

from __future__ import annotations

import json
from dataclasses import replace

from delta_adapters.reference import Reference
from delta_adapters.reference.identity_columns import next_value, with_identity_values, with_newer_marks
from delta_models import operations as ops
from delta_models.expressions import Literal
from delta_models.outcomes import NoChange
from delta_models.schema import LONG, Struct, parse_schema, schema_string, struct
from delta_models.table.identity import identity_field
from delta_models.values import Rows
from tests.mutants import stories
from tests.mutants.registry import trips
from tests.mutants.wrappers import WrongDraft, WrongOperation

SERIAL = identity_field("serial", 10, 5, explicit=False)
COUNTED = Struct((*stories.SCHEMA.fields, SERIAL))
COUNT = (ops.Create(COUNTED), stories.FILL, stories.FILL_MORE)
GIVE = (
    *COUNT,
    ops.Append(Rows(Struct((*stories.SCHEMA.fields, *struct(("serial", LONG)).fields)), ((9, "z", 0.5, 3),))),
)
ASSIGN = (*COUNT, ops.Update((("serial", Literal(LONG, 3)),), stories.SMALL))
GO_BACK = (*COUNT, ops.Restore(ops.AtState(1)), stories.FILL_MORE)


@trips("rules.identity-unique", COUNT)
class CountsFromTheStart(Reference):
    """The values of an identity column begin anew in each write."""

    def fill_identity_columns(self, table):
        return with_identity_values(table, lambda column: column.start)


@trips("rules.identity-beyond-the-mark", COUNT)
class CountsInFront(Reference):
    """The values of an identity column lie in front of the high-water mark."""

    def fill_identity_columns(self, table):
        return with_identity_values(table, lambda column: next_value(column) - 20 * column.step)


@trips("rules.identity-on-the-lattice", COUNT)
class CountsByOne(Reference):
    """The values of an identity column are one more than they should be."""

    def fill_identity_columns(self, table):
        return with_identity_values(table, lambda column: next_value(column) + 1)


@trips("rules.identity-mark-moves", COUNT)
class ForgetsTheMark(Reference):
    """The high-water mark stays where it was."""

    def fill_identity_columns(self, table):
        return replace(table, rows=with_identity_values(table).rows)


@trips("rules.identity-mark-stays", GO_BACK)
class RestoresTheMark(Reference):
    """A restore brings the high-water mark of its state back as well."""

    def publish(self, version, forms):
        restored = any(form.get("commitInfo", {}).get("operation") == "Restore" for form in forms)
        for form in forms:
            if restored and "metaData" in form:
                schema = parse_schema(form["metaData"]["schemaString"])
                old = with_newer_marks(schema, self.reader.snapshot(1).schema)
                form["metaData"]["schemaString"] = schema_string(old)
        super().publish(version, forms)


@trips("outcome.identity-given-refused", GIVE)
class TakesAnyNumber(WrongOperation):
    """A value for a column that is always generated is written."""

    def perform_wrongly(self, operation, snapshot, tag):
        if "serial" not in operation.rows.schema.names:
            return self.perform_honestly(operation, snapshot, tag)
        return self.write_rows(snapshot, *operation.rows.rows)


@trips("outcome.identity-update-refused", ASSIGN)
class UpdatesNumbers(WrongOperation):
    """An update of an identity column succeeds, and does nothing."""

    kind = ops.Update

    def perform_wrongly(self, operation, snapshot, tag):
        return NoChange()


@trips("write.schema", COUNT)
class ForgetsItsStep(WrongDraft):
    """An append changes the step of an identity column."""

    def bend(self, draft, operation, snapshot):
        for form in draft.others:
            if "metaData" in form:
                schema = json.loads(form["metaData"]["schemaString"])
                schema["fields"][-1]["metadata"]["delta.identity.step"] = 1
                form["metaData"]["schemaString"] = json.dumps(schema)
        return draft
