"""Loops that are entered at several nodes: their rounds begin at a gate in front of those."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pytest

from dataflow_agent import ModelRequest
from tests.nodes.formats.agentflow.flowing import agent, flow_of, if_, problems, ran, start, workflow

DONE: Final = ("contains", "done")
#: Two agents that hand on to each other until one says that it is done; one `if` behind each of them.
BODY: Final = ["a", if_("e", DONE), "b", if_("f", DONE)]
ROUND: Final = "a>e e.false>b b>f f.false>a"
EITHER: Final = workflow(
    [start("right"), if_("i", ("equal", "left")), *BODY, "z"],
    f"s>i i.condition-0>a i.false>b {ROUND} e.condition-0>z f.condition-0>z",
)
BOTH: Final = workflow([start(), *BODY], f"s>a s>b {ROUND}")


def three_times(request: ModelRequest) -> str:
    """Repeat what was told until it has been repeated three times."""
    told = str(request.messages[-1].content)
    return f"[{told}]" if told.count("[") < len("abc") else "done"


def test_a_loop_begins_at_the_node_that_is_come_to() -> None:
    found = ran(EITHER, three_times)
    assert found.prompts == ["B right", "A [B right]", "B [A [B right]]", "A [B [A [B right]]]", "Z done"]


def test_what_leaves_a_loop_by_alternatives_meets_as_one() -> None:
    assert "for each arrival" not in str(flow_of(EITHER).report)
    assert ran(EITHER, three_times).outputs["z"] == "[Z done]"


def test_all_that_enter_a_loop_at_once_go_round_in_it() -> None:
    found = ran(BOTH, three_times)
    assert Counter(prompt[0] for prompt in found.prompts) == {"A": 4, "B": 4}
    assert sorted(found.prompts[:4]) == ["A [B x]", "A x", "B [A x]", "B x"]


def test_the_report_tells_how_several_go_round() -> None:
    limited, together = map(str, flow_of(BOTH).report)
    assert limited.endswith("the loop that begins here has no limit; here the run fails after 200 rounds")
    original = "node 'a': originally what comes to 'b' goes round this loop on its own"
    assert together == f"{original}; here all that is in the loop begins each round together"


def test_such_a_loop_has_as_many_rounds_for_each_of_its_nodes() -> None:
    nodes = [start(), if_("i", ("equal", "y")), if_("j", ("equal", "y"))]
    found = ran(workflow(nodes, "s>i s>j i.false>j j.false>i"))
    assert (found.result.status, "limit of 200" in str(found.error)) == ("failed", True)


@pytest.mark.parametrize(
    ("nodes", "edges", "gate"),
    [
        ("ab", "s>a s>b a>b b>a", "a_or_b"),
        ("abcde", "s>a s>b s>c s>d s>e a>b b>c c>d d>e e>a", "a_or_b_or_c_or_2_more"),
    ],
)
def test_a_gate_is_named_after_the_nodes_behind_it(nodes: str, edges: str, gate: str) -> None:
    """So the message of its limit names nodes of the file."""
    assert f"node '{gate}' reached its limit" in str(ran(workflow([start(), *nodes], edges)).error)


@pytest.mark.parametrize("joins", ["each", "once"])
def test_where_several_that_go_round_meet_they_are_joined_if_at_all(joins: str) -> None:
    data = workflow([start(), *BODY, "m"], "s>a s>b a>e e.false>m b>f f.false>m m>a m>b")
    if joins == "each":
        assert all("joins=once" in problem for problem in problems(data))
    else:
        found = ran(data, three_times, joins=joins)
        assert found.prompts[2] in ("M [A x]\n\n[B x]", "M [B x]\n\n[A x]")


def test_a_loop_in_a_loop_may_be_entered_at_several_nodes() -> None:
    answers: dict[str, Any] = {"O": iter(["left", "right"]), "A": iter("ab"), "B": iter("ab")}
    nodes = [start(), agent("o", "O"), if_("i", ("equal", "left")), agent("a", "A"), agent("b", "B")]
    inner = [if_("e", ("equal", "a")), if_("f", ("equal", "a")), if_("end", ("equal", "b"))]
    edges = "s>o o>i i.condition-0>a i.false>b a>e e.condition-0>b b>f f.condition-0>a e.false>end f.false>o"
    found = ran(
        workflow([*nodes, *inner], edges), lambda request: next(answers[str(request.messages[-1].content)])
    )
    assert found.prompts == ["O", "A", "B", "A"]
