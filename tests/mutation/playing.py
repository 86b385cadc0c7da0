"""Tests against mutants: pytest collects once, then each mutant is tried in a fork of that process."""

from __future__ import annotations

import builtins
import faulthandler
import gc
import os
import signal
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from math import inf
from pathlib import Path
from types import CodeType, FunctionType
from typing import Final

import pytest
from cosmic_ray.exceptions import CosmicRayTestingException

from tests.mutation.sources import Change, Source, mark

#: A test hangs after so many seconds, if it passes in that time without a change; else it gets more of them.
HANGS_AFTER: Final = (5.0, 20.0, 60.0)
#: And is given up after so many where tests are watched.
LONGEST: Final = 600.0
#: So many seconds are spent on the tests that pass through a mutant.
SEARCHED_FOR: Final = 150.0
#: And on further tests once one is found.
SEARCHED_FOR_MORE: Final = 20.0
#: So many tests are kept for a mutant, each of another file.
KEPT: Final = 3


class End(Enum):
    """How tests ended in a fork: its exit code."""

    PASSED = 0
    FAILED = 3
    OUT_OF_TIME = 4
    BROKEN = 5
    HUNG = 6


CAUGHT: Final = (End.FAILED, End.HUNG)


@dataclass(frozen=True, slots=True)
class Tried:
    """How tests ended, and the last that ran."""

    end: End
    last: int = 0


@dataclass(frozen=True, slots=True)
class Passed:
    """How long a test takes, and the places of mutants that it passes through."""

    seconds: float
    through: frozenset[int]


class Player:
    """Runs collected tests in forks, with a change in place."""

    def __init__(self, items: Sequence[pytest.Item], folder: Path) -> None:
        self.items = {item.nodeid: item for item in items}
        self._folder = folder
        self._functions: defaultdict[tuple[str, str], list[FunctionType]] = defaultdict(list)
        self._failed = False
        for found in gc.get_objects():
            if type(found) is FunctionType:
                code = found.__code__
                self._functions[code.co_filename, code.co_qualname].append(found)

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure, as one of pytest's plugins."""
        self._failed |= report.failed

    def try_tests(
        self, change: Change | None, tests: Sequence[str], hangs_after: float, limit: float = inf
    ) -> Tried:
        """Run tests one after the other in a fork until one fails, hangs or the time is up."""
        until = time.monotonic() + limit

        def run() -> int:
            vars(builtins)[CosmicRayTestingException.__name__] = CosmicRayTestingException
            if change is not None:
                self._replace(change.file, {change.site.function: change.code})
            with log.open("wb", buffering=0) as file:
                for index, test in enumerate(tests):
                    file.write(b".")
                    if self._fails(test, tests[index + 1 : index + 2], hangs_after):
                        return End.FAILED.value
                    if time.monotonic() > until:
                        return End.OUT_OF_TIME.value
            return End.PASSED.value

        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            log = Path(folder, "log")
            code = _fork(run, Path(folder))
            last = len(log.read_bytes()) - 1 if log.exists() else 0
        assert code != End.BROKEN.value, f"{change} cannot be tried"
        return Tried(End(code) if code in {end.value for end in End} else End.HUNG, last)

    def _replace(self, file: Path, codes: dict[str, CodeType]) -> None:
        for name, code in codes.items():
            functions = self._functions[str(file), name]
            assert functions, f"{file} has no function {name}"
            for function in functions:
                function.__code__ = code

    def _fails(self, test: str, following: Sequence[str], hangs_after: float) -> bool:
        self._failed = False
        faulthandler.dump_traceback_later(hangs_after, exit=True)
        item, after = self.items[test], [self.items[name] for name in following]
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after[0] if after else None)
        except (pytest.exit.Exception, KeyboardInterrupt):
            self._failed = True
        faulthandler.cancel_dump_traceback_later()
        return self._failed

    def watch(self, changes: dict[int, Change], tests: Sequence[str]) -> dict[str, Passed]:
        """Run tests, and return for each that passes which of the changes' places it passes through."""
        found: dict[str, Passed] = {}
        hits: set[int] = set()
        vars(builtins)["__mark__"] = hits.add
        for file in {change.file for change in changes.values()}:
            sites = {key: change.site for key, change in changes.items() if change.file == file}
            self._replace(file, mark(Source(file), sites))
        for index, test in enumerate(tests):
            hits.clear()
            begun = time.perf_counter()
            if not self._fails(test, tests[index + 1 : index + 2], LONGEST):
                found[test] = Passed(time.perf_counter() - begun, frozenset(hits))
        return found

    def catch(self, change: Change, test: str) -> End:
        """Return whether a test that passes without a change fails with it, or hangs."""
        for hangs_after in HANGS_AFTER:
            end = self.try_tests(change, [test], hangs_after).end
            if end is End.PASSED or self.try_tests(None, [test], hangs_after).end is End.PASSED:
                return end
        return End.PASSED

    def search(self, change: Change, passed: dict[str, float]) -> list[str]:
        """Return tests of different files that fail with a change, each alone, and pass without it.

        Those that hang take long each time, so they are returned only where no other is found.
        """
        tests, failing, hanging = _in_turn(passed), list[str](), list[str]()
        until = time.monotonic() + SEARCHED_FOR
        while tests and len(failing) < KEPT > len(hanging) and (left := until - time.monotonic()) > 0:
            tried = self.try_tests(change, tests, HANGS_AFTER[1], left)
            if tried.end not in CAUGHT:
                break
            test, tests = tests[tried.last], tests[tried.last + 1 :]
            alone = self.catch(change, test)
            if alone in CAUGHT:
                (failing if alone is End.FAILED else hanging).append(test)
                tests = [other for other in tests if _file_of(other) != _file_of(test)]
                until = min(until, time.monotonic() + SEARCHED_FOR_MORE)
        return failing or hanging[:1]


def _fork(run: Callable[[], int], folder: Path) -> int:
    """Run a function in a fork with temporary files of its own; return its exit code."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):  # what tests started and left running
            os.killpg(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(status)
    code = End.BROKEN.value
    try:
        os.setpgid(0, 0)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = str(folder)
        code = run()
    finally:
        os._exit(code)


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _in_turn(passed: dict[str, float]) -> list[str]:
    """Order tests: the quickest of each file, then the second of each."""
    rank: Counter[str] = Counter()
    turns: list[tuple[int, float, str]] = []
    for test in sorted(passed, key=lambda test: passed[test]):
        turns.append((rank[_file_of(test)], passed[test], test))
        rank[_file_of(test)] += 1
    return [test for *_, test in sorted(turns)]
