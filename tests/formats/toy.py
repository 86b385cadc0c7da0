"""A format for tests: words that are handed on, `{"toy": ["a", "b"]}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dataflow import Event, EventKind
from dataflow.authoring import write_edge
from dataflow.formats.foreign import Format, FormatOptions, JsonDict, Notes

__all__ = ["EDGES", "FAULTY", "FORMAT", "TWIN"]


def recognises(data: Any) -> bool:
    return isinstance(data, dict) and "toy" in data


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    nodes: JsonDict = {}
    for index, word in enumerate(data["toy"]):
        if not isinstance(word, str):
            notes.problem(("toy", index), f"expected a word, found {word!r}")
            continue
        if word.isupper():
            notes.remark(word, "shouts", "is quiet")
        notes.origin(word, ("toy", index))
        nodes[word] = {"type": "control.value", "config": {"value": options.get("branch", word)}}
        if word == "ask":
            nodes[word] = {"type": "control.user_input", "config": {"prompt": "Well?"}}
        if word == "bad":
            nodes[word]["type"] = "control.valu"
    return {"dataflow": 1, "nodes": nodes, "outputs": {word: word for word in nodes}}


def translate_no_further(data: Any, options: FormatOptions, notes: Notes) -> Any:
    """Fail as a faulty format would: return what the file has under `returns`, or look up a missing key."""
    return data["toy"]["returns"]


def translate_edges(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    edges: list[JsonDict] = []
    for index, (source, target) in enumerate(map(str.split, data["toy"])):
        notes.edge_origin(index, ("toy", index))
        edges.append(write_edge(source, "out", target, "value"))
    nodes = {"a": {"type": "control.value", "config": {"value": 1}}, "b": {"type": "control.log"}}
    return {"dataflow": 1, "nodes": nodes, "edges": edges}


class ToyWords:
    """Tells each node, and how many there were."""

    def __init__(self, document: JsonDict) -> None:
        self._name = document["name"]

    def see(self, event: Event) -> Iterable[str]:
        if event.kind is EventKind.NODE_FINISHED:
            yield f"{self._name} said {event.path}"

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:
        yield f"that was {len(outputs)}"


FORMAT: Final = Format("toy", recognises, translate, frozenset({"branch"}), ToyWords)
TWIN: Final = Format("twin", recognises, translate)
FAULTY: Final = Format("faulty", recognises, translate_no_further)
EDGES: Final = Format("edges", recognises, translate_edges)
