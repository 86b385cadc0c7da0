"""Functions that wire a flow for a config: each node has the flow of its own config (S1.2, S1.3)."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import pytest

from dataflow import Config, Flow, Maybe, Pack, collect, each, flow
from dataflow.packs.pack import type_of

T = TypeVar("T")


class Steps(Config):
    """How often to add one."""

    count: int = 1


class Needed(Config):
    count: int


class Parted(NamedTuple, Generic[T]):
    low: Maybe[T]
    high: Maybe[T]
    note: str


async def inc(n: int) -> int:
    return n + 1


async def length(text: str) -> int:
    return len(text)


async def same(value: T) -> T:
    return value


async def word(value: Any) -> str:
    return str(value)


@flow
def counting(f: Flow, n: int, config: Steps = Steps()) -> int:  # noqa: B008 - frozen
    """Add one as often as the config says."""
    for _ in range(config.count):
        n = f.add(inc, n=n).out
    return n


@flow
def needing(f: Flow, n: int, *, config: Needed) -> int:
    return f.add(counting, n=n, config=Steps(count=config.count)).out


@flow
def parting(f: Flow, value: T, config: Steps = Steps()) -> Parted[T]:  # noqa: B008 - frozen
    sides = f.when(f.add(same, value=value).out, lambda found: found is not None)
    return Parted(sides.yes, sides.no, f.add(word, value=value).out)


def nodes_of(placed: Flow) -> list[str]:
    return list(placed.run_sync(n=0).states)


async def test_each_node_has_the_flow_of_its_own_config() -> None:
    with Flow() as f:
        once = f.add(counting, n=f.input("n", int), config=Steps(count=1))
        f.output("n", f.add(counting, n=once.out, config=Steps(count=3)).out)
    result = await f.run(n=0)
    assert dict(result.outputs) == {"n": 4}
    assert [path for path in result.states if path.startswith("counting_2/")] == [
        "counting_2/inc",
        "counting_2/inc_2",
        "counting_2/inc_3",
    ]


async def test_a_config_may_come_from_the_config_around_it() -> None:
    with Flow() as f:
        f.output("n", f.add(needing, n=1, config=Needed(count=2)).out)
    assert (await f.run())["n"] == 3


async def test_it_is_called_like_the_function() -> None:
    assert await counting(1) == 2
    assert await counting(1, Steps(count=4)) == 5
    assert await needing(1, config=Needed(count=2)) == 3


async def test_the_flow_of_a_config_is_a_flow_of_its_own() -> None:
    four = counting.with_config(Steps(count=4))
    assert (await four.run(n=1))["out"] == 5
    assert await four(1) == 5
    assert list(four.inputs) == ["n"]
    with Flow() as f:
        f.output("n", f.add(four.with_(name="four"), n=1).out)
    assert "four/inc_4" in (await f.run()).states


def test_without_its_config_it_says_what_it_needs() -> None:
    [problem] = needing.check()
    assert "the flow is wired for a config, 'config'; give it one by with_config(...)" in problem


def test_a_missing_config_is_told_where_it_is_placed() -> None:
    f = Flow()
    f.add(needing, n=1)  # type: ignore[call-arg]  # on purpose
    assert [problem.partition(" (")[0] for problem in f.check()] == ["node 'needing'"]
    assert f.check()[0].endswith("config count: is missing")


def test_a_wrong_config_is_told_where_it_is_placed() -> None:
    f = Flow()
    f.add(counting, n=1, config={"count": "many"})  # type: ignore[arg-type]  # on purpose
    assert f.check()[0].endswith(
        "config count: expected a valid integer, unable to parse string as an integer, found str 'many'"
    )


def test_a_port_is_no_config() -> None:
    f = Flow()
    f.add(counting, n=1, config=f.input("config", Steps))
    assert f.check() == [
        "config 'config' of node 'counting' is fixed while wiring; it cannot be '$in.config'"
    ]


def test_problems_inside_are_told_where_it_is_placed() -> None:
    @flow
    def faulty(f: Flow, n: int, config: Steps) -> int:
        return f.add(length, text=n).out  # type: ignore[arg-type]  # on purpose

    f = Flow()
    f.add(faulty, n=1, config=Steps())
    [problem] = f.check()
    assert problem.startswith("node 'faulty' (")
    assert problem.endswith("port 'length.text' expects str, but $in.n is int")


def test_it_cannot_be_inside_itself() -> None:
    f = Flow()
    f.add(endless, n=1, config=Steps())
    [problem] = f.check()
    assert problem.endswith("flow 'endless' would contain itself")


@flow
def endless(f: Flow, n: int, config: Steps) -> int:
    return f.add(endless, n=n, config=config).out


def test_what_it_passes_on_has_the_type_that_came_in() -> None:
    f = Flow()
    parted = f.add(parting, value=f.input("n", int), config=Steps())
    f.add(inc, n=parted.out.low)
    f.add(length, text=parted.out.high)  # type: ignore[arg-type]  # on purpose
    assert f.check() == ["port 'length.text' expects str, but parting.high is int"]


def test_a_plain_flow_passes_types_on_too() -> None:
    inner = Flow("inner")
    inner.output("value", inner.add(same, value=inner.input("value", Any)).out)
    f = Flow()
    f.add(length, text=f.add(inner, value=f.input("n", int)).out.value)
    assert f.check() == ["port 'length.text' expects str, but inner.value is int"]


async def test_it_is_placed_in_maps_and_loops() -> None:
    with Flow() as f:
        step = f.add(counting, n=each(f.input("ns", list[int])), config=Steps(count=2))
        f.output("ns", collect(step.out))
    assert (await f.run(ns=[1, 2]))["ns"] == [3, 4]


def test_a_pack_may_offer_it() -> None:
    pack = Pack("steps", version="1", api=1, nodes=[counting, parting])
    found = pack.find("counting")
    assert (found.id, list(found.inputs), list(found.outputs)) == ("steps.counting", ["n"], ["out"])
    assert found.text == "Add one as often as the config says."
    assert found.parameters.config is Steps
    assert [
        (port.name, port.same_as, port.conditional) for port in pack.find("parting").outputs.values()
    ] == [
        ("low", "value", True),
        ("high", "value", True),
        ("note", None, False),
    ]


def test_a_pack_may_offer_a_flow_without_a_config() -> None:
    @flow
    def twice(f: Flow, n: int) -> int:
        """Add two."""
        return f.add(inc, n=f.add(inc, n=n).out).out

    found = Pack("steps", version="1", api=1, nodes=[twice]).find("twice")
    assert (found.id, found.text, list(found.inputs)) == ("steps.twice", "Add two.", ["n"])


def test_settings_of_a_flow_are_those_of_the_type_a_pack_makes_of_it() -> None:
    offered = type_of(counting.with_(retries=2), "steps.counting")
    assert offered.policy.given() == counting.with_(retries=2)._policy.given()


def test_a_document_names_it_with_its_config() -> None:
    with Flow("f") as f:
        f.output("n", f.add(counting, n=1, config=Steps(count=2)).out)
    assert f.to_dict()["nodes"] == {
        "counting": {
            "type": f"{__name__}:counting",
            "config": {"count": 2},
            "values": {"n": 1},
        }
    }


@pytest.mark.parametrize("count", [1, 2])
def test_a_document_that_names_it_has_the_flow_of_the_config(count: int, tmp_path: Any) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(
        f"""
dataflow: 1
nodes: {{a: {{type: "{__name__}:counting", config: {{count: {count}}}, values: {{n: 0}}}}}}
outputs: {{n: a}}
"""
    )
    assert Flow.load(file).run_sync()["n"] == count


def test_two_configs_are_a_problem() -> None:
    @flow
    def both(f: Flow, n: int, config: Steps, other: Needed) -> int:
        return f.add(inc, n=n).out

    f = Flow()
    f.add(both, n=1, config=Steps(), other=Needed(count=1))
    assert any("are both config; a node has one config" in problem for problem in f.check())
