"""F-C11, F-C12: finished text is masked where it leaves; no object is read, and weak values warn."""

from __future__ import annotations

import importlib
import io
import json
import logging
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, RunFailed, Secret, SecretFilter, SecretMissing, Store, node, this_firing
from dataflow.cli import main
from tests.support.known_secrets import forgetting
from tests.support.source import PACKAGES, modules_of

VALUE: Final = "tok-9f$&\"/?x'"
MARK: Final = "[secret:TOKEN"
LOGGER: Final = re.compile(r'^LOG: Final = [\w.]+\("([\w.]+)"\)', re.MULTILINE)
NAME: Final = "Secret9fInTheNameOfAClass"


@pytest.fixture(autouse=True)
def _forgetting() -> Iterator[None]:
    with forgetting():
        yield


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Collect what a handler with a filter writes."""
    text, log = io.StringIO(), logging.getLogger("somebody")
    handler = logging.StreamHandler(text)
    handler.addFilter(SecretFilter())
    log.addHandler(handler)
    yield text
    log.removeHandler(handler)


class Watched:
    """Counts what reads an attribute of it, and what makes a text of it."""

    reads = texts = 0

    def __getattribute__(self, name: str) -> Any:
        Watched.reads += 1
        return super().__getattribute__(name)

    def __str__(self) -> str:
        Watched.texts += 1
        return f"watched {VALUE}"

    __repr__ = __str__


def test_a_log_record_reads_nothing_of_its_arguments(written: io.StringIO) -> None:
    log, watched, factory = logging.getLogger("somebody"), Watched(), logging.getLogRecordFactory()
    counts = []
    for _ in range(2):
        Watched.reads = Watched.texts = 0
        log.warning("it is %s", [watched])
        log.handle(factory("a", logging.INFO, "f", 1, "%s", (watched,), None))
        counts.append((Watched.reads, Watched.texts))
        Secret("TOKEN", VALUE).reveal()
    assert [reads for reads, _ in counts] == [1, 1]  # logging asks for the class of an argument that is alone
    assert counts[1][1] == 2  # once a record, however many handlers write it
    before, after = f"watched {VALUE}", f"watched {MARK}]"
    lines = [f"it is [{before}]", before, f"it is [{after}]", after]
    assert written.getvalue().splitlines() == lines
    assert logging.getLogRecordFactory() is factory


def test_a_filter_masks_each_text_that_a_record_writes(written: io.StringIO) -> None:
    log, value = logging.getLogger("somebody"), Secret("TOKEN", VALUE).reveal()
    log.warning(f"one {value}")  # noqa: G004 - as people write it
    log.warning("two %s and %s", value, 2)
    log.warning("three %(token)s", {"token": json.dumps(value)})
    log.warning("four %s %s", value)  # noqa: PLE1206 - as people write it
    try:
        raise LookupError(value)
    except LookupError:
        log.exception("five", stack_info=True)
    lines = written.getvalue().splitlines()
    assert lines[:3] == [f"one {MARK}]", f"two {MARK}] and 2", f'three "{MARK}:json]"']
    assert lines[3].startswith(f"four %s %s ('{MARK}")
    assert f"LookupError: {MARK}]" in lines
    assert VALUE not in written.getvalue()
    records = [logging.LogRecord("a", logging.INFO, "f", 1, "%s is %d", ("a", 1), None) for _ in range(2)]
    assert all(map(SecretFilter().filter, records))
    assert [(one.msg, one.args) for one in records] == [("%s is %d", ("a", 1))] * 2  # kept where it is clean


def test_each_logger_of_the_engine_and_its_packs_masks_its_own_records() -> None:
    names = set()
    for module in (module for package in PACKAGES for module in modules_of(package)):
        if found := LOGGER.findall(module.text()):
            importlib.import_module(module.name)
            names.update(found)
    assert names > {"dataflow.engine", "dataflow.control", "dataflow.agent.servers"}
    Secret("TOKEN", VALUE).reveal()
    for name in names:
        record = logging.LogRecord(name, logging.INFO, "f", 1, VALUE, None, None)
        assert logging.getLogger(name).filter(record)
        assert record.msg == f"{MARK}]", name


@dataclass
class Held:
    token: str


async def tell() -> Held:
    this_firing().warn("odd", f"odd: {VALUE}")
    return Held("x" * 495 + VALUE)  # is cut within the secret


async def fail(held: Held) -> str:
    raise type(NAME, (ValueError,), {})(held.token)


def telling() -> Flow:
    with Flow("telling") as flow:
        held = flow.add(tell).out
        flow.output("held", held)
        flow.output("out", flow.add(node(fail), held=held).out)
    return flow


async def test_whatever_a_run_writes_is_masked(subtests: pytest.Subtests) -> None:
    Secret("TOKEN", VALUE).reveal()
    Secret("NAME", NAME).reveal()
    for store in (None, Store.memory()):
        async with telling().using(store=store).start() as run:
            events = [event async for event in run.events()]
            with pytest.raises(RunFailed) as failed:
                await run
        result, (failure,) = failed.value.result, failed.value.failures
        texts = {
            "events": repr(events),
            "data": str([event.data for event in events if event.path == "fail"]),
            "result": repr(result),
            "warnings": str(result.warnings),
            "failure": str(tuple(failure)),
            "error": str(failed.value),
            "why": result.why("out"),
            "reasons": str(result.explain("out")),
            "journal": str([*store.records(run.id)]) if store else MARK,
        }
        for name, text in texts.items():
            with subtests.test(name, store=store):
                assert ("tok-9f" in text, NAME in text) == (False, False)
                assert "[secret:" in text


LINES: Final = "-----BEGIN K-----\nMIIabc123XYZqq\nQWErty987uiopp\n-----END K-----\n"


async def fail_in_group(how: str) -> int:
    error = ValueError(LINES if how == "text" else "x")
    if how == "note":
        error.add_note(LINES)
    if how == "cause":
        error.__cause__ = LookupError(LINES)
    raise ExceptionGroup("outer", [ExceptionGroup("inner", [error]), ExceptionGroup(LINES, [OSError()])])


def test_a_secret_of_several_lines_is_masked_in_groups_of_exceptions(written: io.StringIO) -> None:
    Secret("TOKEN", LINES).reveal()
    for how in ("text", "note", "cause"):
        with Flow("f") as flow:
            flow.output("o", flow.add(fail_in_group, how=how).out)
        with pytest.raises(RunFailed) as failed:
            flow.run_sync()
        logging.getLogger("somebody").error("x", exc_info=failed.value.__cause__)
        for text in (failed.value.failures[0].traceback, written.getvalue()):
            assert text.count("inner") >= 1
            assert f"{MARK}]" in text
            assert not [line for line in LINES.split() if line in text and line not in ("K-----", "-----END")]


UNCAUGHT: Final = f"""
import logging, threading, warnings
from dataflow import Flow, Secret

