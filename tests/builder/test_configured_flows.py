"""Functions that wire a flow for a config: each node has the flow of its own config (S1.2, S1.3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from dataflow import Config, Flow, Maybe, Pack, flow
from tests.behaviour.flow_parts import inc, length
from tests.support.codes import codes

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


async def same(value: T) -> T:
    return value


async def word(value: Any) -> str:
    return str(value)


@flow
def counting(f: Flow, n: int, config: Steps = Steps()) -> int:  # noqa: B008 - frozen
    """Add one as often as the config says."""
    for _ in range(config.count):
        n = f.add(inc, x=n).out
    return n


@flow
def needing(f: Flow, n: int, *, config: Needed) -> int:
    return f.add(counting, n=n, config=Steps(count=config.count)).out


@flow
def parting(f: Flow, value: T, config: Steps = Steps()) -> Parted[T]:  # noqa: B008 - frozen
    sides = f.when(f.add(same, value=value).out, lambda found: found is not None)
    return Parted(sides.yes, sides.no, f.add(word, value=value).out)


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


def test_a_missing_or_wrong_config_is_a_problem_where_it_is_placed() -> None:
    assert codes(needing.check()) == ["DF0221 needing"]
    f: Any = Flow()
    f.add(needing, n=1)
    f.add(counting, n=1, config={"count": "many"})
    f.add(counting, n=1, config=f.input("config", Steps))
    assert codes(f.check()) == [
        "DF0205 counting_2", "DF0416 needing.config.count", "DF0415 counting.config.count"
    ]  # fmt: skip


def test_problems_inside_are_told_where_it_is_placed() -> None:
    @flow
    def faulty(f: Flow, n: int, config: Steps) -> int:
        return f.add(length, text=n).out  # type: ignore[arg-type]  # on purpose

    @flow
    def both(f: Flow, n: int, config: Steps, other: Needed) -> int:
        return f.add(inc, x=n).out

    f = Flow()
    f.add(faulty, n=1, config=Steps())
    f.add(both, n=1, config=Steps(), other=Needed(count=1))
    assert codes(f.check()) == ["DF0407 both", "DF0308 faulty/length.text"]


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


def test_a_document_names_it_with_its_config(tmp_path: Path) -> None:
    with Flow("f") as f:
        f.output("n", f.add(counting, n=1, config=Steps(count=2)).out)
    document = f.to_dict()
    assert document["nodes"] == {
        "counting": {"type": f"{__name__}:counting", "config": {"count": 2}, "values": {"n": 1}}
    }
    file = tmp_path / "f.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert Flow.load(file).run_sync()["n"] == 3
