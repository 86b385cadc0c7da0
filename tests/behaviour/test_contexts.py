"""Conversations in a run (S10)."""

from __future__ import annotations

from typing import Any

from anyio import Event, create_task_group
from anyio.lowlevel import checkpoint

from dataflow import ExecutionContext, Flow, Message, ProcessMemo, Result, Store, merge_contexts, node
from tests.behaviour.nodes import ident, inc
from tests.behaviour.table import failed_run


async def chat(context: ExecutionContext, text: str) -> ExecutionContext:
    return context.append(Message("user", text), Message("assistant", f"re:{text}"))


async def breaks(context: ExecutionContext, text: str) -> ExecutionContext:
    raise ValueError(text)


def named(name: str, function: Any = chat) -> Any:
    return node(function).with_(name=name)


def said(context: ExecutionContext) -> list[Any]:
    return [message.content for message in context.message_history]


def two_chats(how: Any, texts: tuple[str, str] = ("a", "b"), second: Any = chat) -> Flow:
    with Flow("two") as f:
        first = f.add(named("first"), f.context("main", system="S", model="p/m"), "start")
        a = f.add(named("a"), first.out, texts[0])
        b = f.add(named("b", second), first.out, texts[1])
        f.output("last", f.add(named("c"), merge_contexts(a.out, b.out, how=how), "c").out)
    return f


START = ["start", "re:start"]


def shortest(contexts: list[ExecutionContext]) -> ExecutionContext:
    return ExecutionContext(f"{len(contexts)} together")


def fails(contexts: list[ExecutionContext]) -> ExecutionContext:
    raise ValueError("cannot merge")


def counts(contexts: list[ExecutionContext]) -> int:
    return len(contexts)


async def test_conversations_are_merged_as_the_flow_says() -> None:
    ways: tuple[tuple[Any, tuple[str, str], list[str]], ...] = (
        ("pick", ("a", "b"), [*START, "a", "re:a", "c", "re:c"]),
        ("append", ("a", "b"), [*START, "a", "re:a", "b", "re:b", "c", "re:c"]),
        ("append", ("same", "same"), [*START, *["same", "re:same"] * 2, "c", "re:c"]),
        ("results", ("a", "b"), [*START, "re:a", "re:b", "c", "re:c"]),
        (shortest, ("a", "b"), ["c", "re:c"]),
    )
    for how, texts, history in ways:
        assert said((await two_chats(how, texts).run())["last"]) == history


async def test_what_is_skipped_is_not_merged() -> None:
    with Flow() as f:
        main, exits = f.context("main"), f.when(f.input("text", str), lambda text: len(text) > 1)
        a, b = f.add(named("a"), main, exits.yes), f.add(named("b"), main, exits.no)
        f.output("last", merge_contexts(a.out, b.out, how="append"))
        f.output("none", merge_contexts(f.add(named("d"), a.out, exits.no).out, how="append"))
    result = await f.run(text="long")
    assert said(result["last"]) == ["long", "re:long"]
    assert "none" not in result.outputs


async def test_an_error_of_one_is_an_error_of_all() -> None:
    for how in ("append", "results", shortest):
        failed = await failed_run(two_chats(how, second=breaks).using(errors="continue"))
        assert [failure.path for failure in failed.failures] == ["b"]
        assert failed.result.states["c"] == "not_run"


async def test_what_cannot_be_merged_fails_the_merge() -> None:
    """A function that fails or returns something else, a value that is not a conversation."""
    ends: tuple[tuple[Any, str, str], ...] = (
        (fails, "ValueError", "cannot merge"),
        (counts, "NodeFailed", "DF0812 merge_contexts:"),
    )
    for how, kind, text in ends:
        (failure,) = (await failed_run(two_chats(how))).failures
        assert (failure.path, failure.type) == ("merge_contexts", kind)
        assert failure.message.startswith(text)
    with Flow() as f:
        f.output("last", merge_contexts(f.add(ident, "text").out, f.context("main"), how="append"))
    (failure,) = (await failed_run(f)).failures
    assert failure.message.startswith("DF0601 merge_contexts: value of ident.out:")


# Two chats on one context at the same time (B15)


