"""F-C09, F-C15, F-C16: values have the types of their ports, and a config is what was given."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, TypeVar

import pytest
from pydantic import BaseModel, Field, ValidationError

from dataflow import (
    Config,
    Flow,
    FlowInvalid,
    Maybe,
    NodeOutput,
    Ports,
    RunFailed,
    collect,
    each,
    node,
    this_firing,
    threaded,
)
from tests.support.codes import codes

T = TypeVar("T")
K = TypeVar("K")
Positive = Annotated[int, Field(gt=0)]


class Pair(NamedTuple):
    one: int
    two: str


class Keys(TypedDict):
    one: int
    two: str


async def number(x: int) -> int:
    return x


def read(x: Any) -> Any:
    return number(x)


async def as_value(x: int) -> Any:
    return number(x)


async def in_pair(x: int) -> Pair:
    return Pair(number(x), "a")  # type: ignore[arg-type]  # what is tested


async def in_keys(x: int) -> Keys:
    return {"one": number(x), "two": "a"}  # type: ignore[typeddict-item]  # what is tested


async def whole_pair(x: int) -> Pair:
    return other_pair(x)  # type: ignore[return-value]  # what is tested


async def other_pair(x: int) -> Pair:
    return Pair(x, "a")


@node(ports=lambda _: Ports({"x": Any}, {"out": Any}))
async def in_output(inputs: dict[str, Any]) -> NodeOutput:
    return NodeOutput({"out": number(inputs["x"])})


async def as_item(x: int) -> AsyncIterator[Any]:
    yield number(x)


async def as_piece(x: int) -> int:
    this_firing().emit(number(x))
    return x


def test_a_coroutine_is_refused_wherever_a_node_returns_one() -> None:
    returning: Any = (as_value, in_pair, in_keys, whole_pair, as_item, as_piece, threaded(read))
    for function in returning:
        with Flow("f") as flow:
            flow.output("o", flow.add(function, x=1).out)
        for kept in (True, False):
            with pytest.raises(RunFailed) as failed:
                flow.using(keep=kept).run_sync()
            assert [failure.code for failure in failed.value.failures] == ["DF0880"]
    with Flow("f") as flow:
        flow.output("o", flow.add(in_output, x=1).out.out)
    with pytest.raises(RunFailed) as failed:
        flow.run_sync()
    assert [failure.code for failure in failed.value.failures] == ["DF0880"]


def test_a_coroutine_is_refused_wherever_a_flow_is_given_one() -> None:
    made: Any = number(1)
    flow = Flow("f")
    flow.output("straight", made)
    flow.add(as_value, x=made)
    flow.input("x", Any, made)
    flow.add(node(default=made)(in_list))
    assert sorted(codes(flow.check())) == [
        "DF0601 in_list.policy.default",
        "DF0601 inputs.x.default",
        "DF0880 as_value.x",
        "DF0880 outputs.straight",
    ]
    flow = Flow("f")
    flow.output("o", flow.input("x", Any))
    with pytest.raises(FlowInvalid) as refused:
        flow.run_sync(x=made)
    assert codes(refused.value) == ["DF0601 input 'x'"]
    made.close()


MADE: list[Any] = []  # coroutines that nobody awaits, to close


def unawaited() -> Any:
    MADE.append(number(1))
    return MADE[-1]


async def in_list() -> list[Any]:
    return [1, unawaited()]


async def in_dict() -> dict[str, Any]:
    return {"a": unawaited()}


async def deep() -> Any:
    return {"a": ({"b": unawaited()},)}


async def stream() -> Any:
    return as_item(1)


async def task() -> Any:
    return asyncio.ensure_future(number(1))


async def declared() -> list[Awaitable[int]]:
    return [unawaited()]


def test_with_check_values_nobody_forgets_to_await_a_part() -> None:
    for function, place in ((in_list, "[1]"), (in_dict, ".a"), (deep, ".a[0].b"), (stream, ""), (task, "")):
        with Flow("f") as flow:
            flow.output("o", flow.add(function).out)
        flow.run_sync()
        with pytest.raises(RunFailed) as failed:
            flow.using(check_values=True).run_sync()
        [failure] = failed.value.failures
        assert failure.message.split(":")[0] == f"DF0805 {function.__name__}.out{place}"
    with Flow("f") as flow:
        flow.output("o", flow.add(declared).out)
    assert isinstance(flow.using(check_values=True).run_sync()["o"][0], Awaitable)
    for made in MADE:
        made.close()


async def text(x: int) -> int:
    return "seven"  # type: ignore[return-value]  # what is tested


async def none_for_pair(x: int) -> Maybe[Pair]:
    return Pair(None, "a")  # type: ignore[arg-type]  # what is tested


async def texts(x: int) -> list[int]:
    return [1, "two"]  # type: ignore[list-item]  # what is tested


async def without_key(x: int) -> dict[str, Keys]:
    return {"k": {"one": 1}}  # type: ignore[typeddict-item]  # what is tested


async def negative(x: int) -> Positive:
    return -x


async def minus(x: int) -> int:
    return -x


async def root(x: Positive) -> int:
    return x


WRONG: dict[Callable[..., Any], str] = {
    text: "text.out",
    none_for_pair: "none_for_pair.one",
    texts: "texts.out[1]",
    without_key: "without_key.out.k.two",
    negative: "negative.out",
}


def test_with_check_values_the_node_that_gives_a_value_fails() -> None:
    for function, place in WRONG.items():
        with Flow("f") as flow:
            flow.output("o", flow.add(function, x=1).out)
        flow.run_sync()
        with pytest.raises(RunFailed) as failed:
            flow.using(check_values=True).run_sync()
        [failure] = failed.value.failures
        assert (failure.node, failure.message.split(":")[0]) == (function.__name__, f"DF0805 {place}")
    with Flow("f") as flow:
        flow.output("o", flow.add(root, x=flow.add(minus, x=1).out).out)
    with pytest.raises(RunFailed) as failed:
        flow.using(check_values=True).run_sync()
    assert [one.node for one in failed.value.failures] == ["minus"]
    with Flow("f") as flow:
        flow.output("o", collect(flow.add(number, x=each([1, 2])).out))
    assert flow.using(check_values=True).run_sync()["o"] == [1, 2]


def test_documents_check_values_too(tmp_path: Path) -> None:
    with Flow("f") as flow:
        flow.output("o", flow.add(text, x=1).out)
    written = flow.using(check_values=True).to_dict()
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(written))
    with pytest.raises(RunFailed):
        Flow.load(path).run_sync()


def test_constraints_hold_for_constants_and_inputs() -> None:
    for kind, right, wrong in (
        (Positive, 1, -3),
        (Annotated[str, Field(max_length=2)], "ab", "abc"),
        (Annotated[str, Field(pattern="^a")], "ab", "b"),
        (Annotated[list[Positive], Field(min_length=1)], [1], []),
        (list[Positive], [1], [0]),
        (Literal["a"], "a", "b"),
    ):

        async def takes(x: kind) -> Any:  # type: ignore[valid-type]  # known at run time only
            return x

        takes.__annotations__ = {"x": kind, "return": Any}
        flow = Flow("f")
        flow.output("o", flow.add(takes, x=wrong).out)
        assert codes(flow.check())[0].startswith("DF0601 takes.x")
        flow = Flow("f")
        flow.output("o", flow.add(takes, x=flow.input("x", Any)).out)
        assert flow.run_sync(x=right)["o"] == right
        with pytest.raises((FlowInvalid, RunFailed)):
            flow.run_sync(x=wrong)
    flow = Flow("f")
    flow.output("o", flow.add(root, x=flow.input("x", int)).out)
    with pytest.raises(FlowInvalid) as refused:
        flow.run_sync(x=-3)
    assert codes(refused.value) == ["DF0601 input 'x'"]
    flow = Flow("f")
    flow.output("o", flow.input("x", Positive))
    with pytest.raises(FlowInvalid):
        flow.run_sync(x=-3)


async def first(xs: list[T]) -> T:
    return xs[0]


async def a_value(xs: dict[str, T]) -> T:
    return next(iter(xs.values()))


async def or_zero(xs: list[T] | None) -> list[T]:
    return xs or []


async def head(xs: list[int]) -> int:
    return xs[0]


async def strings() -> list[str]:
    return ["a"]


def test_a_type_variable_keeps_the_type_of_the_items() -> None:
    cases: list[tuple[Any, Any, Any, bool]] = [
        (first, ["a"], number, False),
        (first, [2], number, True),
        (first, [], number, True),
        (first, [2, "a"], number, False),
        (a_value, {"k": "a"}, number, False),
        (a_value, {"k": 1}, number, True),
        (or_zero, ["a"], head, False),
        (or_zero, [1], head, True),
    ]
    for function, constant, reader, fits in cases:
        flow = Flow("f")
        made = flow.add(function, xs=constant).out
        flow.output("o", flow.add(reader, **{"xs" if reader is head else "x": made}).out)
        assert [one.code for one in flow.check()] == ([] if fits else ["DF0308"])
    flow = Flow("f")
    bound: Any = flow.add(first, xs=flow.add(strings).out).out
    flow.output("o", flow.add(number, x=bound).out)
    assert [one.code for one in flow.check()] == ["DF0308"]


class Inner(BaseModel):
    words: list[str] = []
    size: int = 0


@dataclass
class Part:
    words: list[str] = field(default_factory=list)
    size: int = 0


class Tags(Config):
    tags: list[str] = Field(default=[])
    inner: Inner = Inner()
    part: Part = Part()
    last: deque[str] = Field(default=deque())
    table: dict[str, list[str]] = Field(default={"a": []})


async def tagging(x: int, config: Tags = Tags()) -> list[Any]:  # noqa: B008 - frozen
    config.tags.append("x")
    config.table["a"].append("x")
    config.last.append("x")
    for part in (config.inner, config.part):
        part.words.append("x")
        part.size += 1
    lists = config.inner.words, config.part.words, config.table["a"], config.last
    return [*config.tags, *(word for words in lists for word in words), config.inner.size, config.part.size]


@node(ports=lambda _: Ports({"x": Any}, {"out": Any}))
async def raw_tagging(inputs: dict[str, Any], config: Tags) -> NodeOutput:
    return NodeOutput({"out": await tagging(inputs["x"], config)})


def test_each_firing_sees_the_config_as_it_was_given() -> None:
    shared = Tags(tags=["t"])
    with Flow("f") as flow:
        flow.output("default", collect(flow.add(tagging, x=each([1, 2])).out))
        flow.output("one", flow.add(tagging, x=1, config=shared).out)
        flow.output("two", flow.add(tagging, x=1, config=shared).out)
        flow.output("raw", flow.add(raw_tagging, config=shared, x=1).out.out)
    for _ in range(2):
        outputs = flow.run_sync().outputs
        expected = ["x", "x", "x", "x", "x", 1, 1]
        assert outputs["default"] == [expected] * 2
        assert outputs["one"] == outputs["two"] == outputs["raw"] == ["t", *expected]
    assert shared.tags == ["t"]


class Options(Config):
    limit: int = "many"  # type: ignore[assignment]  # what is tested


async def show(config: Options) -> int:
    return config.limit


def test_a_default_of_the_wrong_type_is_refused() -> None:
    flow = Flow("f")
    flow.output("o", flow.add(show).out)  # type: ignore[call-arg]  # it has its default
    assert [problem.code for problem in flow.check()] == ["DF0415"]
    with pytest.raises(ValidationError):
        Options()


class Nested(BaseModel):
    limit: Positive = 0
    left_out: int = None  # type: ignore[assignment]  # an idiom of pydantic


@dataclass
class Slots:
    names: tuple[str, ...] = (1,)  # type: ignore[assignment]  # what is tested


class Outer(Config):
    nested: Nested = Nested(limit=1)
    slots: list[Slots] = Field(default=[])


async def outer(config: Outer) -> int:
    return config.nested.limit


def test_a_default_of_the_wrong_type_within_a_config_is_refused() -> None:
    cases: list[tuple[Any, list[str]]] = [
        ({"nested": {"limit": 1}}, []),
        ({"nested": {}}, ["DF0415 outer.config.nested.limit"]),
        ({"slots": [{"names": ["a"]}]}, []),
        ({"slots": [{}]}, ["DF0415 outer.config.slots.0.names.0"]),
    ]
    for given, problems in cases:
        flow = Flow("f")
        flow.output("o", flow.add(outer, given).out)
        assert codes(flow.check()) == problems
