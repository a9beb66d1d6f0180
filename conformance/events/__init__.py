"""Events: what a run emits, and all that it emits.

`types` holds the events themselves, frozen values without behaviour. `serialization` reads and writes their JSON form:
one line of `events.jsonl` is one event. `bus` hands each event to every listener, in this process.
"""
