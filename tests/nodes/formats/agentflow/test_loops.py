"""Loops that are entered at several nodes, whose rounds begin at a gate in front of those; and reports."""

from __future__ import annotations

from collections import Counter
from typing import Final

from dataflow import LoopLimit
from dataflow_agent import ModelRequest
from tests.nodes.formats.agentflow.flowing import (
    agent,
    approval,
    flow_of,
    if_,
    problems,
    ran,
    start,
    workflow,
)

DONE: Final = ("contains", "done")
#: Two agents that hand on to each other until one says that it is done; one `if` behind each of them.
BODY: Final = ["a", if_("e", DONE), "b", if_("f", DONE)]
ROUND: Final = "a>e e.false>b b>f f.false>a"
EITHER: Final = workflow(
    [start("right"), if_("i", ("equal", "left")), *BODY, "z"],
    f"s>i i.condition-0>a i.false>b {ROUND} e.condition-0>z f.condition-0>z",
)
AGAIN: Final = workflow([start(), "a", "b", "c", if_("i", ("equal", "x"))], "s>a a>b a>c b>i c>i i.false>a")
BOTH: Final = workflow([start(), *BODY], f"s>a s>b {ROUND}")


def three_times(request: ModelRequest) -> str:
    """Repeat what was told until it has been repeated three times."""
    told = str(request.messages[-1].content)
    return f"[{told}]" if told.count("[") < len("abc") else "done"


def test_a_loop_begins_at_the_node_that_is_come_to() -> None:
    found = ran(EITHER, three_times)
    assert found.prompts == ["B right", "A [B right]", "B [A [B right]]", "A [B [A [B right]]]", "Z done"]


def test_all_that_enter_a_loop_at_once_go_round_in_it() -> None:
    found = ran(BOTH, three_times)
    assert Counter(prompt[0] for prompt in found.prompts) == {"A": 4, "B": 4}
    assert sorted(found.prompts[:4]) == ["A [B x]", "A x", "B [A x]", "B x"]


#: Loops without an end, the gate that each begins at, and its limit: 100 rounds for each node behind it.
ENDLESS: Final = [
    (workflow([start(), if_("i", ("equal", "y"))], "s>i i.false>i"), "i", 100),
    (workflow([start(), *"ab"], "s>a s>b a>b b>a"), "a_or_b", 200),
    (workflow([start(), *"abcde"], "s>a s>b s>c s>d s>e a>b b>c c>d d>e e>a"), "a_or_b_or_c_or_2_more", 500),
]


def test_a_loop_without_an_end_fails_at_a_limit_that_names_its_nodes() -> None:
    found = [ran(data).error for data, _, _ in ENDLESS]
    limits = [error.__cause__ for error in found if error is not None]
    assert [(one.loop, one.limit) for one in limits if isinstance(one, LoopLimit)] == [
        (loop, limit) for _, loop, limit in ENDLESS
    ]


def test_where_several_that_go_round_meet_they_are_joined_if_at_all() -> None:
    data = workflow([start(), *BODY, "m"], "s>a s>b a>e e.false>m b>f f.false>m m>a m>b")
    assert {problem[: len("DF4108")] for problem in problems(data)} == {"DF4108"}
    found = ran(data, three_times, joins="once")
    assert found.prompts[2] in ("M [A x]\n\n[B x]", "M [B x]\n\n[A x]")


def test_what_means_the_same_has_no_remarks() -> None:
    exclusive = [start(), if_("i", ("equal", "x")), approval("p"), "a", "b"]
    flow = flow_of(workflow(exclusive, "s>i i.condition-0>p p.approve>a p.reject>b i.false>b"))
    assert list(flow.report) == []


def test_one_run_for_each_arrival_in_a_loop_is_refused() -> None:
    assert problems(AGAIN) == ["DF4108 nodes[4]: node 'i'"]
    assert flow_of(AGAIN, joins="once").report


def test_what_is_kept_of_a_file_is_in_the_meta() -> None:
    nodes = [start(), {**agent("a"), "x": 7, "y": None}]
    flow = flow_of(workflow(nodes, "s>a", name="small", version=2))
    assert flow.wiring.meta["agentflow"] == {"version": 2}
    assert flow.to_dict()["nodes"]["a"]["meta"] == {"x": 7}
