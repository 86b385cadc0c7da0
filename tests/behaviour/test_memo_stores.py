"""What is remembered in a store is read as far as it is needed, in any process, and never wrongly (S13.1)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import EventKind, ExecutionContext, Flow, Message, RunFailed, Secret, node
from dataflow.durable.replay import look_at
from dataflow.stores import Store
from dataflow.stores.memory import MemoryStore
from dataflow.stores.sqlite import SqliteStore
from tests.behaviour.memo_flows import CALLS, called, one_node, told
from tests.behaviour.table import play
from tests.support.known_secrets import forgetting
from tests.support.processes import printed_in

LONG: Final = 20_000


pytestmark = pytest.mark.usefixtures("calls")


class Counting(SqliteStore):
    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.file = folder / "runs.db"
        super().__init__(self.file)
        self.reads = 0

    def blob(self, sha256: str) -> bytes:
        self.reads += 1
        return super().blob(sha256)


async def long_text(x: int) -> str:
    CALLS.append("long_text")
    return str(x) + "é" * LONG


def text_of(more: str) -> str:
    return "1" + "é" * LONG + more


async def longer(text: str) -> str:
    CALLS.append("longer")
    return text + "!"


async def length(text: str) -> int:
    CALLS.append("length")
    return len(text)


def chain(count: int = 5) -> Flow:
    with Flow("chain") as flow:
        port = flow.add(node(memo="store")(long_text), x=flow.input("x", int)).out
        for _ in range(count - 1):
            port = flow.add(node(memo="store")(longer), text=port).out
        flow.output("out", port)
    return flow


CHAIN: Final = ["long_text", *["longer"] * 4]


async def say(context: ExecutionContext, n: int) -> ExecutionContext:
    CALLS.append(n)
    return context.append(Message("assistant", str(n)))


class TestChains:
    """A chain of hits loads no blobs in between."""

    async def test_only_the_value_that_is_needed_is_read(self, tmp_path: Path) -> None:
        for name in ("store", "memo"):
            store = Counting(tmp_path / name)
            flow = chain().using(**{name: store})  # type: ignore[arg-type]  # a store is either
            assert (await flow.run(x=1))["out"] == text_of("!!!!")
            assert (called(), store.reads) == (CHAIN, 0)
            result = await flow.run(x=1)
            assert (result["out"], called(), store.reads) == (text_of("!!!!"), [], 1)
            assert result.get("longer.out") == text_of("!")
            assert result.why("longer.out") == "'longer.out' has a value"
            assert store.reads == 2
        await chain(3).using(memo=store).run(x=1)
        called()
        store.reads = 0
        assert (await chain(6).using(memo=store).run(x=1))["out"] == text_of("!!!!!")
        assert (called(), store.reads) == (["longer"], 1)  # a miss behind hits reads what it is given

    async def test_the_journal_of_hits_alone_tells_all(self, tmp_path: Path) -> None:
        store = Counting(tmp_path)
        flow = chain().using(store=store)
        first = await flow.run(x=1)
        second = await flow.run(x=1)
        assert store.outcomes is not None
        assert store.outcomes.clear() == 5
        store.delete(first.run_id)
        looked = await look_at(flow.compile(), flow.settings, store, second.run_id)
        assert looked.get("longer_3.out") == text_of("!!!")

    async def test_a_conversation_goes_on_from_what_was_remembered(self, tmp_path: Path) -> None:
        store = Counting(tmp_path)
        with Flow("talk") as flow:
            context = flow.input("context", ExecutionContext)
            for number in range(3):
                placed = node(name=f"say{number}", memo="store")(say)
                context = flow.add(placed, context=context, n=number).out
            flow.output("out", context)
        given = ExecutionContext("c").append(Message("user", "é" * LONG))
        for calls in ([0, 1, 2], []):
            result = await flow.using(memo=store).run(context=given)
            assert [one.content for one in result["out"].message_history][1:] == ["0", "1", "2"]
            assert called() == calls

    async def test_an_output_in_between_is_read(self, tmp_path: Path) -> None:
        store = Counting(tmp_path)
        with Flow("between") as flow:
            text = flow.add(node(memo="store")(long_text), x=1).out
            flow.output("text", text)
            flow.output("longer", flow.add(node(memo="store")(longer), text=text).out)
        for _ in range(2):
            outputs = dict((await flow.using(memo=store).run()).outputs)
            assert outputs == {"text": text_of(""), "longer": text_of("!")}


def damage(store: Counting, statements: str) -> None:
    with closing(sqlite3.connect(store.file)) as connection:
        connection.executescript(statements)


class TestDamage:
    """A damaged entry is a miss that is told, never a wrong value."""

    async def test_the_node_is_called_and_the_entry_is_written_again(self, tmp_path: Path) -> None:
        statements = (
            "UPDATE blobs SET data = x'00'", "DELETE FROM blobs",
            "UPDATE memo SET data = replace(data, 'text', 'blob')", "UPDATE memo SET parts = '['",
        )  # fmt: skip
        for number, statement in enumerate(statements):
            for name in ("store", "memo"):
                store = Counting(tmp_path / f"{name}{number}")
                flow = one_node(store, node(memo="store")(long_text), x=1)
                flow = flow.using(**{name: store})  # type: ignore[arg-type]  # a store is either
                await flow.run()
                called()
                damage(store, statement)
                ends = ([], 0) if "parts" in statement else (["long_text"], 1)  # is it needed by who reads?
                result = await flow.run()
                assert (result["out"], called(), len(result.warnings)) == (text_of(""), *ends)
                result = await flow.run()
                assert (result["out"], called(), result.warnings) == (text_of(""), [], ())

    async def test_what_is_damaged_or_gone_once_it_is_needed_fails_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nodes that are known were settled with it before anybody read it, and the store may make room."""
        for how in ("damaged", "gone"):
            store = Counting(tmp_path / how)
            await chain(3).using(memo=store).run(x=1)
            blob = store.blob

            def gone(digest: str, store: Counting = store, blob: Any = blob) -> Any:
                damage(store, "DELETE FROM memo; DELETE FROM blobs")
                return blob(digest)

            with monkeypatch.context() as patched:
                if how == "gone":
                    patched.setattr(store, "blob", gone)
                else:
                    damage(store, "UPDATE blobs SET data = x'00'")
                with pytest.raises(RunFailed, match="DF0851"):
                    await chain(4).using(memo=store).run(x=1)
            called()
            for calls in (CHAIN[:4], []):
                assert (await chain(4).using(memo=store).run(x=1))["out"] == text_of("!!!")
                assert called() == calls