def chats(texts: tuple[str, str], requests: list[list[Any]], *, first_fails: bool = False) -> Flow:
    has_ended = Event()

    async def asks(context: ExecutionContext, text: str, waits: bool = False) -> ExecutionContext:
        requests.append([context.system_instructions, *said(context), text])
        if waits:
            await has_ended.wait()
            if first_fails:
                raise ValueError("the first fails")
        answered = context.append_turn(Message("user", text), Message("assistant", f"re:{text}"))
        has_ended.set()
        return answered

    with Flow("chats") as f:
        main, other = f.context("main", system="S"), f.context("other")
        a = f.add(named("a", asks), main, texts[0], waits=True)
        b = f.add(named("b", asks), main, texts[1])
        f.output("b", b.out)
        f.output("other", f.add(named("d", asks), other, "d").out)
        f.output("last", f.add(named("c", asks), merge_contexts(a.out, b.out, how="append"), "c").out)
    return f


async def test_of_two_concurrent_chats_each_question_has_its_own_answer() -> None:
    for texts in (("a", "b"), ("same", "same")):
        requests: list[list[Any]] = []
        result = await chats(texts, requests).run()
        pairs = [part for text in texts for part in (text, f"re:{text}")]
        assert said(result["last"]) == [*pairs, "c", "re:c"]
        assert requests[-1] == ["S", *pairs, "c"]
        assert said(result["other"]) == ["d", "re:d"]
    result = (await failed_run(chats(("a", "b"), [], first_fails=True).using(errors="continue"))).result
    assert (said(result["b"]), result.states["a"], result.states["c"]) == (["b", "re:b"], "failed", "not_run")


# A hundred runs of one flow at once (B14)

MANY = 100


def meeting_flow() -> Flow:
    """Wire a conversation that goes on once all runs have got there, at a pace of its own in each."""
    come, all_have_come = list[str](), Event()

    async def talk(context: ExecutionContext, message: str) -> ExecutionContext:
        asked = context.append(Message("user", message))
        come.append(message)
        if len(come) == MANY:
            all_have_come.set()
        await all_have_come.wait()
        for _ in range(int(message[1:]) % 7):
            await checkpoint()
        return asked.append(Message("assistant", f"re:{message}"))

    with Flow("hundred") as f:
        f.output("context", f.add(talk, f.context("main", system="S"), f.input("msg", str)).out)
        with f.loop(limit=3) as loop:
            v = loop.carry(f.input("v", int))
            v.next(f.add(inc, v.out).out)
        f.output("n", v.final)
    return f


async def test_a_hundred_concurrent_runs_share_nothing() -> None:
    flow, results = meeting_flow(), dict[int, Result]()
    before = (vars(flow).copy(), repr(flow.wiring), flow.compile())

    async def run(number: int) -> None:
        results[number] = await flow.run(msg=f"m{number}", v=number)

    async with create_task_group() as group:
        for number in range(MANY):
            group.start_soon(run, number)
    for number, result in results.items():
        context = result["context"]
        assert said(context) == [f"m{number}", f"re:m{number}"]
        assert (result["n"], context.system_instructions) == (number + 3, "S")
    assert len({result.run_id for result in results.values()}) == MANY
    assert len({result["context"].context_id for result in results.values()}) == MANY
    assert (vars(flow), repr(flow.wiring), flow.compile()) == before


async def test_what_is_remembered_of_a_conversation_is_not_said_twice() -> None:
    async def base() -> ExecutionContext:
        return ExecutionContext("c", message_history=[Message("user", "hello")])

    async def say(context: ExecutionContext, text: str) -> ExecutionContext:
        role: Any = "assistant" if text.startswith("re") else "user"
        return context.append(Message(role, text))

    memos: tuple[Any, ...] = ("run", "process", "store")
    ways: tuple[tuple[Any, list[str]], ...] = (("append", ["a", "b"]), ("results", ["re a", "re b"]))
    for memo in memos:
        for how, texts in ways:
            with Flow("remembered") as flow:
                start = flow.add(base).out
                one = flow.add(node(say).with_(name="one", memo=memo), context=start, text=texts[0])
                two = flow.add(node(say).with_(name="two"), context=start, text=texts[1])
                flow.output("c", merge_contexts(one.out, two.out, how=how))
            remembering = flow.using(memo=Store.memory() if memo == "store" else ProcessMemo())
            for _ in range(2):
                assert said((await remembering.run())["c"]) == ["hello", *texts]
