"""Which rows fit a table, and how they are cast."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.expressions import Literal
from delta_models.outcomes import Rejected
from delta_models.schema import (
    INTEGER,
    LONG,
    STRING,
    struct,
)  # fmt: skip
from delta_models.values import Rows
from tests.models.table.nested_rows import (
    INNER,
    kinds,
    model_history,
)


class TestCasts:
    def test_values_of_other_types_are_cast_or_refused(self) -> None:
        source = struct(("id", LONG), ("part", INTEGER), ("inner", INNER))
        ends = model_history().expect(ops.Append(Rows(source, ((3, 4, None),))))
        assert ends.ordinary.table.rows[-1] == (3, "4", None)
        assert ends.fitting_outcomes(Rejected("schema"), 0)

    def test_what_does_not_fit_is_refused_and_never_cut(self) -> None:
        source = struct(("id", LONG), ("part", STRING), ("inner", INNER))
        assert "Committed" not in kinds(model_history(), ops.Append(Rows(source, ((2**31, None, None),))))
        assert "Committed" not in kinds(model_history(), ops.Update((("id", Literal(LONG, 2**31)),)))
