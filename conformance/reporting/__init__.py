"""Reporting: what becomes of a run's events.

`recorder` records a run. `event_log` writes and reads its events. `aggregation` sums them up into `results`, with a
claim for each requirement, engine and setting (`claims`), and `exit_status` decides the verdict. The reports show the
results: `terminal` on the screen, `html`, `markdown`, `junit` and `summary_json` in the run's folder (`formats`).
"""
