"""Start the process of a tool server under a watcher, which ends everything that the server starts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from dataflow_agent.servers import watcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyio.abc import Process

__all__ = ["Launched", "launch"]

#: A Python for the watcher, without the packages of the environment.
PYTHON: Final = ("-I", "-S", watcher.__file__)


@dataclass(frozen=True, slots=True)
class Launched:
    """A process that was started.

    lifeline: readable when the process and everything that it has started have ended; closing it ends them.
        None without a watcher: then only the process group of the server can be ended.
    """

    process: Process
    lifeline: socket.socket | None

    async def end(self) -> None:
        """Wait for the end of everything."""
        await _end_of(self.process)
        if self.lifeline is not None:
            await anyio.wait_readable(self.lifeline)

    async def aclose(self) -> None:
        """Close the pipes and wait for the process; kills it when that is cancelled."""
        if self.lifeline is not None:
            self.lifeline.close()
        await self.process.aclose()


async def launch(command: Sequence[str], env: dict[str, str]) -> Launched:
    """Start a command with these variables only, in a separate session; raises OSError if it cannot be."""
    if getattr(sys, "frozen", False) or not sys.executable:  # the executable is no Python
        return Launched(await _opened(command, env), None)
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    own = {f"{watcher.PREFIX}{name}": text for name, text in env.items()}
    try:
        with theirs:
            words = (sys.executable, *PYTHON, str(theirs.fileno()), *command)
            process = await _opened(words, {**os.environ, **own}, theirs.fileno())
    except BaseException:
        ours.close()
        raise
    launched = Launched(process, ours)
    try:
        await anyio.wait_readable(ours)
        number = int(ours.recv(16) or 0)  # none if the watcher has failed, which its last lines say
        if number:
            raise OSError(number, os.strerror(number))
    except BaseException:
        with anyio.CancelScope(shield=True):
            process.kill()
            await launched.aclose()
        raise
    return launched


async def _opened(command: Sequence[str], env: dict[str, str], *descriptors: int) -> Process:
    return await anyio.open_process(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
        pass_fds=descriptors,
    )


async def _end_of(process: Process) -> None:
    """Wait for the end of the process itself: children may keep its pipes open."""
    if not hasattr(os, "pidfd_open"):
        await process.wait()
        return
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)
