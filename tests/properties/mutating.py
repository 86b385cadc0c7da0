"""Real documents, and ways to spoil them: their text, their structure, their names, their size."""

from __future__ import annotations

import ast
import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from dataflow import DataflowError
from dataflow.formats.reader import read
from dataflow.formats.writer import write_yaml
from tests.properties.random_flows import sample

ROOT: Final = Path(__file__).parents[2]
FROM_GRAMMAR: Final = 60
LARGE: Final = 150  # of so many inputs one is large

WORDS: Final = r"""
{ } [ ] : , - # ' " | > |2- ? &a *a ! !!str !!int !!python/none !x --- ... \ \u \ud800 <<: null ~ true on .nan
1e999 -0 0x é 🙂 {value:1} loop: map: flow: each: nodes: edges: $in $in.x $carry.c $item.x out $done $error
type: dataflow: %YAML
"""
# fmt: off
FRAGMENTS: Final = [
    *WORDS.split(),
    ": ", "- ", " #", "? ", "\n", "\n  ", "\n---\n", "%YAML 1.1\n---\n", "\t", "\r", "\r\n", "\x00",
    "\x1b[2J", "\x85", "\u2028", "\ufeff", "\ud800", "\u202e", "9" * 1001, "[" * 120, "{a: " * 120,
    "&a [*a]", "(" * 30,
]
# fmt: on
#: Names that something is called by, or that steer what reads them.
REFERENCES: Final = """
$in $carry $item out $done $error $after . .. / a.b a/b a[0] ~ % %41 %zz ' " ` é 节点 ჯ null true 1 1.5 on
type loop value --> "]; __class__
"""
# fmt: off
NAMES: Final = [
    *REFERENCES.split(),
    "", " ", "\n", "\x00", "\x1b[2J", "\u202ea", "e\u0301", "👩\u200d🚀", "\u2028", "{{ x }}", "a" * 300,
]
VALUES: Final[list[Any]] = [
    None, True, False, 0, 1, -1, 2**70, 10**400, 1.5, float("inf"), float("nan"), "", "x", "$in.x",
    "a.b.c", "os:path", [], {}, [[]], {"value": 1}, {"": 1}, {"each": "$in.xs"}, {"merge": []},
    {"type": "t.apply"}, {"$ref": "#"},
    {"anyOf": [{"type": "string"}, {"pattern": "(a+)+$", "type": "string"}]},
    {"loop": {}}, {"map": {"over": {"x": {"value": [1]}}}}, {"flow": {"dataflow": 1}}, {"flow": "flow.yaml"},
    "value > 1 and", "value.a[0] == 'x'", "9 ** 9 ** 9", "m:f", "flow.json", "../flow.yaml", "\x1b]0;x\x07",
]
# fmt: on


@cache
def corpus() -> tuple[dict[str, Any], ...]:
    """Return real documents as plain data: of the docs, the tests and the grammar of random flows."""
    found = [(text, read(text, "flow.yaml")[0]) for text in _texts() if _is_document(text)]
    return (*(data for _, data in found), *(sample(seed).document for seed in range(FROM_GRAMMAR)))


def _is_document(text: str) -> bool:
    try:
        return isinstance(read(text, "flow.yaml")[0], dict)
    except DataflowError:
        return False


