"""Keeping: what an engine does for a run that lives in a store: it pauses, is answered and ends there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from dataflow.base.backend import new_event
from dataflow.errors import AnswerRefused, DataflowError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.base.backend import Event
    from dataflow.core.states import RunStatus
    from dataflow.runtime.engine import Engine
    from dataflow.scheduler.asks import ReadAnswer
    from dataflow.stores.store import Answer

__all__ = ["Keeping"]


class Keeping:
    """The part of an engine that sees to the store of its run."""

    def __init__(self, engine: Engine) -> None:
        recording = engine.scheduler.recording
        assert recording is not None, "the run lives in a store"
        self.recording = recording
        self.broken: BaseException | None = None  # what kept the run from being written
        self.is_pausing = False  # it is being found out whether the run may pause
        self._engine = engine
        self._decided: Event | None = None  # that it is found out
        self._arrived = set(recording.arrived)  # asks whose answers in the inbox were seen
        recording.journal.attend(self._committed, self.cannot_write)
        recording.on_refused = self.cannot_write

    def pause(self, told: Mapping[str, Any]) -> None:
        """Find out whether the run may pause, and let it (S11.2)."""
        self.is_pausing, self._decided = True, new_event()
        self._engine.spawn(partial(self._pause, told))

    async def decided(self) -> None:
        """Wait until it is found out whether the run may pause."""
        while self.is_pausing and self._decided is not None:
            await self._decided.wait()

    async def _pause(self, told: Mapping[str, Any]) -> None:
        engine = self._engine
        assert self._decided is not None, "it is being found out"
        answers: Sequence[Answer] = ()
        with anyio.CancelScope(shield=True):
            try:
                answers = await self.recording.pause(told)
            except DataflowError as error:
                self.broken = self.broken or error
            goes_on = bool(answers) or self.broken is not None or engine.cancel_reason is not None
            if not goes_on:
                engine.note_paused()
                await self.close()
            self.is_pausing = False
        if goes_on:
            engine.scheduler.timing.go_on()
            self._go_on(answers)
        else:
            engine.end_paused()
        self._decided.set()

    def _go_on(self, answers: Sequence[Answer]) -> None:
        """Go on after all, with the answers from the inbox, or to the end."""
        engine = self._engine
        if self.broken is not None:
            engine.stop("what it did could not be stored")
        elif engine.cancel_reason is not None:
            engine.stop(engine.cancel_reason)
        elif not self._take(answers):
            engine.look_around()

    def _committed(self, seq: int, answers: Sequence[Answer]) -> None:
        self.recording.committed(seq)
        self._arrived &= {answer.ask for answer in answers}  # what has left the inbox may be answered anew
        if self.is_pausing or self._engine.has_concluded:  # answers keep it from pausing, and are taken then
            return
        if answers:
            self._take(answers)

    def _take(self, answers: Sequence[Answer]) -> bool:
        """Take what has come in the inbox, each once; tells whether any of it was an answer."""
        taken: dict[str, ReadAnswer] = {}
        for answer in answers:
            if answer.ask in self._arrived:
                continue
            self._arrived.add(answer.ask)
            try:
                read = self._engine.scheduler.asking.read_json(answer.ask, answer.value, answer.by)
                taken[answer.ask] = read
            except AnswerRefused as error:
                self._engine.scheduler.warn("", "answer_refused", str(error), taken=[answer.ask])
        if taken:
            self._engine.take(taken)
        return bool(taken)

    def cannot_write(self, error: BaseException) -> None:
        """End a run that cannot be written any more; in its store it stays as it was."""
        if self.broken is None:
            self.broken = error
            self._engine.stop("what it did could not be stored")

    async def end(self, status: RunStatus) -> None:
        """End the sitting once all of it is written, and give the run up."""
        await self.close()
        self._engine.end(status)

    async def close(self) -> None:
        """Write what is left and give the run up, whoever is being cancelled."""
        with anyio.CancelScope(shield=True):
            try:
                await self.recording.journal.close()
            except DataflowError as error:
                self.broken = self.broken or error
