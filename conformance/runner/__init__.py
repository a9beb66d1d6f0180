"""The processes of a run: a coordinator, its workers, and what they send each other.

`coordinator` runs in the process of the command line. It starts a `worker_process` for each job and sends it chunks.
`worker` is the program of that process. `context` builds what the suites play with, for a worker and for pytest, and
`chunk` plays one chunk. `header` is the first event of a run.
"""
