"""Rules that hold for a whole session of tests.

An async test runs on asyncio, on trio too if both_loops.txt names it; tests that deep.txt names are marked
as deep, and left out by default; only tests that allowed_skips.txt names may skip.
"""

from __future__ import annotations

import os
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Final

import pytest

#: Below pytest's root folder.
ALLOWED_SKIPS: Final = "tests/allowed_skips.txt"
BOTH_LOOPS: Final = "tests/both_loops.txt"
DEEP: Final = "tests/deep.txt"

MOST_WORKERS: Final = 4

NAMED: Final = pytest.StashKey[tuple[str, ...]]()


def read_reasons(text: str) -> dict[str, str]:
    """Return the reason for each beginning of a test id; raise ValueError for a line without a reason."""
    reasons = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        prefix, _, reason = line.partition(" ")
        if not reason.strip():
            raise ValueError(f"line {number}: {prefix} has no reason")
        reasons[prefix] = reason.strip()
    return reasons


class SessionRules:
    """Count what skipped, and fail the session if it broke a rule."""

    def __init__(self, allowed: dict[str, str]) -> None:
        self.allowed = allowed
        self.skipped: list[str] = []
        self.broken: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count a module that skips itself."""
        self._count_skip(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that skips; an expected failure is none."""
        if not hasattr(report, "wasxfail"):
            self._count_skip(report)

    def _count_skip(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        if report.skipped and not report.nodeid.startswith(tuple(self.allowed)):
            self.skipped.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn a session that passed into one that failed if a rule was broken."""
        if session.config.option.collectonly:
            return
        self.broken += [f"{test} skipped, and {ALLOWED_SKIPS} does not name it" for test in self.skipped]
        if self.broken and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which rules were broken."""
        if self.broken:
            terminalreporter.section("rules of the session", red=True)
            for line in self.broken:
                terminalreporter.line(line, red=True)


def _read_list(config: pytest.Config, name: str) -> dict[str, str]:
    return read_reasons((config.rootpath / name).read_text(encoding="utf-8"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--both-loops", action="store_true", help="run every async test on asyncio and on trio")
    parser.addoption("--backwards", action="store_true", help="run the last test first")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SessionRules(_read_list(config, ALLOWED_SKIPS)), "session-rules")
    config.stash[NAMED] = ("",) if config.option.both_loops else tuple(_read_list(config, BOTH_LOOPS))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the modules of which every test is deep: they may need more than is installed."""
    if config.option.markexpr != "not deep":
        return None
    whole = [prefix.removesuffix("::") for prefix in _read_list(config, DEEP) if prefix.endswith(".py::")]
    return True if collection_path.as_posix().endswith(tuple(whole)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> None:
    """Mark each coroutine test before AnyIO's own hook looks for the mark."""
    if collector.istestfunction(obj, name):
        inner = getattr(getattr(obj, "hypothesis", None), "inner_test", obj)
        if iscoroutinefunction(inner):
            pytest.mark.anyio(obj)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the event loops of a test that does not choose them itself, before pytest reads its marks."""
    test = metafunc.definition
    marks = test.iter_markers("parametrize")
    if "anyio_backend" not in metafunc.fixturenames or any(mark.args[0] == "anyio_backend" for mark in marks):
        return
    loops = ["asyncio", "trio"] if test.nodeid.startswith(metafunc.config.stash[NAMED]) else ["asyncio"]
    test.add_marker(pytest.mark.parametrize("anyio_backend", loops, indirect=True, scope="module"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the deep tests, before pytest looks at marks, and choose the order."""
    deep = tuple(_read_list(config, DEEP))
    for item in items:
        if item.nodeid.startswith(deep):
            item.add_marker("deep")
    if config.option.backwards:
        items.reverse()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n auto` starts: each collects all tests."""
    return min(MOST_WORKERS, len(os.sched_getaffinity(0)))
