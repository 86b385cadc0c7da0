"""Watch a tool server: when it or its client ends, end everything that it has started.

A program that is run as a file, by `launch`: watcher.py DESCRIPTOR COMMAND..., with the variables of the
server under names that begin with `PREFIX`. It imports nothing but small modules of the standard library, and
copies no data: the server has its standard streams.

It is two processes. The client knows the first, which only waits, so that whatever ends that one, SIGKILL
included, leaves the second to do its work. DESCRIPTOR is a socket that the client holds the other end of: the
error number of the start is written there, 0 for none, and it is closed when nothing is left.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # `typing` takes longer to load than this module to start a server
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

__all__ = ["PREFIX", "main"]

#: What the names of the server's variables begin with; the others are those of the watcher itself.
PREFIX = "server:"
#: How long processes have to end after SIGTERM, and after SIGKILL, in seconds.
GRACE = 1.0
#: Options of prctl(2).
SET_DEATH_SIGNAL, SET_DUMPABLE, SET_SUBREAPER = 1, 4, 36
IS_LINUX = sys.platform == "linux"


def main(arguments: Sequence[str]) -> NoReturn:
    """Start the server and watch it; end with its exit code, or by the signal that has ended it."""
    report = int(arguments[0])
    os.set_inheritable(report, False)
    reading, writing = os.pipe()  # its other end is closed when this process ends
    lifelines = [report, reading, *descriptors_of(os.getppid())]
    second = os.fork()
    if second:
        os.close(report)
        leave_streams()
        end_like(os.waitpid(second, 0)[1])
    os.close(writing)
    os.setsid()
    set_option(SET_SUBREAPER, 1)
    end_like(Watcher(lifelines).watch(report, arguments[1:]))


def descriptors_of(pid: int) -> list[int]:
    """Return a descriptor that is readable when a process has ended, where the system has them.

    The socket does not suffice: processes that the client has forked may hold its other end.
    """
    if sys.platform != "linux":
        return []
    try:
        return [os.pidfd_open(pid)]
    except OSError:  # forbidden in some containers
        return []


class Watcher:
    """What the second process does."""

    def __init__(self, lifelines: Sequence[int]) -> None:
        self._lifelines = lifelines
        self._server = 0
        self._status: int | None = None  # of the server, as `waitpid` returns it
        self._woken, waking = os.pipe()
        for end in (self._woken, waking):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)

    def watch(self, report: int, command: Sequence[str]) -> int:
        """Start the server, and return its status once nothing of it is left."""
        self._server, problem = start(command)
        leave_streams()
        try:
            os.write(report, b"%d" % problem)
        except OSError:  # the client has ended
            self._end_all()
        poll = select.poll()
        for descriptor in (*self._lifelines, self._woken):
            poll.register(descriptor, select.POLLIN)
        while self._status is None:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if signal.SIGTERM in self._reaped() or ready - {self._woken}:
                break
        self._end_all()
        return self._status or 0

    def _end_all(self) -> None:
        """Send SIGTERM to everything that is left, and SIGKILL until nothing is."""
        woken = select.poll()
        woken.register(self._woken, select.POLLIN)
        for number in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + GRACE
            is_first = True
            while left := list(self._left()):
                for pid in left if is_first or number == signal.SIGKILL else ():
                    send(pid, number)
                is_first = False
                if (seconds := until - time.monotonic()) <= 0:
                    break
                woken.poll(seconds * 1000)
                self._reaped()

    def _reaped(self) -> bytes:
        """Wait for the children that have ended; returns the numbers of the signals since the last call."""
        try:
            numbers = os.read(self._woken, 4096)
        except BlockingIOError:
            numbers = b""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._server:
                    self._status = ended[1]
        except ChildProcessError:
            return numbers
        return numbers

    def _left(self) -> Iterator[int]:
        """Yield the processes that are left, as `kill` takes them: without /proc, the group of the server."""
        if IS_LINUX and (parents := parents_of_all()):
            below = {os.getpid()}
            while below:
                below = {pid for pid, parent in parents.items() if parent in below}
                yield from below
        elif send(-self._server, 0):
            yield -self._server


def start(command: Sequence[str]) -> tuple[int, int]:
    """Start the server in its own session; returns its process id, and an error number or 0."""
    environ = {
        name.removeprefix(PREFIX): text for name, text in os.environ.items() if name.startswith(PREFIX)
    }
    reading, writing = os.pipe()  # closed when the program of the server is executed
    pid = os.fork()
    if not pid:
        try:
            os.setsid()
            set_option(SET_DEATH_SIGNAL, signal.SIGKILL)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(command[0], [*command], environ)  # noqa: S606 - as it is described
        except OSError as error:
            os.write(writing, b"%d" % (error.errno or 0))
        finally:
            os._exit(127)
    os.close(writing)
    return pid, int(os.read(reading, 16) or 0)


def parents_of_all() -> dict[int, int]:
    """Return the parent of each process; none where there is no /proc."""
    parents = {}
    try:
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - pathlib is large
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                    parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
            except OSError:  # it has ended
                continue
    except OSError:
        return {}
    return parents


def send(pid: int, number: int) -> bool:
    """Send a signal; returns whether the process, or a group for a negative id, is there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


def set_option(option: int, value: int) -> None:
    """Set an option of this process, on Linux."""
    if IS_LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def leave_streams() -> None:
    """Close the standard streams, so that the server alone has them."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.close(null)


def end_like(status: int) -> NoReturn:
    """End as another process has ended, without a core file."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        set_option(SET_DUMPABLE, 0)
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
