"""Reference tables that others made, read by the oracle and by engines, and judged by what others expected.

`cases` finds them in their layouts, `oracle` and `engines` answer, `expectations` and `reasons` compare, `running`
writes it down. What a table means stands in `delta_models`, how an engine is asked in `delta_adapters`, not here.
"""