class Stop(BaseException):
    pass

async def tell(how: str) -> str:
    value = Secret("TOKEN", {VALUE!r}).reveal()
    warnings.warn("warned " + value)
    logging.error("logged %s", value)  # with no handler, which it adds
    thread = threading.Thread(target=lambda: int(value))
    thread.start()
    thread.join()
    raise Stop(value)

with Flow("f") as flow:
    flow.output("o", flow.add(tell, how="").out)
"""


def test_the_command_line_masks_what_python_writes_to_standard_error(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(UNCAUGHT)
    command = [sys.executable, "-m", "dataflow", "run", "f.py", "--no-store", "--traceback"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, "tok-9f" in done.stdout + done.stderr) == (1, False)
    for text in (f"warned {MARK}]", f"logged {MARK}]", f"base 10: '{MARK}", f"Stop: {MARK}]", "DF1427"):
        assert text in done.stderr


WEAK: Final = {
    "": "DF1003", "tok": "DF1004", "password": "DF1084", "Administrator": "DF1084", "12345678": "DF1084",
    "2026-11-30": "DF1084", "127.0.0.1:80": "DF1084", "*" * 40: "DF1084", sys.prefix: "DF1084",
}  # fmt: skip
STRONG: Final = (
    "tok-9f-1",
    "hunter22",
    "0123456789012345",
    "correcthorsebattery",
    "correct horse",
    "Ünïcode-1",
)


def test_a_value_that_is_part_of_other_text_warns_and_is_not_masked(subtests: pytest.Subtests) -> None:
    for value, code in WEAK.items():
        with subtests.test(value), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            secret = Secret("WEAK", value)
            if code == "DF1003":
                with pytest.raises(SecretMissing, match=code):
                    secret.reveal()
                continue
            assert (secret.reveal(), secret.reveal()) == (value, value)
            assert [str(one.message).split()[0] for one in caught] == [code]
            assert caught[0].filename == __file__
            assert Secret("WEAK").reveal() == value
            assert value in str(SecretMissing("x", f"the {value} field is missing"))
    for value in STRONG:
        with subtests.test(value), forgetting():
            Secret("STRONG", value).reveal()
            assert value not in str(SecretMissing("x", f"the {value} field is missing"))


LOGS: Final = f"""
import logging
from dataflow import Flow, Secret

logging.basicConfig(format="%(message)s", force=True)

async def tell() -> str:
    late = logging.StreamHandler()
    logging.getLogger("late").addHandler(late)
    value = Secret("TOKEN", {VALUE!r}).reveal()
    logging.getLogger("late").warning("late %s", value)
    logging.getLogger("somebody").warning("sent %s", value)
    return value

with Flow("f") as flow:
    flow.output("o", flow.add(tell).out)
"""


def test_the_command_line_masks_logs_and_outputs(
    tmp_path: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(logging.getLogger("late"), "handlers", [])
    (tmp_path / "f.py").write_text(LOGS)
    assert main(["run", str(tmp_path / "f.py"), "--no-store"]) == 0
    done = capsys.readouterr()
    assert (f"{MARK}]" in done.out, f"sent {MARK}]" in done.err, f"late {MARK}]" in done.err) == (True,) * 3
    assert VALUE not in done.out + done.err
    assert logging.getLogRecordFactory() is logging.LogRecord