def _texts() -> Iterator[str]:
    """List what may be a document: files, blocks of the docs, and constants of the tests."""
    for path in sorted((ROOT / "docs").rglob("*.yaml")):
        yield path.read_text("utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        yield from re.findall(r"```yaml\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text("utf-8")
        if "dataflow: 1" in text:
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and "dataflow: 1" in node.value
                ):
                    yield node.value


def spoilt(chance: random.Random, documents: Sequence[Any] = ()) -> tuple[str, str]:
    """Make one input of documents, native ones unless others are given: the name of a file and its text."""
    documents = documents or corpus()
    data = copy.deepcopy(chance.choice(documents))
    splice = partial(_splice, documents=documents)
    for change in chance.choices((_reshape, _rename, splice), k=chance.choice((0, 0, 1, 1, 1, 3))):
        change(data, chance)
    if chance.randrange(LARGE) == 0:
        _enlarge(data, chance)
    name = chance.choice(("flow.yaml", "flow.json"))
    text = _written(data, name)
    if chance.random() < 0.4:
        text = _garbled(text, chance)
    return name, text


def _written(data: Any, name: str) -> str:
    return json.dumps(data, ensure_ascii=False) if name == "flow.json" else write_yaml(data)


def _garbled(text: str, chance: random.Random) -> str:
    """Take characters out and put others in, or repeat a piece, here and there."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        start = chance.randrange(len(text) + 1)
        end = start + chance.choice((0, 0, 1, 3, 20))
        other = chance.choice((*FRAGMENTS, text[start:end] * 3, text[start : start + 80]))
        text = text[:start] + other + text[end:]
    return text


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """List every place in a value: the container, and the key or index."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        for step, item in list(container.items() if isinstance(container, dict) else enumerate(container)):
            found.append((container, step))
            if isinstance(item, dict | list):
                waiting.append(item)
    return found


def _reshape(data: Any, chance: random.Random) -> None:
    """Put something else into a place, or add an entry that does not belong there."""
    places = places_in(data)
    if not places:
        return
    container, step = chance.choice(places)
    put = copy.deepcopy(chance.choice(VALUES))
    if isinstance(container, dict) and chance.random() < 0.4:
        container[chance.choice(NAMES)] = put
    elif chance.random() < 0.2:
        del container[step]
    else:
        container[step] = put


def _rename(data: Any, chance: random.Random) -> None:
    """Give a name another one wherever it stands, in keys and in references."""
    names = [step for _, step in places_in(data) if isinstance(step, str) and step]
    if not names:
        return
    old, new = chance.choice(names), chance.choice(NAMES)
    for container, step in reversed(places_in(data)):
        if isinstance(container, dict) and step not in container:
            continue  # it has been renamed over
        item = container[step]
        if isinstance(item, str) and old in item:
            container[step] = item.replace(old, new)
        if step == old and isinstance(container, dict):
            container[new] = container.pop(old)


def _splice(data: Any, chance: random.Random, documents: Sequence[Any]) -> None:
    """Put a part of another document into a place of this one."""
    others, places = places_in(chance.choice(documents)), places_in(data)
    if others and places:
        (source, key), (container, step) = chance.choice(others), chance.choice(places)
        container[step] = copy.deepcopy(source[key])


def _enlarge(data: Any, chance: random.Random) -> None:
    """Make it long, deep or wide."""
    nodes = data.setdefault("nodes", {})
    ways: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: {f"n{n}": {"type": "t.apply", "inputs": {"x": f"n{n - 1}"}} for n in range(2_000)},
        lambda: {"m" * 100_000: {"type": "t" * 100_000, "inputs": {"x": "y" * 100_000}}},
        lambda: {"m": {"type": "t.apply", "inputs": {f"p{n}": "$in.x" for n in range(2_000)}}},
        lambda: {
            f"m{n}": {"map": {"over": {"x": {"value": []}}, "nodes": {"a": {"type": "t"}}}}
            for n in range(500)
        },
        lambda: _nested(chance.randrange(1, 40), chance.choice(("map", "loop", "flow"))),
    )
    if isinstance(nodes, dict):
        nodes |= chance.choice(ways)()


def _nested(levels: int, kind: str) -> dict[str, Any]:
    around: dict[str, Any] = {
        "map": {"over": {"x": {"value": [1]}}},
        "loop": {"limit": 1},
        "flow": {"dataflow": 1},
    }
    nodes: dict[str, Any] = {"a": {"type": "t.apply", "values": {"x": 1}}}
    for level in range(levels):
        nodes = {f"n{level}": {kind: {**around[kind], "nodes": nodes}}}
    return nodes
