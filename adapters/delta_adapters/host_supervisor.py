"""The program of a host supervisor: start one host, keep its logs, and leave nothing of it alive.

The harness' own interpreter runs it as a script, with the standard library only. It becomes a session leader and a
child subreaper, starts the host, and keeps the host's stdout and stderr in files of limited length. It ends when the
host ends, or when the control pipe closes: the host client closes it, or the harness is gone. Before it ends, it kills
every descendant and waits until none is left. Then it reports one line of JSON.

Where there is no subreaper (not Linux), it kills the host's process group instead, and says so in the report.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

LINUX = sys.platform.startswith("linux")
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_CHUNK = 1 << 16


class CappedLog:
    """A file of at most `cap` bytes. Its predecessor stays beside it as `.1`, so the newest bytes are always kept."""

    def __init__(self, path: Path, cap: int) -> None:
        self._path = path
        self._cap = cap
        self._length = 0
        self._file = path.open("wb", buffering=0)

    def write(self, data: bytes) -> None:
        """Append data. A full disk loses log lines, never the host."""
        if self._length + len(data) > self._cap:
            self._path.replace(self._path.with_name(self._path.name + ".1"))
            self._file.close()
            self._file = self._path.open("wb", buffering=0)
            self._length = 0
        with contextlib.suppress(OSError):
            self._file.write(data)
            self._length += len(data)


class HostSupervisor:
    """One host and everything that descends from it."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._control: int = config["control"]
        self._status: int = config["status"]
        for descriptor in (self._control, self._status, *config["pass"]):
            os.set_inheritable(descriptor, False)
        self._logs: dict[int, CappedLog] = {}
        self._killed = 0
        self._exit: int | None = None
        self._contained = LINUX and _subreaper()
        self._wake, write_end = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(write_end, False)
        signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        self._host = self._start(config)

    def run(self) -> None:
        """Watch the host until its end, kill what is left, and report."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        for log in self._logs:
            poll.register(log, select.POLLIN)
        stop_requested = False
        while not stop_requested and self._exit is None:
            for fd, _ in poll.poll():
                if fd == self._control:
                    stop_requested = True
                elif fd == self._wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake, 512)
                    self._reap()
                elif not self._pump(fd):
                    poll.unregister(fd)
        self._kill_all()
        for fd in list(self._logs):
            while self._pump(fd):
                pass
        report = {
            "exit": self._exit,
            "asked": stop_requested,
            "killed": self._killed,
            "containment": "descendants" if self._contained else "process group",
        }
        with contextlib.suppress(BrokenPipeError):
            os.write(self._status, json.dumps(report).encode() + b"\n")

    def _start(self, config: dict[str, Any]) -> int:
        writers = []
        for name in ("stdout", "stderr"):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            self._logs[reader] = CappedLog(Path(config[name]), config["cap"])
            writers.append(writer)
        supervisor = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                if self._contained:
                    _die_with_parent(supervisor)
                else:
                    os.setpgid(0, 0)
                if config["stdio"]:
                    standard = (*config["pass"], writers[1])
                else:
                    standard = (os.open(os.devnull, os.O_RDONLY), *writers)
                    for descriptor in config["pass"]:
                        os.set_inheritable(descriptor, True)
                for target, source in enumerate(standard):
                    os.dup2(source, target)
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)
                os.chdir(config["cwd"])
                os.execve(config["argv"][0], config["argv"], config["env"])  # noqa: S606 - no shell may stand in between
            except OSError as error:
                os.write(2, f"can't start {config['argv'][0]}: {error}\n".encode())
            finally:
                os._exit(127)
        for descriptor in (*writers, *config["pass"]):
            os.close(descriptor)
        return pid

    def _pump(self, fd: int) -> bool:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            return False
        self._logs[fd].write(data)
        return True

    def _reap(self) -> bool:
        """Reap every child that has ended, and return whether any is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self._note(pid, status)

    def _note(self, pid: int, status: int) -> None:
        if pid == self._host:
            self._exit = os.waitstatus_to_exitcode(status)

    def _kill_all(self) -> None:
        """Kill every descendant. Orphans become children of the subreaper, so it is done when no child is left."""
        if not self._contained:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._host, signal.SIGKILL)
        while self._reap():
            for pid in descendants(os.getpid()) if self._contained else [self._host]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self._killed += 1
            with contextlib.suppress(ChildProcessError):
                self._note(*os.waitpid(-1, 0))


def descendants(root: int) -> list[int]:
    """Return the id of every living process below `root`, from /proc."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - hundreds of names, and hot while killing
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123 - many, and hot while killing
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state != b"Z":
                children.setdefault(int(parent), []).append(int(entry))
    living, frontier = [], [root]
    while frontier:
        below = children.get(frontier.pop(), [])
        living += below
        frontier += below
    return living


def session_gives_way() -> None:
    """Give this session the niceness of this process.

    Linux may group processes by their sessions. Then a process' niceness counts only within its own session.
    """
    with contextlib.suppress(OSError):  # there are no such groups: niceness counts by itself
        Path("/proc/self/autogroup").write_text(str(os.nice(0)), encoding="ascii")


def _prctl(option: int, argument: int) -> int:
    import ctypes  # noqa: PLC0415 - exists in odd builds of Python only, and only Linux needs it

    return int(ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0))


def _subreaper() -> bool:
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1) == 0


def _die_with_parent(parent: int) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(127)


def main() -> None:
    """Read the configuration from standard input and supervise one host."""
    config = json.loads(sys.stdin.buffer.read())
    os.setsid()
    session_gives_way()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    HostSupervisor(config).run()
    os._exit(0)


if __name__ == "__main__":
    main()
