"""The process of a tool server: its pipes, its last output, and its end with all child processes."""

from __future__ import annotations

import logging
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from dataflow import SecretFilter
from dataflow.authoring import shortened
from dataflow_agent.diagnostics.servers import MESSAGE_TOO_LONG, SERVER_NOT_STARTED
from dataflow_agent.servers.launch import Launched, launch
from dataflow_agent.servers.results import ServerFailed

__all__ = ["ServerProcess"]

LOG: Final = logging.getLogger("dataflow.agent.servers")
LOG.addFilter(SecretFilter())
#: How long a process has to end by itself, and again after SIGTERM, in seconds.
GRACE: Final = 1.0
#: How long children may keep the pipes of an ended process open before they are killed.
LAST_WORDS_SECONDS: Final = 0.5
LAST_LINES: Final = 10
LINE_CHARACTERS: Final = 300
#: The longest line on standard error, in bytes.
MOST_LINE: Final = 64 * 2**10
BROKEN: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


class ServerProcess:
    """A process that speaks MCP over standard input and output, in its own process group."""

    def __init__(
        self,
        server: str,
        command: tuple[str, ...],
        env: dict[str, str],
        marks: dict[str, str],
        max_message: int,
    ) -> None:
        self.server = server
        self.ended = anyio.Event()  # and its last output is known
        self.has_closed = False  # its input or output, though the process may still run
        self.exit_code: int | None = None
        self._command = command
        self._env = env
        self._max_message = max_message  # in bytes
        self._marks = marks  # masks by the secret parts of the variables
        self._last: deque[str] = deque(maxlen=LAST_LINES)

    def describe_end(self) -> str:
        """Describe how it has ended, if that is known, and its last lines on standard error."""
        code = "" if self.exit_code is None else f"exit code {self.exit_code}"
        return "; ".join(text for text in (code, self.last_words) if text) or "nothing is known of its end"

    @property
    def last_words(self) -> str:
        """A description of its last lines on standard error; empty if it has written nothing."""
        return f"its last lines: {' | '.join(self._last)}" if self._last else ""

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Start it and exchange messages with it; at the end its whole process group is gone.

        Raises ServerFailed for a command that cannot be run.
        """
        launched = await self._launched()
        process = launched.process
        to_session, from_process = anyio.create_memory_object_stream[Any](0)
        to_process, from_session = anyio.create_memory_object_stream[Any](0)
        assert process.stdout is not None
        assert process.stderr is not None
        has_exited, has_said_all = anyio.Event(), anyio.Event()
        watching = anyio.CancelScope(shield=True)  # the end of the process is awaited also on cancellation
        with from_process, to_process:
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._read, process.stdout, to_session)
                    group.start_soon(self._write, process, from_session)
                    group.start_soon(self._listen, process.stderr, has_said_all)
                    group.start_soon(self._watch, launched, watching, has_exited, has_said_all)
                    try:
                        yield from_process, to_process
                    finally:
                        try:
                            with anyio.CancelScope(shield=True):
                                await _stop(process, has_exited, has_said_all)
                        finally:  # asyncio cancels a task again in spite of shields
                            _signal(process, signal.SIGKILL)
                            watching.cancel()
                            group.cancel_scope.cancel()
            finally:
                with anyio.move_on_after(GRACE, shield=True):
                    await launched.aclose()

    async def _launched(self) -> Launched:
        from mcp.client.stdio import get_default_environment  # loaded by now

        try:
            return await launch(self._command, {**get_default_environment(), **self._env})
        except OSError as error:
            reason = f"{error.strerror or type(error).__name__}: {self._command[0]!r}"
            raise ServerFailed(self.server, SERVER_NOT_STARTED(error=reason), is_lasting=True) from error

    async def _read(self, stdout: ByteReceiveStream, to_session: MemoryObjectSendStream[Any]) -> None:
        """Pass its messages on, warn of the first line that is not a message, and count the others.

        Raises ServerFailed for a line that is too long.
        """
        odd = 0
        try:
            with to_session, self._closing(), suppress(*BROKEN):
                lines = _Lines()
                async for chunk in stdout:
                    complete = lines.of(chunk)
                    if max(lines.size, *map(len, complete), 0) > self._max_message:
                        problem = MESSAGE_TOO_LONG(most=self._max_message)
                        raise ServerFailed(self.server, problem, is_lasting=True)
                    for line in complete:
                        message = _message(line)
                        if message is not None:
                            await to_session.send(message)
                        elif line.strip():
                            odd += 1
                            self._note_odd(line, odd)
        finally:
            if odd > 1:
                LOG.warning("tool server %r wrote %d lines that are not messages", self.server, odd)

    def _note_odd(self, line: bytes, count: int) -> None:
        """Warn of a line that is not a message, of further ones only to who debugs."""
        level = logging.WARNING if count == 1 else logging.DEBUG
        if LOG.isEnabledFor(level):
            text = "tool server %r wrote a line that is not a message: %r"
            LOG.log(level, text, self.server, self._shown(line))

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """Record the end of the block before the session notices it."""
        try:
            yield
        finally:
            self.has_closed = True

    async def _write(self, process: Process, from_session: MemoryObjectReceiveStream[Any]) -> None:
        assert process.stdin is not None
        with from_session, self._closing(), suppress(*BROKEN):
            async for one in from_session:
                written = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{written}\n".encode())

    async def _listen(self, stderr: ByteReceiveStream, has_said_all: anyio.Event) -> None:
        """Keep the last lines of its standard error."""
        lines = _Lines()
        try:
            async for chunk in stderr:
                self._keep(lines.of(chunk))
                if lines.size > MOST_LINE:  # shown in part, it could show a part of a secret
                    lines.leave_out(f"[a line of more than {MOST_LINE:,} bytes]".encode())
            self._keep([lines.rest])
        except BROKEN:
            LOG.debug("tool server %r: its standard error is closed", self.server)
        finally:
            has_said_all.set()

    def _shown(self, line: bytes) -> str:
        """Return a line without secrets, shortened afterwards: a part of a secret is not recognized."""
        text = line.decode(errors="replace")
        for hidden in sorted(self._marks, key=len, reverse=True):
            text = text.replace(hidden, self._marks[hidden])
        return shortened(text, LINE_CHARACTERS)

    def _keep(self, lines: list[bytes]) -> None:
        for line in lines:
            text = self._shown(line).strip()
            if text:
                self._last.append(text)
                LOG.debug("tool server %r: %s", self.server, text)

    async def _watch(
        self,
        launched: Launched,
        scope: anyio.CancelScope,
        has_exited: anyio.Event,
        has_said_all: anyio.Event,
    ) -> None:
        """Wait for its end, end its remaining children, and record the exit code."""
        process = launched.process
        with scope:
            await launched.end()
            _signal(process, signal.SIGTERM)
            with anyio.move_on_after(LAST_WORDS_SECONDS):
                await has_said_all.wait()
            _signal(process, signal.SIGKILL)
            with anyio.move_on_after(GRACE):
                await process.wait()
            self.exit_code = process.returncode
            has_exited.set()
            self.ended.set()


class _Lines:
    """Splits the chunks of a stream into lines."""

    def __init__(self) -> None:
        self.size = 0  # of the incomplete last line
        self._begun: list[bytes] = []
        self._is_left_out = False

    def of(self, chunk: bytes) -> list[bytes]:
        """Return the lines that another chunk completes."""
        first, *more = chunk.split(b"\n")
        if not self._is_left_out:
            self._begun.append(first)
            self.size += len(first)
        if not more:
            return []
        lines = [b"".join(self._begun), *more]
        self._begun = [lines.pop()]
        self.size, self._is_left_out = len(self._begun[0]), False
        return lines

    def leave_out(self, notice: bytes) -> None:
        """Replace the incomplete last line, with all that follows of it, by a notice."""
        self._begun, self.size, self._is_left_out = [notice], 0, True

    @property
    def rest(self) -> bytes:
        """The incomplete last line."""
        return b"".join(self._begun)


def _message(line: bytes) -> Any:
    from mcp.shared.message import SessionMessage  # loaded by now
    from mcp_types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None


async def _stop(process: Process, has_exited: anyio.Event, has_said_all: anyio.Event) -> None:
    """Let a process end by itself, else send SIGTERM, then SIGKILL; a watcher then ends the rest."""
    assert process.stdin is not None
    with suppress(*BROKEN):
        await process.stdin.aclose()
    for number in (signal.SIGTERM, signal.SIGKILL):
        with anyio.move_on_after(GRACE):
            await has_exited.wait()
        if has_exited.is_set():
            break
        _signal(process, number)
    with anyio.move_on_after(GRACE):
        await has_exited.wait()
        await has_said_all.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    """Send a signal to the process group if it still exists: of the watcher, or of a server without one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
