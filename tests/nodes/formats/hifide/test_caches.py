"""Caches of HiFide: what is kept, for how long, and what runs before one that has a value."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from dataflow import ExecutionContext, NodeState
from dataflow.core.wiring import node_of_path
from dataflow_formats.hifide.file import MISSING
from dataflow_formats.hifide.nodes import Cache, Keep, cache_by, keep_by
from tests.nodes.formats.hifide.flows import Played, chatting, flow_of, node, play, said_in

EMPTY: Final = ExecutionContext("main")
#: A conversation in rounds, of which each is told what comes out of the cache.
ROUNDS: Final = ("s u", "u c", "f.data c.data", "c q", "c.data q.data", "q u")


async def kept_at(time: float, value: Any = "kept") -> ExecutionContext:
    """Return a conversation on which the cache `c` has kept a value at a time."""
    found = await keep_by(lambda: time)({MISSING: EMPTY, "data": value}, Keep(name="c", wired=["data"]))
    context: ExecutionContext = found.outputs["conversation"]
    return context


#: The config of a cache with a value since 100, the time, and whether the value counts.
TIMES: Final[list[tuple[dict[str, Any], float, bool]]] = [
    ({}, 399, True),
    ({}, 400, False),
    ({"ttl": 0}, 100, False),
    ({"invalidate": 101}, 110, False),
    ({"invalidate": 99}, 110, True),
]


async def test_a_value_counts_while_it_is_fresh() -> None:
    """HF13, HF14."""
    for given, now, is_kept in TIMES:
        config = Cache(name="c", wired=["conversation"], **given)
        found = await cache_by(partial(float, now))({"conversation": await kept_at(100)}, config)
        assert found.metadata == {"cached": is_kept}
        expected = ("kept", False) if is_kept else (None, True)
        assert (found.outputs.get("data"), MISSING in found.outputs) == expected


def cached(**config: Any) -> list[Any]:
    return [
        *chatting(),
        node("m", "manualInput", message="news"),
        node("f", "manualInput"),
        node("c", "cache", **config),
    ]


def runs_of(played: Played, name: str) -> int:
    """Count how often a node has run, in whatever round."""
    done = [path for path, state in played.result.states.items() if state is NodeState.DONE]
    return [node_of_path(path) for path in done].count(name)


async def test_what_comes_before_a_cache_runs_only_where_that_has_no_value() -> None:
    """HF12: what is read in the loop runs in its rounds."""
    for ttl, runs, second in ((300, 1, "one"), (0, 2, "two")):
        played = await play(flow_of(cached(ttl=ttl), "u.data f.data", *ROUNDS), "one", "two")
        told = [said_in(request)[-1] for request in played.requests]
        assert (told, runs_of(played, "f")) == (["user:one", f"user:{second}"], runs)


async def test_what_comes_before_a_cache_outside_the_loop_runs_once() -> None:
    played = await play(flow_of(cached(), "m.data f.data", *ROUNDS), "one", "two")
    assert [said_in(request)[-1] for request in played.requests] == ["user:news", "user:news"]
    assert (runs_of(played, "m"), runs_of(played, "f")) == (1, 1)


async def test_what_others_read_too_runs_in_any_case() -> None:
    nodes = [*cached(), node("other", "manualInput")]
    played = await play(flow_of(nodes, "u.data f.data", "f.data other.data", *ROUNDS), "one", "two")
    assert runs_of(played, "f") == 2


async def test_a_cache_without_data_passes_the_conversation_on() -> None:
    played = await play(flow_of([*chatting(), node("c", "cache")], "s c", "c u", "u q"), "one")
    assert played.value("q.context").context_id == played.value("s.out").context_id


async def test_a_cache_leads_back_to_the_node_that_waits() -> None:
    nodes = [*chatting(), node("c", "cache")]
    played = await play(flow_of(nodes, "s u", "u q", "q c", "q.data c.data", "c u"), "one", "two")
    assert [len(request.messages) for request in played.requests] == [1, 3]
