"""The types of the public API, asserted for type checkers; never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, TypeVar, assert_type

from dataflow import (
    SKIP, Carry, Config, Diagnostic, Event, ExecutionContext, Expression, Failure, Flow, Lazy, Limit, Loop,
    Maybe, Memo, Message, Node, NodeOutput, Pack, Port, Ports, Result, Retry, Run, Signal, Step, Template,
    Tools, TypedFlow, When, collect, each, fallback, flow, gather, merge, merge_contexts, node, threaded,
)
from tests.typing.examples_core import Parts, split


@dataclass
class Grade:
    mark: int
    note: Maybe[str] = SKIP


class Counts(TypedDict):
    words: int


class Style(Config):
    words: int = 10


async def fetch(url: str) -> str:
    return url


async def grade(text: str) -> Grade:
    return Grade(1)


async def count(text: str) -> Counts:
    return {"words": 1}


async def shorten(text: str, style: Style, *extra: str) -> str:
    return text


async def nothing() -> None: ...


async def maybe(text: str) -> str | None:
    return None


# --- nodes ---------------------------------------------------------------------------------------
@node
async def plain(a: int, b: str = "") -> float:
    return a


@node(name="set", version="2", retries=Retry(2, on=(OSError, "timeout"), backoff="fixed", first=0.5, jitter=True))
async def configured(a: int) -> float:
    return a


@node(retries=1, timeout=2.0, deadline=None, memo="run", on_error="skip", default=0.0, limit="web", effect=True)
async def with_settings(a: int) -> float:
    return a


@node
async def pieces(n: int) -> AsyncIterator[int]:
    yield n


@threaded
def blocking(path: bytes, /, encoding: str = "utf-8") -> Parts:
    return Parts("", [])


async def call_nodes() -> None:
    assert_type(await plain(1, b="x"), float)
    assert_type(await configured(1), float)
    assert_type(await pieces(3), list[int])
    assert_type(await blocking(b""), Parts)
    assert_type(await plain.with_(name="other", retries=2, timeout=None, memo="off", enabled=False)(1), float)
    assert_type(await plain.with_(on_error="route", limit=3)(1), float)
    assert_type(await plain.with_(memo=Memo("store", ttl=60, environment=["LANG"]))(1), float)
    assert_type(plain.name, str)
    assert_type(plain.json_schema(), dict[str, Any])


def nodes_have_the_types_of_their_functions() -> None:
    as_awaitable: Callable[[int], Awaitable[float]] = configured
    renamed: Callable[[int], Awaitable[float]] = configured.with_(name="renamed")
    listed: Callable[[int], Awaitable[list[int]]] = pieces
    threads: Callable[[bytes], Awaitable[Parts]] = blocking
    print(as_awaitable, renamed, listed, threads)


# --- steps ---------------------------------------------------------------------------------------
def steps(f: Flow) -> None:
    url = f.input("url", str)
    assert_type(url, str)
    assert_type(f.input("n", int, 3), int)
    assert_type(f.input("parts", Parts), Parts)
    page = f.add(fetch, url=url)
    assert_type(page, Step[str])
    assert_type(page.out, str)
    assert_type(page.done, Signal)
    assert_type(page.error, Failure)
    parts = f.add(split, page.out)
    assert_type(parts, Step[Parts])
    assert_type(parts.out, Parts)
    assert_type(parts.out.title, str)
    assert_type(parts.out.chunks, list[str])
    assert_type(f.add(grade, text=page.out).out.mark, int)
    assert_type(f.add(grade, text=page.out).out.note, str)
    assert_type(f.add(count, text=page.out).out, Counts)
    assert_type(f.add(count, text=page.out).out["words"], int)
    assert_type(f.add(shorten, page.out, Style(words=3), "a", page.out), Step[str])
    assert_type(f.add(maybe, text=page.out).out, str | None)
    assert_type(f.add(plain, 1), Step[float])
    assert_type(f.add(plain.with_(name="again"), a=1).out, float)
    assert_type(f.add(pieces, n=1).out, list[int])
    assert_type(f.add(blocking, b"").out.title, str)
    assert_type(f.after(page, parts.done, page.done), None)
    assert_type(f.output("text", parts.out.title), None)
    assert_type(f.connect("fetch.out", "split.doc", id="e1"), None)


# --- port expressions ----------------------------------------------------------------------------
def expressions(f: Flow, text: str, number: int, texts: list[str], tuples: tuple[int, ...]) -> None:
    assert_type(each(texts), str)
    assert_type(each(tuples, key=str, max_concurrency=2, on_error="collect"), int)
    assert_type(collect(number), list[int])
    assert_type(collect(each(texts)), list[str])
    assert_type(gather(text, text), list[str])
    assert_type(merge(text, text), str)
    assert_type(fallback(text, None), str | None)
    assert_type(fallback(text, 0), str | int)
    assert_type(fallback(text, 0, None), str | int | None)
    assert_type(f.add(split, doc=each(texts)).out.chunks, list[str])
    assert_type(collect(f.add(split, doc=each(texts)).out.title), list[str])


# --- branches and loops --------------------------------------------------------------------------
def branches(f: Flow, number: int) -> None:
    branch = f.when(number, lambda n: n > 3)
    assert_type(branch, When[int])
    assert_type(branch.yes, int)
    assert_type(branch.no, int)
    kinds: Sequence[Literal["low", "high"]] = ("low", "high")
    exits = f.switch(number, lambda n: "low" if n < 3 else "high", kinds)
    assert_type(exits["low"], int)
    named = f.switch(number, lambda n: str(n), ["1", "2"])
    assert_type(named, Mapping[str, int])


def loops(f: Flow, text: str) -> None:
    opened: AbstractContextManager[Loop] = f.loop(name="refine", limit=None, on_limit="fail")
    with opened as it:
        assert_type(it, Loop)
        draft = it.carry(text)
        assert_type(draft, Carry[str])
        assert_type(draft.out, str)
        better = f.add(fetch, url=draft.out)
        assert_type(draft.next(better.out), None)
        assert_type(it.until(f.add(plain, 1).out, lambda quality: quality >= 0.8), None)
        last = it.result(better.out)
    assert_type(last, str)
    assert_type(it.all(better.out), list[str])
    assert_type(draft.final, str)
    with f.loop() as counting:
        n = counting.carry(0)
        assert_type(n, Carry[int])
        counting.while_(n.out, lambda value: value < 3)
        n.next(n.out)


# --- typed flows ---------------------------------------------------------------------------------
@flow
def digest(f: Flow, url: str, words: int = 3) -> str:
    return f.add(fetch, url=url).out


@flow
def many(f: Flow, url: str) -> Parts:
    parts = f.add(split, doc=f.add(fetch, url=url).out)
    return Parts(parts.out.title, parts.out.chunks)


async def typed_flows(f: Flow) -> None:
    assert_type(await digest("u"), str)
    assert_type(await digest("u", words=4), str)
    assert_type(await many(url="u"), Parts)
    assert_type((await many("u")).chunks, list[str])
    assert_type(f.add(digest, url="u"), Step[str])
    assert_type(f.add(many, "u").out.title, str)
    assert_type(digest.check(), list[Diagnostic])
    assert_type(await digest.run(url="u"), Result)
    as_awaitable: Callable[[str], Awaitable[str]] = digest
    as_typed: TypedFlow[[str], Parts] = many
    print(as_awaitable, as_typed)


# --- running -------------------------------------------------------------------------------------
async def running(f: Flow, port: str, numbers: list[int], run: Run) -> None:
    result = await f.run(url="u")
    assert_type(result, Result)
    assert_type(result.status, Literal["completed", "paused", "failed", "cancelled"])
    assert_type(result["text"], Any)
    assert_type(result.get(port), str)
    assert_type(result.get(numbers), list[int])
    assert_type(f.run_sync(), Result)
    assert_type(f.using(max_concurrency=3, limits={"web": 2, "db": Limit(1)}, errors="continue", timeout=1.0), Flow)
    assert_type(await digest.using(errors="continue")("u"), str)
    with Flow("inner") as inner:
        assert_type(inner, Flow)
    started: AbstractAsyncContextManager[Run] = f.start(url="u")
    assert_type(run.events(), AsyncIterator[Event])
    waited: Awaitable[Result] = run
    print(waited, started)
    assert_type(f.check(), list[Diagnostic])
    context = ExecutionContext("c").append(Message("user", "hello"))
    assert_type(context.trimmed(1_000, lambda message: len(message.role)), ExecutionContext)
    Pack("p", version="1", api=1, nodes=[fetch, plain, blocking])
    nodes: Sequence[Node[..., Any]] = [plain, pieces, blocking]
    print(nodes)


@node(ports=lambda style: Ports({"text": Port(str, lazy=True)}, {"words": int}))
async def raw(inputs: Mapping[str, Any], context: ExecutionContext | None, config: Style) -> NodeOutput:
    return NodeOutput({"words": len(inputs["text"])}, context=context, metadata={"style": config.words})


@node
async def raw_without_ports(inputs: Mapping[str, Any]) -> NodeOutput:
    return NodeOutput(status="error", metadata={"error": "no ports"})


async def with_lazy_ports(text: Lazy[str], *tools: Lazy[Tools]) -> str:
    return text


def raw_nodes(f: Flow, result: Result) -> None:
    step = f.add(raw, text="a", config=Style(words=1))
    assert_type(step.out.words, Any)
    f.add(raw_without_ports)
    assert_type(f.add(with_lazy_ports, "a").out, str)
    assert_type(result.metadata, Mapping[str, Mapping[str, Any]])


async def streams(run: Run, f: Flow) -> None:
    step = f.add(raw, text="a")
    async for piece in run.stream("raw.words"):
        assert_type(piece, str)
    async for item in run.stream(f.input("numbers", list[int])):
        assert_type(item, int)
    async for whole in run.stream(step.out.words):
        print(whole)


def conversations(f: Flow) -> None:
    main = f.context("main", system="House style.", model="p/m")
    assert_type(main, ExecutionContext)
    assert_type(f.context("plain"), ExecutionContext)
    assert_type(merge_contexts(main, main, how="append"), ExecutionContext)
    assert_type(merge_contexts(main, main, how=lambda contexts: contexts[0]), ExecutionContext)


T = TypeVar("T")


class Letter(Config):
    text: Template
    rule: Expression | None = None


async def passing(value: T, seconds: float = 0) -> T:
    return value


@node(ports=lambda letter: Ports({name: str for name in letter.text.names}))
async def write(letter: Letter, **values: str) -> str:
    return letter.text.fill(values)


def expressions_and_templates(f: Flow, number: int) -> None:
    rule = Expression("a > b")
    assert_type(rule.source, str)
    assert_type(rule.names, frozenset[str])
    assert_type(rule.evaluate({"a": 1, "b": 2}), Any)
    assert_type(rule.holds({"a": 1, "b": 2}), bool)
    assert_type(Template("{{ a }}").fill({"a": 1}), str)
    assert_type(f.add(write, letter=Letter(text=Template("{{ a }}"), rule=rule), a="x").out, str)
    assert_type(f.add(passing, value=number).out, int)
