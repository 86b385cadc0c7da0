"""`fallback` asks for its second source only when the first is a skip, as after a failure (S5.3, S8.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, Lazy, RunFailed, Store, collect, each, fallback, merge, node, race
from dataflow_agent import Chat, ScriptedAnswer, chat, scripted

FIRED: Final[list[str]] = []


@pytest.fixture(autouse=True)
def _nothing_fired() -> Iterator[None]:
    FIRED.clear()
    yield
    FIRED.clear()


@node(on_error="skip")
async def first(x: int) -> int:
    FIRED.append(f"first {x}")
    if x < 0:
        raise ValueError("no")
    return x


async def second(x: int) -> int:
    FIRED.append(f"second {x}")
    return -10 * x


async def third(x: int) -> int:
    FIRED.append(f"third {x}")
    return x


async def fails(x: int) -> int:
    FIRED.append(f"fails {x}")
    raise ValueError("never")


async def priced(x: int, price: Lazy[int]) -> int:
    return x + price


Build = Callable[[Flow, Any], Any]


def _both(f: Flow, x: Any) -> tuple[Any, Any]:
    return f.add(first, x=x).out, f.add(second, x=x).out


def _plain(f: Flow, x: Any) -> Any:
    return fallback(*_both(f, x))


def _behind(f: Flow, x: Any) -> Any:
    """The second source is what comes of two nodes."""
    return fallback(f.add(first, x=x).out, f.add(second, x=f.add(third, x=x).out).out)


def _joined(f: Flow, x: Any) -> Any:
    """The second source is a join of a fallback."""
    return fallback(f.add(first, x=x).out, merge(fallback(f.add(first, x=x).out, f.add(second, x=x).out), 0))


def _shared(f: Flow, x: Any) -> Any:
    one, other = _both(f, x)
    f.output("read", other)
    return fallback(one, other)


def _flow(f: Flow, x: Any) -> Any:
    with Flow("inner") as inner:
        inner.output("o", inner.add(second, x=inner.input("x", int)).out)
    return fallback(f.add(first, x=x).out, f.add(inner, x=x).out.o)


def _failing(f: Flow, x: Any) -> Any:
    """What is not asked for does not fail either; the last is a constant."""
    return fallback(f.add(first, x=x).out, f.add(node(fails).with_(on_error="skip"), x=x).out, 7)


def _raced(f: Flow, x: Any) -> Any:
    return race(fallback(*_both(f, x)))


def _behind_a_lazy_port(f: Flow, x: Any) -> Any:
    return f.add(priced, x=0, price=fallback(*_both(f, x))).out


def _in_a_loop(f: Flow, x: Any) -> Any:
    with f.loop(limit=2) as loop:
        number = loop.carry(x)
        number.next(fallback(*_both(f, number.out)))
    return number.final


#: What is fired with 1, and with -1 as the input.
WAYS: Final[tuple[tuple[Build, list[str], list[str], tuple[int, int]], ...]] = (
    (_plain, ["first 1"], ["first -1", "second -1"], (1, 10)),
    (_behind, ["first 1"], ["first -1", "third -1", "second -1"], (1, 10)),
    (_joined, ["first 1"], ["first -1", "first -1", "second -1"], (1, 10)),
    (_shared, ["first 1", "second 1"], ["first -1", "second -1"], (1, 10)),
    (_flow, ["first 1"], ["first -1", "second -1"], (1, 10)),
    (_failing, ["first 1"], ["first -1", "fails -1"], (1, 7)),
    (_raced, ["first 1"], ["first -1", "second -1"], (1, 10)),
    (_behind_a_lazy_port, ["first 1"], ["first -1", "second -1"], (1, 10)),
    (_in_a_loop, ["first 1", "first 1"], ["first -1", "second -1", "first 10"], (1, 10)),
)


def made(build: Build) -> Flow:
    with Flow("fallbacks") as flow:
        flow.output("o", build(flow, flow.input("x", int)))
    return flow


async def test_the_second_runs_only_when_the_first_has_no_value(subtests: pytest.Subtests) -> None:
    for build, fine, failed, came in WAYS:
        with subtests.test(build.__name__):
            flow = made(build)
            for x, wanted, value in zip((1, -1), (fine, failed), came, strict=True):
                FIRED.clear()
                assert (await flow.run(x=x))["o"] == value
                assert sorted(FIRED) == sorted(wanted)
                FIRED.clear()
                assert await flow.pull("o", x=x) == value
                assert sorted(FIRED) == sorted(one for one in wanted if one != "second 1")


async def test_items_ask_each_for_their_own_second_and_share_one_from_around() -> None:
    with Flow("items") as flow:
        xs = flow.input("xs", list[int])
        item: Any = each(xs)
        flow.output("own", collect(fallback(*_both(flow, item))))
        around = flow.add(third, x=5).out
        flow.output("shared", collect(fallback(flow.add(first, x=each(xs)).out, around)))
    result = await flow.run(xs=[1, -2, -3])
    assert result.outputs == {"own": [1, 20, 30], "shared": [1, 5, 5]}
    assert sorted(one for one in FIRED if "first" not in one) == ["second -2", "second -3", "third 5"]
    FIRED.clear()
    result = await flow.run(xs=[1])
    assert (result.outputs, sorted(FIRED)) == ({"own": [1], "shared": [1]}, ["first 1", "first 1"])


async def test_why_says_that_the_second_was_not_asked_for() -> None:
    result = await made(_plain).run(x=1)
    assert result.states["second"].value == "not_run"
    assert "not demanded" in result.why("second")


async def test_a_failure_that_nothing_handles_still_fails_the_run() -> None:
    with Flow("fails") as flow:
        x = flow.input("x", int)
        flow.output("o", fallback(flow.add(fails, x=x).out, flow.add(second, x=x).out))
    with pytest.raises(RunFailed):
        await flow.run(x=1)
    assert FIRED == ["fails 1"]


async def test_a_paused_run_resumes_without_asking_the_first_again(tmp_path: Path) -> None:
    def flow() -> Flow:
        with Flow("asks") as f:
            x = f.input("x", int)
            asked = f.ask(int, "instead?", show=f.add(third, x=x).out)
            f.output("o", fallback(f.add(first, x=x).out, asked.out))
        return f.using(store=Store.sqlite(tmp_path / "runs.db"))

    fine = await flow().run(x=1)
    assert (fine.status, fine.outputs, FIRED) == ("completed", {"o": 1}, ["first 1"])
    FIRED.clear()
    paused = await flow().run(x=-1)
    assert (paused.status, FIRED) == ("paused", ["first -1", "third -1"])
    again = await flow().resume(paused.run_id, {"ask": 4})
    assert (again.outputs, FIRED) == ({"o": 4}, ["first -1", "third -1"])


async def test_a_live_session_asks_the_second_when_the_first_comes_to_fail() -> None:
    async with made(_plain).live(x=1) as session:
        for x, value, wanted in ((1, 1, 0), (-1, 10, 1), (2, 2, 1), (-1, 10, 1), (-3, 30, 2), (3, 3, 2)):
            await session.update(x=x)
            assert await session.get("o") == value
            assert sum("second" in one for one in FIRED) == wanted


async def test_what_is_not_asked_for_is_not_looked_up_in_a_memo(tmp_path: Path) -> None:
    with Flow("memo") as flow:
        x = flow.input("x", int)
        stored = node(second).with_(memo="store")
        flow.output("o", fallback(flow.add(first, x=x).out, flow.add(stored, x=x).out))
    kept = flow.using(store=Store.sqlite(tmp_path / "runs.db"))
    for x in (1, -1, -1, 1):
        await kept.run(x=x)
    assert [one for one in FIRED if "second" in one] == ["second -1"]


async def test_documents_ask_alike(tmp_path: Path) -> None:
    file = tmp_path / "flow.json"
    nodes = {
        "a": {"type": "control.if", "config": {"condition": "value > 0"}, "inputs": {"value": "$in.x"}},
        "b": {"type": "control.fail", "config": {"message": "called"}},
    }
    outputs = {"o": {"fallback": ["a.yes", "b"]}}
    document = {"dataflow": 1, "inputs": {"x": {}}, "nodes": nodes, "outputs": outputs}
    file.write_text(json.dumps(document), "utf-8")
    flow = Flow.load(file)
    assert (await flow.run(x=1))["o"] == 1
    with pytest.raises(RunFailed):
        await flow.run(x=-1)


async def test_of_two_chats_the_second_is_called_only_when_the_first_fails(tmp_path: Path) -> None:
    with Flow("chats") as flow:
        one = flow.add(node(chat).with_(on_error="skip", name="one"), prompt="hi", config=Chat(model="a/one"))
        two = flow.add(node(chat).with_(name="two"), prompt="hi", config=Chat(model="a/two"))
        flow.output("text", fallback(one.out.text, two.out.text))
    plays: tuple[tuple[list[Any], str], ...] = (
        (["fine"], "fine"),
        ([ScriptedAnswer(error="request_refused"), "instead"], "instead"),
    )
    for at, (answers, text) in enumerate(plays):
        with scripted(*answers) as script:
            result = await flow.using(store=Store.sqlite(tmp_path / "runs.db")).run()
        assert result["text"] == text
        assert [request.model for request in script.requests] == ["a/one", "a/two"][: at + 1]
