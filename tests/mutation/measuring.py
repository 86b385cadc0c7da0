"""Mutants side by side: a few processes share them and report what became of each."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.mutation.mutants import Mutant, change_of
from tests.mutation.playing import CAUGHT, Player
from tests.mutation.sources import Change, Site

Given = TypeVar("Given")
Made = TypeVar("Made")


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


class Fate(StrEnum):
    """What became of a mutant."""

    CAUGHT = "caught"
    SURVIVES = "survives"
    EQUIVALENT = "equivalent"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Played:
    """A mutant, what became of it and how long that took."""

    mutant: Mutant
    fate: Fate
    change: Change | None = None
    seconds: float = 0.0


class Measuring:
    """A plugin that plays mutants where pytest would run what it collected."""

    def __init__(self, mutants: Sequence[Mutant], jobs: int, *, searches: bool) -> None:
        self._jobs = jobs
        self._searches = searches
        self.played = [Played(mutant, Fate.GONE) for mutant in mutants]  # until they are played

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run no test in this process, so that each fork of it begins afresh."""
        with tempfile.TemporaryDirectory() as folder:
            player = Player(session.items, Path(folder))
            session.config.pluginmanager.register(player)
            self._play(partial(_play, player))
            if self._searches:
                self._search(player)
        return True

    def _search(self, player: Player) -> None:
        """Look for tests that catch the mutants that survive so far."""
        changes = {
            key: one.change
            for key, one in enumerate(self.played)
            if one.change is not None and one.fate is Fate.SURVIVES
        }
        tests = list(player.items)
        share = -(-len(tests) // self._jobs)
        parts = [tests[first : first + share] for first in range(0, len(tests), share)]
        watched = _side_by_side(partial(player.watch, changes), parts, self._jobs)
        passed = {test: found for part in watched for test, found in part.items()}
        say(f"without a mutant {len(passed)} of {len(tests)} tests pass")
        through = {
            change.site: {test: found.seconds for test, found in passed.items() if key in found.through}
            for key, change in changes.items()
        }
        self._play(partial(_search, player, through))

    def _play(self, play: Callable[[Played], Played]) -> None:
        played = []
        for one in _side_by_side(play, self.played, self._jobs):
            say(f"{one.fate}: {one.mutant} ({one.seconds:.1f} s)")
            played.append(one)
        self.played = played


def _play(player: Player, one: Played) -> Played:
    """Try the tests that are known to catch a mutant."""
    begun = time.monotonic()
    if one.mutant.equivalent:
        return replace(one, fate=Fate.EQUIVALENT)
    change = change_of(one.mutant)
    if change is None:
        return replace(one, fate=Fate.GONE)
    known = [test for test in one.mutant.caught_by if test in player.items]
    is_caught = any(player.catch(change, test) in CAUGHT for test in known)
    fate = Fate.CAUGHT if is_caught else Fate.SURVIVES
    return replace(one, fate=fate, change=change, seconds=time.monotonic() - begun)


def _search(player: Player, through: dict[Site, dict[str, float]], one: Played) -> Played:
    """Look for tests that catch a mutant among those that pass through its place."""
    if one.change is None or one.fate is not Fate.SURVIVES:
        return one
    begun = time.monotonic()
    caught_by = tuple(player.search(one.change, through[one.change.site]))
    fate = Fate.CAUGHT if caught_by else Fate.SURVIVES
    known = caught_by or one.mutant.caught_by  # what is lost stays lost
    mutant = replace(one.mutant, site=one.change.site, line=one.change.line, caught_by=known)
    return replace(one, mutant=mutant, fate=fate, seconds=time.monotonic() - begun)


_work: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any], folder: str) -> None:
    """Prepare a process for its work, in silence and with temporary files of its own."""
    global _work  # noqa: PLW0603  # a pool hands over only what can be pickled
    _work = work
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = folder


def _call(given: Any) -> Any:
    return _work(given)


def _side_by_side(work: Callable[[Given], Made], given: Iterable[Given], jobs: int) -> Iterator[Made]:
    """Yield what a function makes of each thing, in order, from so many forks of this process."""
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("fork").Pool(jobs, _begin, (work, folder)) as pool,
    ):
        yield from pool.imap(_call, given)
