"""What a run reports is written as it is, or refused where somebody can be told (S12.1, S12.3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dataflow import (
    Flow,
    FlowInvalid,
    Node,
    NodeOutput,
    Port,
    Ports,
    RunFailed,
    Secret,
    ValueRefused,
    collect,
    each,
    merge,
    node,
    race,
    this_firing,
)
from dataflow.core.events import EventKind
from dataflow.durable.journal import VALUES
from dataflow.durable.ownership import cancel_stored
from dataflow.inspection.stored_reasons import StoredReasons
from dataflow.inspection.stored_run import read_run, run_object
from dataflow.secrets.known import redacted
from dataflow.stores import Store
from tests.support.known_secrets import forgetting
from tests.support.stored_runs import add, asking, kinds_of, one_ask


def raw(output: Callable[[], NodeOutput], **ports: object) -> Node[..., Any]:
    async def give() -> NodeOutput:
        return output()

    return node(ports=lambda _: Ports({}, {name: Port(kind) for name, kind in ports.items()}))(give)


#: Raw nodes that give what cannot be stored, and what is told of it.
REFUSED: dict[str, tuple[Callable[[], NodeOutput], str]] = {
    "an output": (lambda: NodeOutput({"a": object(), "out": 1}), "give.a: object"),
    "metadata": (
        lambda: NodeOutput({"a": 1, "out": 1}, metadata={"m": object()}), 'metadata of give["m"]: object'
    ),
    "metadata beside an ask": (
        lambda: NodeOutput({"a": 1}, status="paused", metadata={"ask": {}, "m": object()}),
        'metadata of give["m"]: object',
    ),
    "what is given before an answer": (
        lambda: NodeOutput({"a": object()}, status="paused", metadata={"ask": {}}), "give.a: object"
    ),
    "what is shown": (
        lambda: NodeOutput({"a": 1}, status="paused", metadata={"ask": {"show": [object()]}}),
        "give: what its ask shows[0]: object",
    ),
    "a default": (
        lambda: NodeOutput({"a": 1}, status="paused", metadata={"ask": {"default": object(), "expires": 60}}),
        "give: the default of its ask: object",
    ),
}  # fmt: skip


class TestRefused:
    """A node that gives what cannot be stored fails; nothing of it is called done."""

    def flow(self, output: Callable[[], NodeOutput]) -> Flow:
        with Flow("refused") as f:
            f.output("o", f.add(raw(output, a=Any, out=Any)).out.out)
        return f

    async def test_the_node_and_the_run_fail(self, subtests: pytest.Subtests) -> None:
        for name, (output, told) in REFUSED.items():
            with subtests.test(name):
                store = Store.memory()
                with pytest.raises(RunFailed) as raised:
                    await self.flow(output).using(store=store).run()
                [failure] = raised.value.failures
                assert (failure.node, failure.type) == ("give", "ValueRefused")
                assert failure.message.startswith(f"DF0620 {told}")
                assert [stored.status for stored in store.runs()] == ["failed"]
                without = await self.flow(output).run()
                assert without.status in ("completed", "paused")

    async def test_a_node_that_has_failed_keeps_its_own_reason(self) -> None:
        def output() -> NodeOutput:
            return NodeOutput(status="error", metadata={"error": "no luck", "m": object()})

        with pytest.raises(RunFailed, match="no luck"):
            await self.flow(output).using(store=Store.memory()).run()

    async def test_inputs_types_and_defaults_are_refused_before_the_run_is_begun(self) -> None:
        async def make() -> Callable[[], int]:
            return lambda: 1

        async def fail() -> Any:
            raise LookupError("not here")

        store = Store.memory()
        with Flow("input") as given:
            given.output("o", given.add(asking(Any), show=given.input("x", Any)).out)
        with pytest.raises(ValueRefused, match=r"DF0620 \$in\.x\[0\]:"):
            await given.using(store=store).run(x=[object()])
        with Flow("typed") as typed:
            typed.add(make)
        with pytest.raises(FlowInvalid, match=r"DF0620 make\.out:"):
            await typed.using(store=store).run()
        with Flow("default") as default:
            default.add(node(default=object())(fail))
        with pytest.raises(FlowInvalid, match=r"DF0620 fail\.policy\.default:"):
            await default.using(store=store).run()
        assert store.runs() == []

    async def test_pieces_are_not_written(self) -> None:
        async def talk() -> int:
            this_firing().emit(object())
            return 1

        with Flow("talking") as f:
            f.output("o", f.add(talk).out)
        assert (await f.using(store=Store.memory()).run()).outputs == {"o": 1}


class TestBroken:
    """What nobody can be told of ends the run, which stays as it was in its store."""

    def flow(self, store: Store) -> Flow:
        """Wire a loop that begins with what cannot be stored, and gives it on."""

        async def same(x: Any) -> Any:
            return 1

        with Flow("looping") as f:
            asked = f.add(one_ask)
            with f.loop(limit=3) as loop:
                x = loop.carry(object())
                x.next(f.add(same, x=x.out).out)
                loop.until(x.out, lambda _: True)
            f.output("o", f.add(add, a=asked.out, b=1).out)
            f.output("x", x.final)
        return f.using(store=store)

    async def test_the_refusal_is_raised_and_nothing_is_written_behind_it(self) -> None:
        store = Store.memory()
        with pytest.raises(ValueRefused, match=r"DF0620 node_finished of .*: object "):
            await self.flow(store).run()
        [stored] = store.runs()
        assert stored.status == "interrupted"
        assert "run_finished" not in kinds_of(store, stored.id)


class TestTexts:
    """The texts and paths of the engine's own facts are read back, whatever a user's node put into them."""

    TEXTS: ClassVar = {
        "long": "x" * 5_000, "long and odd": "ä\u2028" * 3_000, "half a surrogate pair": "a\ud800b",
        "a secret": "is tok-123456-abcdef", "a mark": "$x",
    }  # fmt: skip

    def flow(self, store: Store, text: str) -> Flow:
        """Wire nodes that warn, fail, skip and ask with a text, one item of a map with the key `text`."""

        async def warn(x: str) -> str:
            this_firing().warn(text, text)
            return x

        async def fail(x: str) -> str:
            raise ValueError(text + x)

        async def again(x: str) -> str:
            if this_firing().attempt == 1:
                raise ValueError(text)
            return x

        async def same(x: str) -> str:
            return x

        with Flow("texts") as f:
            items = each([text], key=str, on_error="skip")
            f.output("failed", collect(f.add(fail, x=items).out))
            f.output("skipped", f.add(node(on_error="skip", name="skip")(fail), x="").out)
            f.output("warned", collect(f.add(warn, x=each([text], key=str)).out))
            f.output("again", f.add(node(retries=1)(again), x=text).out)
            with f.loop(limit=2) as loop:
                last = loop.carry(text)
                last.next(f.add(same, x=last.out).out)
                loop.until(last.out, lambda _: True)
            f.output("last", last.final)
            f.output("raced", race(last.final, f.add(same, x=text).out))
            chosen = f.switch("a", lambda _: text, [text, "b"])
            f.output("chosen", merge(*(chosen[case] for case in (text, "b"))))
            f.output("answer", f.ask(str, text, name="ask").out)
        return f.using(store=store)

    @pytest.mark.parametrize("name", TEXTS)
    async def test_a_run_is_shown_explained_resumed_and_forked(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TOK", "tok-123456-abcdef")
        text, store = self.TEXTS[name], Store.sqlite(tmp_path / "runs.db")
        with forgetting():
            Secret("TOK").reveal()
            paused = await self.flow(store, text).run()
            assert (paused.status, paused.warnings) == ("paused", (redacted(text),))
            resumed = await self.flow(store, text).resume(paused, {"ask": text})
            assert (resumed["answer"], resumed.warnings) == (text, paused.warnings)
            await self.flow(store, text).fork(paused, changes={"ask": text})
            left = await self.flow(store, text).run()
            cancel_stored(store, left.run_id, text)
            async with self.flow(store, text).start() as run:
                run.cancel(text)
            kinds = set()
            for stored in store.runs():
                for record in store.records(stored.id):
                    kinds.add(record.kind)
                    for field, told in json.loads(record.data).items():
                        if field not in {*VALUES, "ports", "error", "failure"}:
                            assert '"$"' not in json.dumps(told), f"{field} of {record.kind}"
                found = read_run(store, stored)
                shown = run_object(found, ())
                assert "tok-123456-abcdef" not in str(shown)
                assert not any("$" in str(node["reason"])[:3] for node in shown["nodes"] if name != "a mark")
                reasons = StoredReasons(found)
                for path in [*found.past.firings, "skipped", "failed"]:
                    assert str(reasons.explain(path))
            assert {stored.status for stored in store.runs()} == {"completed", "cancelled"}
            others = {"piece", "pieces_void", "contexts_merged", "timer_set"}
            assert kinds == {kind for kind in EventKind if not kind.startswith("memo_")} - others
