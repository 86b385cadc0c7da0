"""Every stored type comes back as what it was, also in a new process, and so do histories (S12.3)."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from dataflow import ExecutionContext, Message
from dataflow.errors import StoreError, ValueRefused
from dataflow.values.classes import classes_of
from dataflow.values.digests import digest
from dataflow.values.kinds import BY_NAME
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer
from tests.values.examples import CLASSES, VALUES, Color, Item, Kind, Point, Right, same

IN_A_NEW_PROCESS: Final = """
import json, sys
from pathlib import Path
from dataflow.values.reader import Reader
from tests.values.examples import CLASSES, VALUES, same

folder = Path(sys.argv[1])
reader = Reader(CLASSES, lambda name: (folder / name).read_bytes(), "runs.db")
stored = json.loads((folder / "values.json").read_bytes())
print(json.dumps([name for name, data in stored.items() if not same(reader.read(data), VALUES[name])]))
"""


def through_json(value: object) -> Any:
    blobs: dict[str, bytes] = {}
    text = json.dumps(Writer(CLASSES, blobs.__setitem__).write(value, "a.out"), allow_nan=False)
    return Reader(CLASSES, blobs.__getitem__, "runs.db").read(json.loads(text))


def test_a_value_comes_back_and_shares_nothing_with_what_was_written() -> None:
    assert [name for name, value in VALUES.items() if not same(through_json(value), value)] == []
    for name, value in VALUES.items():
        stored = Writer(CLASSES, lambda *_: None).write(value, "a.out")
        assert not containers_of(stored) & containers_of(value), name


def test_values_come_back_in_a_new_process(tmp_path: Path) -> None:
    def put(name: str, data: bytes) -> None:
        (tmp_path / name).write_bytes(data)

    writer = Writer(CLASSES, put)
    stored = {name: writer.write(value, name) for name, value in VALUES.items()}
    (tmp_path / "values.json").write_text(json.dumps(stored), encoding="ascii")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-X", "utf8=0", "-c", IN_A_NEW_PROCESS, str(tmp_path)]
    path = ":".join([str(root), str(root / "nodes")])
    environment = {"PYTHONPATH": path, "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    assert json.loads(done.stdout) == []


def containers_of(value: Any) -> set[int]:
    found: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
        if isinstance(one, list | dict):
            found.add(id(one))
    return found


TEXTS: Final = st.text(st.characters(exclude_categories=())) | st.sampled_from(["$", "$$", "\ud83d\ude00"])
HASHED: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS | st.binary()
    | st.sampled_from([Color.RED, Kind.A, Right.READ]) | st.decimals(allow_nan=False) | st.uuids()
    | st.datetimes(timezones=st.none() | st.timezones(), allow_imaginary=True) | st.timedeltas(),
    lambda items: st.tuples(items, items) | st.frozensets(items, max_size=3),
    max_leaves=5,
)  # fmt: skip
ANYTHING: Final = st.recursive(
    HASHED | st.floats() | st.just(object()) | st.just(print) | st.dates() | st.times(),
    lambda items: (
        st.lists(items)
        | st.dictionaries(TEXTS, items)
        | st.dictionaries(HASHED, items, max_size=3)
        | st.sets(HASHED)
        | st.builds(Point, items, items)
        | st.builds(Item, items, items)
    ),
    max_leaves=20,
)


@given(ANYTHING)
def test_any_value_comes_back_or_is_refused(value: Any) -> None:
    try:
        found = through_json(value)
    except ValueRefused as refused:
        assert refused.found in ("object", "builtin_function_or_method")  # noqa: PT017 - either is right
    else:
        assert same(found, value)


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
    | st.sampled_from(["nan", "0x1", "[secret:NAME]", "Europe/Berlin", "2024-01-01", "READ", "b" * 64]),
    lambda items: (
        st.lists(items)
        | st.dictionaries(TEXTS | st.sampled_from(["$", "v", "more", "unset", "x", "color"]), items)
        | st.fixed_dictionaries({
            "$": st.sampled_from([
                *BY_NAME, "history", "text", "blob", "secret", *CLASSES.forms, "os:system",
            ]),
            "v": items,
        }, optional={"more": items, "unset": items, "set": items, "extra": items, "private": items})
        | st.fixed_dictionaries({"before": st.none(), "items": items})
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON, st.binary() | JSON.map(lambda data: json.dumps(data).encode()))
def test_any_json_is_a_value_or_a_store_error(data: Any, blob: bytes) -> None:
    reader = Reader(CLASSES, lambda _: blob, "runs.db")
    try:
        reader.read(data)
    except StoreError as error:
        assert error.store == "runs.db"  # noqa: PT017 - either is right


def test_a_time_that_pydantic_has_read_comes_back_in_a_zone_of_the_standard_library() -> None:
    """What enters as JSON, on the command line and in documents, is read so (S1.7)."""
    for text in ("2024-05-17T08:30:00+02:00", "2024-05-17T08:30:00Z", "2024-05-17T08:30:00.5-11:30"):
        read = TypeAdapter(datetime).validate_json(json.dumps(text), strict=True)
        back = through_json(read)
        assert (back, back.utcoffset(), type(back.tzinfo)) == (read, read.utcoffset(), timezone)
        assert digest(back) == digest(read)  # a run that was resumed has the fingerprints that it had


OF_HISTORIES = classes_of([])


def grown(turns: int) -> list[ExecutionContext]:
    contexts = [ExecutionContext("c")]
    for turn in range(turns):
        contexts.append(contexts[-1].append(Message("user", f"turn {turn}")))
    return contexts


def test_appending_costs_what_is_appended() -> None:
    put: list[str] = []
    writer = Writer(OF_HISTORIES, lambda name, _: put.append(name))
    for context in grown(50):
        writer.write(context, "a.context")
    assert len(put) == len(set(put)) == 51
