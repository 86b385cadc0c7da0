"""Reading native documents."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, Final, Literal

import pytest

from dataflow import FlowInvalid, Memo, Retry
from dataflow.core.functions import NamedFunction
from dataflow.core.policy import EachOptions, Policy
from dataflow.core.ports import MISSING
from dataflow.core.wiring import (
    Collect,
    Each,
    Every,
    Fallback,
    FlowInput,
    Gather,
    Merge,
    MergeContexts,
    PlacedNode,
    Reference,
    Source,
    Wiring,
)
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump
from tests.formats.nesting import nest
from tests.support.codes import codes


def load_yaml(text: str) -> Wiring:
    return load(f"dataflow: 1\n{text}", "flow.yaml", nest)


def placed(text: str) -> PlacedNode:
    """Read one node, which has a line of its own."""
    node = load_yaml(f"nodes:\n  node: {text}").block.nodes["node"]
    assert isinstance(node, PlacedNode)
    return node


def source(text: str) -> Any:
    """Read the source of one output."""
    return load_yaml(f"outputs:\n  out: {text}").block.outputs["out"]


SOURCES: Final[dict[str, Source]] = {
    "a": Reference("a"),
    "a.b": Reference("a", "b"),
    "a.b.c": Reference("a", "b.c"),
    "a.$error": Reference("a", "$error"),
    "$in.x": Reference("$in", "x"),
    '"my%20node%2Ea.50%25"': Reference("my node.a", "50%"),
    "{merge: [a, b.c]}": Merge((Reference("a"), Reference("b", "c"))),
    "{gather: [a]}": Gather((Reference("a"),)),
    "{merge_contexts: [a], how: append}": MergeContexts((Reference("a"),), "append"),
    "{merge_contexts: [a, b], how: 'm:f'}": MergeContexts(
        (Reference("a"), Reference("b")), NamedFunction("m:f")
    ),
    "{fallback: [a, {merge: [b]}]}": Fallback(Reference("a"), Merge((Reference("b"),))),
    "{collect: {each: a, share: s}}": Collect(Each(Reference("a"), call="s")),
    "{every: [a, b.c, {collect: {every: [a]}}]}": Every(
        (Reference("a"), Reference("b", "c"), Collect(Every((Reference("a"),))))
    ),
    "{each: a, key: 'm:f.g', max_concurrency: 3, on_error: skip, share: s}": Each(
        Reference("a"), EachOptions(NamedFunction("m:f.g"), 3, "skip"), "s"
    ),
}


def test_a_source_is_read() -> None:
    assert {text: source(text) for text in SOURCES} == SOURCES


def test_a_policy_has_what_is_given_and_no_more() -> None:
    policy = placed(
        """{type: t, policy: {retry: {retries: 2, on: [timeout], backoff: fixed, first: 2, jitter: true},
        timeout: 1.5, deadline: null, memo: run, on_error: route, default: null,
        limit: llm, effect: true, enabled: false}}"""
    ).policy
    assert policy == Policy(
        retry=Retry(2, on=("timeout",), backoff="fixed", first=2.0, jitter=True),
        timeout=1.5, deadline=None, memo="run", on_error="route", default=None, limit="llm", effect=True,
        enabled=False,
    )  # fmt: skip
    assert placed("{type: t, policy: {limit: 2, retry: {}}}").policy == Policy(limit=2, retry=Retry())
    memo = placed("{type: t, policy: {memo: {reach: store, ttl: 60, environment: [LANG, TZ]}}}").policy.memo
    assert memo == Memo("store", ttl=60, environment=["LANG", "TZ"])
    assert placed("{type: t, policy: {memo: {reach: run}}}").policy.memo == Memo("run")


def test_an_invalid_memo_is_refused() -> None:
    for memo, problem in {
        "ever": "DF0122 nodes.node.policy.memo",
        "{reach: off}": "DF0122 nodes.node.policy.memo.reach",
        "{ttl: 1}": "DF0120 nodes.node.policy.memo.reach",
        "{reach: run, ttl: 0}": "DF0122 nodes.node.policy.memo.ttl",
        "{reach: run, until: 1}": "DF0121 nodes.node.policy.memo.until",
        "[run]": "DF0122 nodes.node.policy.memo",
    }.items():
        with pytest.raises(FlowInvalid) as caught:
            placed(f"{{type: t, policy: {{memo: {memo}}}}}")
        assert codes(caught.value) == [problem]


INPUTS: Final[dict[str, FlowInput]] = {
    "{type: string}": FlowInput(str, MISSING, "string"),
    "{}": FlowInput(Any, MISSING),
    "{default: [1]}": FlowInput(Any, [1]),
    "{type: {enum: [a, b]}, default: a}": FlowInput(Literal["a", "b"], "a", {"enum": ["a", "b"]}),
    "{type: {type: string, format: date}, default: 2020-01-02}": FlowInput(
        date, date(2020, 1, 2), {"type": "string", "format": "date"}
    ),
    "{type: number, default: 1}": FlowInput(float, 1.0, "number"),
    "{type: {}}": FlowInput(Any, MISSING, {}),
}


def test_an_input_has_its_type_and_its_schema() -> None:
    assert {text: load_yaml(f"inputs: {{a: {text}}}").inputs["a"] for text in INPUTS} == INPUTS


NAMES: Final = [
    "ж", "节点", "a b", "a.b", "a/b[0]~$in%", "$", "🙂", "on", "1", "'quoted\"", "a\nb", "\u202e",
    "x" * 2000, " ",
]  # fmt: skip


def test_a_node_may_have_any_name() -> None:
    document = {
        "dataflow": 1,
        "nodes": {id: {"type": "t", "after": [id]} for id in NAMES},
        "outputs": {id: {"collect": {"value": 1}} for id in NAMES},
    }
    wiring = load(json.dumps(document), "flow.json", nest)
    assert {id: node.after for id, node in wiring.block.nodes.items()} == {id: [id] for id in NAMES}
    assert list(wiring.block.outputs) == NAMES
    reads: dict[str, Source] = {id: Reference(id, id) for id in NAMES}
    wiring.block.outputs = reads
    assert load(json.dumps(dump(wiring)), "flow.json", nest).block.outputs == reads
