"""F-C08: each call of `each` is a map of its own, unless something inside depends on two of them (S7.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowEdited, FlowInvalid, Store, collect, each, gather, merge
from dataflow.compiler.plan import MapOf, ScopePlan
from dataflow.durable.graph_signature import shape_of
from tests.support.codes import codes

XS: Final = [1, 3, 5]


async def strict(i: int) -> int:
    if i == 3:
        raise ValueError("not 3")
    return i


async def tenfold(i: int) -> int:
    return i * 10


async def pair(a: Any, b: Any) -> int:
    return int(a) + int(b)


async def total(xs: list[int]) -> int:
    return sum(xs)


async def twice(i: int) -> list[int]:
    return [i, i]


def two(**options: Any) -> Flow:
    """Map over one list twice, with these options for the map that fails."""
    with Flow("two") as flow:
        xs = flow.input("xs", list[int], XS)
        flow.output("strict", collect(flow.add(strict, i=each(xs, **options)).out))
        flow.output("tenfold", collect(flow.add(tenfold, i=each(xs)).out))
    return flow


def maps_of(flow: Flow) -> int:
    """Count the maps of a flow, at any depth."""
    return sum(isinstance(node.action, MapOf) for plan in _plans(flow.compile().root) for node in plan.nodes)


def _plans(root: ScopePlan) -> Iterator[ScopePlan]:
    todo = [root]
    for plan in todo:
        yield plan
        todo += [node.action.body for node in plan.nodes if hasattr(node.action, "body")]


async def test_an_item_left_out_of_one_map_is_in_the_other() -> None:
    for on_error in ("skip", "collect"):
        result = await two(on_error=on_error).run()
        assert result["tenfold"] == [10, 30, 50]
        assert [one for one in result["strict"] if isinstance(one, int)] == [1, 5]
    assert (await two(on_error="skip", max_concurrency=1, key=str).run())["tenfold"] == [10, 30, 50]


Wire = Callable[[Flow, Any, Any, Any], Any]


def _through_others(f: Flow, _xs: Any, a: Any, b: Any) -> Any:
    return f.add(pair, a=f.add(tenfold, i=f.add(tenfold, i=a).out).out, b=f.add(tenfold, i=b).out).out


def _ordered(f: Flow, _xs: Any, a: Any, b: Any) -> Any:
    first, second = f.add(tenfold, i=a), f.add(tenfold, i=b)
    f.after(second, first.done)
    return second.out


def _tested(f: Flow, _xs: Any, a: Any, b: Any) -> Any:
    first, second = f.add(tenfold, i=a), f.add(tenfold, i=b)
    with f.loop(limit=3) as loop:
        number = loop.carry(first.out)
        loop.until(second.out, lambda value: value > 0)
        number.next(f.add(tenfold, i=number.out).out)
    return number.final


def _fed_back(f: Flow, _xs: Any, a: Any, b: Any) -> Any:
    head = f.add(pair, a=a, b=0)
    end = f.when(f.add(pair, a=head.out, b=b).out, lambda value: value < 0)
    f.connect("when.yes", "pair.a", feedback=True, limit=2)
    return end.no


def _nested(f: Flow, _xs: Any, a: Any, b: Any) -> Any:
    inner = f.add(twice, i=a).out
    one = f.add(pair, a=each(inner), b=b)
    return collect(f.add(pair, a=one.out, b=each(inner)).out)


#: What depends on the items `a` and `b` of two calls over one list, and how many maps there are.
WAYS: Final[dict[str, tuple[int, Wire]]] = {
    "a node reads both": (1, lambda f, _xs, a, b: f.add(pair, a=a, b=b).out),
    "a node reads both through others": (1, _through_others),
    "a join reads both": (1, lambda f, _xs, a, b: f.add(total, xs=gather(a, b)).out),
    "a node follows another": (1, _ordered),
    "a loop's test and its first value": (1, _tested),
    "a loop of a feedback edge": (1, _fed_back),
    "a map in the map": (2, _nested),
    "a node with one value twice": (1, lambda f, _xs, a, _b: f.add(pair, a=a, b=a).out),
    "nobody": (2, lambda f, _xs, a, b: (f.add(tenfold, i=b), f.add(strict, i=a).out)[1]),
    "a node reads the list of the other": (
        2,
        lambda f, _xs, a, b: f.add(pair, a=b, b=f.add(total, xs=collect(f.add(strict, i=a).out)).out).out,
    ),
}


def test_what_depends_on_two_calls_makes_them_one_map(subtests: pytest.Subtests) -> None:
    for name, (count, wire) in WAYS.items():
        with subtests.test(name):
            flow = Flow("ways")
            xs = flow.input("xs", list[int], XS)
            flow.output("o", collect(wire(flow, xs, each(xs), each(xs))))
            assert maps_of(flow) == count


def test_one_map_of_two_calls_has_the_signature_of_one_call_used_twice(subtests: pytest.Subtests) -> None:
    """So a run stored before calls were told apart is resumed."""
    for name, (_, wire) in WAYS.items():
        if name in ("nobody", "a node reads the list of the other"):
            continue
        with subtests.test(name):
            shapes = []
            for items in (2, 1):
                flow = Flow("ways")
                xs = flow.input("xs", list[int], XS)
                calls = [each(xs) for _ in range(items)]
                flow.output("o", collect(wire(flow, xs, calls[0], calls[-1])))
                shapes.append(shape_of(flow.compile()).write())
            assert shapes[0] == shapes[1]


async def test_one_call_used_twice_is_one_map() -> None:
    with Flow("once") as flow:
        item: Any = each(flow.input("xs", list[int], XS), on_error="skip")
        flow.output("strict", collect(flow.add(strict, i=item).out))
        flow.output("tenfold", collect(flow.add(tenfold, i=item).out))
    assert (await flow.run())["tenfold"] == [10, 50]


def test_calls_that_are_one_map_have_equal_options() -> None:
    flow = Flow("options")
    xs = flow.input("xs", list[int])
    inner: Any = flow.add(tenfold, i=each(xs, on_error="skip")).out
    flow.add(pair, a=inner, b=merge(each(xs), each(xs)))
    (problem,) = flow.check()
    assert codes([problem]) == ["DF0322 pair.b"]
    assert {"tenfold.i", "pair.b"} <= {*str(problem).replace(":", " ").split()}


def loaded(document: dict[str, Any], folder: Path) -> Flow:
    file = folder / "flow.json"
    file.write_text(json.dumps(document), "utf-8")
    return Flow.load(file)


def test_documents_name_a_call_that_several_sources_share(tmp_path: Path) -> None:
    with Flow("written") as flow:
        xs = flow.input("xs", list[int], XS)
        item: Any = each(xs, on_error="skip")
        flow.output("strict", collect(flow.add(strict, i=item).out))
        flow.output("tenfold", collect(flow.add(tenfold, i=item).out))
        flow.output("apart", collect(flow.add(tenfold, i=each(xs)).out))
    document = flow.to_dict()
    inputs = [node["inputs"]["i"] for node in document["nodes"].values()]
    assert [given.get("share") for given in inputs] == ["items_1", "items_1", None]
    again = loaded(document, tmp_path)
    assert again.run_sync().outputs == {"strict": [1, 5], "tenfold": [10, 50], "apart": [10, 30, 50]}
    assert again.to_dict() == document
    for one, other in (("$in.xs", "$in.ys"), ("$in.xs", "inside")):
        assert _shared(one, other, tmp_path) == ["DF0372"]


def _shared(first: str, second: str, folder: Path) -> list[str]:
    """Check a document in which two sources say the same share, over two lists or in two blocks."""

    def node(source: str) -> dict[str, Any]:
        return {"type": "control.expression", "config": {"expression": "i"},
                "inputs": {"i": {"each": source, "share": "s"}}}  # fmt: skip

    nodes = {"a": node(first), "b": node(second)}
    if second == "inside":
        body = {"nodes": {"c": node(first)}, "outputs": {"o": {"collect": "c"}}}
        nodes["b"] = {"map": {"over": {"x": "$in.ys"}, **body}}
    document = {"dataflow": 1, "inputs": {"xs": {}, "ys": {}}, "nodes": nodes}
    with pytest.raises(FlowInvalid) as caught:
        loaded(document, folder)
    return [problem.code for problem in caught.value.problems]


def asking(*, calls: int, readers: tuple[Any, ...] = (tenfold, twice)) -> Flow:
    """Ask per item of a map, beside one of another call, or of the same one."""
    with Flow("asking") as flow:
        xs = flow.input("xs", list[int], XS)
        items: list[Any] = [each(xs) for _ in range(calls)]
        for reader, item in zip(readers, (items[0], items[-1]), strict=True):
            flow.output(reader.__name__, collect(flow.add(reader, i=item).out))
        flow.output("answer", flow.ask(int, "how many?").out)
    return flow


async def test_a_stored_run_whose_maps_are_apart_now_is_refused_with_the_reason() -> None:
    store = Store.memory()
    paused = await asking(calls=1).using(store=store).run()
    assert paused.status == "paused"
    with pytest.raises(FlowEdited) as caught:
        await asking(calls=2).using(store=store).resume(paused.run_id, {"ask": 1})
    assert caught.value.maps == ("tenfold/twice -> twice",)
    assert codes(caught.value)[0].startswith("DF1201")
    again = await asking(calls=1).using(store=store).resume(paused.run_id, {"ask": 1})
    assert again.status == "completed"


async def test_a_map_with_another_first_reader_is_not_said_to_be_of_another_call() -> None:
    store = Store.memory()
    paused = await asking(calls=1).using(store=store).run()
    with pytest.raises(FlowEdited) as caught:
        await asking(calls=1, readers=(twice, tenfold)).using(store=store).resume(paused.run_id, {"ask": 1})
    assert caught.value.maps == ()
