"""Corpora: reference tables that others made, with the rows, the metadata and the errors that they expect.

`cases` finds the questions below a folder, in the layouts of the corpora. The `oracle` (our model) or an engine
(`engine_reader`) answers them. `expectations`, `expected_states` and `rejection_reasons` compare the answers with what
the corpus expects. `runner` asks all questions and writes the results.
"""