class TestSecrets:
    async def test_secrets_are_masked_and_filled_in_again_and_without_them_it_is_a_miss(
        self, tmp_path: Path
    ) -> None:
        store = SqliteStore(tmp_path / "runs.db")
        secret = Secret("DATAFLOW_TEST_MEMO", "swordfish-17")
        flow = one_node(store, node(memo="store")(revealed), secret=secret)
        with forgetting():
            for calls in ([1], []):
                assert await told(flow) == ("the word is swordfish-17", calls)
        assert b"swordfish-17" not in (tmp_path / "runs.db").read_bytes()
        with forgetting():
            result = await flow.run()
            assert (result["out"], called()) == ("the word is swordfish-17", [1])
            assert "not remembered (store): it is stored with a secret" in result.why("revealed")


async def revealed(secret: Secret) -> str:
    CALLS.append(1)
    return f"the word is {secret.reveal()}"


@dataclass(frozen=True)
class Point:
    x: int


async def point(x: int) -> Point:
    CALLS.append("point")
    return Point(x)


async def hidden(x: int) -> Any:
    CALLS.append("hidden")
    return Point(x)


class WithoutOutcomes(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.outcomes = None


async def x_of(point: Point) -> int:
    return point.x


class TestPlaces:
    async def test_a_class_is_stored_where_a_port_names_it(self, tmp_path: Path) -> None:
        store = Counting(tmp_path)
        for calls in (["point"], []):
            assert await told(one_node(store, node(memo="store")(point), x=1)) == (Point(1), calls)
        for _ in range(2):
            result = await one_node(store, node(memo="store")(hidden), x=1).run()
            assert (result["out"], called()) == (Point(1), ["hidden"])
            assert result.why("hidden").startswith(
                "hidden is done, not memoized (store): DF0621 hidden.out: "
            )

    async def test_without_a_store_that_remembers_it_is_as_for_the_run(self) -> None:
        with Flow("twice") as twice:
            twice.output("a", twice.add(node(memo="store")(length), text="x").out)
            twice.output("b", twice.add(node(memo="store")(length), text="x").out)
        for given in ((), ("store",), ("memo",)):
            flow = twice.using(**{name: WithoutOutcomes() for name in given})  # type: ignore[arg-type]
            for _ in range(2):
                played = await play(flow)
                codes = [event.data["code"] for event in played.events if event.kind is EventKind.WARNING]
                assert (called(), codes) == (["length"], ["memo_without_store"])
                assert len(played.result.warnings) == 1
                why = played.result.why("length_2")
                assert why.startswith("length_2 is done, remembered (run) from length of run ")

    async def test_what_another_flow_can_read_stays(self, tmp_path: Path) -> None:
        """A flow whose ports name the class remembers what one whose ports do not cannot read."""
        store = Counting(tmp_path)

        def flow(is_named: bool) -> Flow:
            with Flow("named") as made:
                step = made.add(node(memo="store")(hidden), x=1)
                made.output("out", step.out)
                if is_named:
                    made.output("x", made.add(x_of, point=step.out).out)
            return made.using(memo=store)

        for is_named, calls in ((True, ["hidden"]), (False, ["hidden"]), (True, [])):
            result = await flow(is_named).run()
            warned = not is_named and bool(calls)
            assert (result["out"], called(), len(result.warnings)) == (Point(1), calls, warned)


RESTARTED: Final = """
import sys
from dataflow import Store
from tests.behaviour.test_memo_stores import CALLS, chain
flow = chain().using(memo=Store.sqlite("memo.db"))
print(*(len(flow.run_sync(x=x)["out"]) for x in (1, 2)), *CALLS)
"""


def test_another_process_finds_what_was_remembered(tmp_path: Path) -> None:
    flow = chain().using(memo=Store.sqlite(tmp_path / "memo.db"))
    assert (len(flow.run_sync(x=1)["out"]), called()) == (LONG + 5, CHAIN)
    assert printed_in(tmp_path, "-c", RESTARTED) == [" ".join([*[str(LONG + 5)] * 2, *CHAIN])]
    assert (len(flow.run_sync(x=2)["out"]), called()) == (LONG + 5, [])
