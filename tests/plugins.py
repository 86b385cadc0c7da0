"""Rules that hold for a whole session of tests.

Every coroutine test runs on each backend; as many pass on one as on the other; only tests that
allowed_skips.txt names may skip.
"""

from __future__ import annotations

from collections import Counter
from inspect import iscoroutinefunction
from typing import Final

import pytest

BACKENDS: Final = ("asyncio", "trio")
ALLOWED_SKIPS: Final = "tests/allowed_skips.txt"  # below pytest's root folder


def read_allowed(text: str) -> dict[str, str]:
    """Return the reason for each beginning of a test id; raise ValueError for a line without a reason."""
    allowed = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        prefix, _, reason = line.partition(" ")
        if not reason.strip():
            raise ValueError(f"line {number}: {prefix} has no reason")
        allowed[prefix] = reason.strip()
    return allowed


class SessionRules:
    """Count what ran and what skipped, and fail the session if it broke a rule."""

    def __init__(self, allowed: dict[str, str]) -> None:
        self.allowed = allowed
        self.skipped: list[str] = []
        self.ran: Counter[str] = Counter()
        self.whole = True
        self.broken: list[str] = []

    def pytest_deselected(self) -> None:
        """Note that not every test was asked for."""
        self.whole = False

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

    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Count an async test on its backend."""
        callspec = getattr(item, "callspec", None)
        backend = callspec.params.get("anyio_backend") if callspec else None
        if backend is not None:
            self.ran[backend if isinstance(backend, str) else backend[0]] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn a session that passed into one that failed if a rule was broken."""
        if session.config.option.collectonly:
            return
        self.broken += [f"{test} skipped, and {ALLOWED_SKIPS} does not name it" for test in self.skipped]
        if self._is_whole(session) and len({self.ran[backend] for backend in BACKENDS}) > 1:
            counts = ", ".join(f"{self.ran[backend]} on {backend}" for backend in BACKENDS)
            self.broken.append(f"async tests ran unevenly: {counts}")
        if self.broken and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _is_whole(self, session: pytest.Session) -> bool:
        config = session.config
        stopped = (
            session.shouldstop or session.shouldfail or getattr(config.option, "lf", False)
        )  # without the cache plugin
        return self.whole and not stopped and config.args == config.getini("testpaths")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which rules were broken."""
        if self.broken:
            terminalreporter.section("rules of the session", red=True)
            for line in self.broken:
                terminalreporter.line(line, red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Watch the session."""
    rules = SessionRules(read_allowed((config.rootpath / ALLOWED_SKIPS).read_text(encoding="utf-8")))
    config.pluginmanager.register(rules, "session-rules")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> None:
    """Mark each coroutine test before AnyIO's own hook looks for the mark."""
    if collector.istestfunction(obj, name):
        inner = getattr(getattr(obj, "hypothesis", None), "inner_test", obj)
        if iscoroutinefunction(inner):
            pytest.mark.anyio(obj)
