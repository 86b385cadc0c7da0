"""The table of asks in each kind of place, in each home of runs, answered at once and one by one (S11.1)."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.behaviour import asking_flows as af
from tests.behaviour.asks import PICKS, AskCase, homes, play

ASKS: Final = (
    AskCase(id="an ask in the root", rule="S11.1", flow=af.root, inputs={"x": 3}, first=("ask",),
        asked={"ask": (3, True)}, outputs={"answer": True, "beside": 4},
        runs={"src": 1, "ident": 1, "inc": 1}, states={"ask": "done"}),
    *(AskCase(id=f"an ask in a branch: {taken}", rule="S11.1", flow=af.branches, inputs={"x": x},
            first=(taken,), asked={taken: (x, "so")}, outputs={"why": "so", "extra": extra},
            runs={"ident": 1}, states={taken: "done", other: "skipped"})
        for x, taken, other, extra in ((9, "much", "little", "no"), (1, "little", "much", "so"))),
    AskCase(id="an ask that shows the answer of another", rule="S11.1", flow=af.chained, first=("one",),
        asked={"one": (None, "a"), "two": ("a", "b")}, outputs={"both": "a-b"}, runs={"both": 1}),
    AskCase(id="several asks at once", rule="S11.2", flow=af.together, first=("one", "two", "three"),
        asked={"one": (None, "a"), "two": (None, "b"), "three": (None, "c")},
        outputs={"left": "a-b", "all": "a|b|c"}, runs={"both": 1, "joined": 1}),
    AskCase(id="an ask for each item", rule="S11.1", flow=af.items, inputs={"names": ["x", "y", "z"]},
        first=("ask[0]", "ask[1]", "ask[2]"),
        asked={"ask[0]": ("x", "0"), "ask[1]": ("y", "1"), "ask[2]": ("z", "2")},
        outputs={"all": "x-0|y-1|z-2"}, runs={"both": 3, "joined": 1}),
    AskCase(id="an item that asks is in flight", rule="S7.2", flow=partial(af.items, most=1),
        inputs={"names": ["x", "y"]}, first=("ask[0]",), asked={"ask[0]": ("x", "0"), "ask[1]": ("y", "1")},
        outputs={"all": "x-0|y-1"}, runs={"both": 2, "joined": 1}),
    AskCase(id="a question a round, until one says bye", rule="S11.1", flow=af.talk, first=("talk[0]/ask",),
        asked={"talk[0]/ask": ("", "hello"), "talk[1]/ask": ("hello", "go on"),
            "talk[2]/ask": ("go on", "bye")}, outputs={"minutes": "hello|go on|bye"},
        runs={"ident": 2, "joined": 1}),
    AskCase(id="an ask in a flow node", rule="S11.1", flow=af.flow_node, inputs={"text": "t"},
        first=("inner/ask",), asked={"inner/ask": ("t", "a")}, outputs={"out": "t-a"}, runs={"both": 1},
        states={"inner": "done", "inner/ask": "done"}),
    AskCase(id="asks in flow nodes at two depths", rule="S11.1", flow=af.nested_flow_nodes,
        inputs={"text": "t"}, first=("middle/ask", "middle/inner/ask"),
        asked={"middle/inner/ask": ("t", "a"), "middle/ask": (None, 0)}, outputs={"out": "t-a", "own": 0},
        runs={"both": 1}),
    *(AskCase(id=f"an approval: {answer}", rule="S11.1", flow=af.approvals, inputs={"text": "t"},
            first=("approval/ask",), asked={"approval/ask": ("t", answer)}, outputs={way: "t", "note": note},
            runs={"ident": 1} if way == "yes" else {},
            states={"approval/switch": "done", "ident": "done" if way == "yes" else "skipped"})
        for answer, way, note in ((True, "yes", ""), (False, "no", ""), ("approve", "yes", ""),
            ("reject", "no", ""), ({"decision": "approve"}, "yes", ""),
            ({"decision": "reject", "note": "not yet"}, "no", "not yet"),
            ({"decision": "approve", "note": ""}, "yes", ""))),
    AskCase(id="a pause in a loop asks again on every pass", rule="S11.3", flow=af.approved_drafts,
        first=("drafts[0]/approval/ask",),
        asked={
            "drafts[0]/approval/ask": ("d1", {"decision": "reject", "note": "r1"}),
            "drafts[1]/approval/ask": ("d2", {"decision": "reject", "note": "r2"}),
            "drafts[2]/approval/ask": ("d3", {"decision": "approve"}),
        },
        outputs={"log": [["d1", "reject", "r1"], ["d2", "reject", "r2"], ["d3", "approve", ""]]},
        runs={"draft": 3, "yes": 1, "no": 2, "over": 3, "both": 2}),
    AskCase(id="a raw node that gave one port is asked for the others", rule="S11.1", flow=af.raw,
        inputs={"x": 1}, first=("partly",), asked={"partly": (1, {"text": "", "number": 0, "maybe": "m"})},
        outputs={"given": 2, "text": "", "number": 0, "maybe": "m"},
        runs={"partly": 1, "given": 1, "text": 1, "number": 1, "maybe": 1}),
    AskCase(id="an answer may leave a conditional port out", rule="S11.1", flow=af.raw, inputs={"x": 1},
        first=("partly",), asked={"partly": (1, {"text": "t", "number": 7})},
        outputs={"given": 2, "text": "t", "number": 7},
        runs={"partly": 1, "given": 1, "text": 1, "number": 1}, states={"maybe": "skipped"}),
    AskCase(id="a raw node that gave all it has goes on when it is answered", rule="S11.1",
        flow=af.raw_with_nothing_left, inputs={"x": 1}, first=("waits",), asked={"waits": (None, None)},
        outputs={"given": 1}, runs={"waits": 1}),
)  # fmt: skip


@pytest.mark.parametrize("case", ASKS, ids=lambda case: case.id)
async def test_a_flow_asks_as_its_row_says(case: AskCase, subtests: pytest.Subtests, tmp_path: Path) -> None:
    for name, pick in PICKS.items():
        for home in homes(tmp_path):
            with subtests.test(f"{home.place}, {name}"):
                await play(case, home, pick, checkpoints=2 if name == "the first" else 0)


def test_each_row_has_an_id_of_its_own() -> None:
    assert [id for id, times in Counter(case.id for case in ASKS).items() if times > 1] == []
