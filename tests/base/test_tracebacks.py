"""The tracebacks of what reaches the user have the user's frames, and no others unless they are asked for."""

from __future__ import annotations

import signal
import subprocess
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from anyio import create_task_group
from anyio.lowlevel import checkpoint

from dataflow import Flow, FlowInvalid, RunFailed, flow, node
from dataflow.base.tracebacks import FULL_TRACEBACKS, hide_engine
from dataflow.stores import Store


def broken(x: int) -> int:
    raise ValueError(f"no {x}")


async def deep(x: int) -> int:
    try:
        return broken(x)
    except ValueError as error:
        raise KeyError(x) from error


async def nested(x: int) -> int:
    await checkpoint()
    [value] = (await single(deep).run(x=x)).outputs.values()
    return int(value)


async def grouped(x: int) -> int:
    async with create_task_group() as group:
        group.start_soon(deep, x)
    return x


def single(fn: Any) -> Flow:
    with Flow("f") as f:
        f.output("y", f.add(node(fn).with_(name="n"), x=f.input("x", int, 1)).out)
    return f


@flow
def typed(f: Flow, x: int) -> int:
    return f.add(deep, x=x).out


async def in_block() -> None:
    async with single(deep).start():
        pass


async def in_session() -> None:
    async with single(deep).live() as session:
        await session.get("y")


async def resumed() -> None:
    kept = single(deep).using(store=Store.memory())
    with pytest.raises(RunFailed) as first:
        await kept.run()
    await kept.resume(first.value.result.run_id)


async def by_run_sync() -> None:
    single(deep).run_sync()


async def wrong_input() -> None:
    await single(deep).run(z=1)


async def unconnected() -> None:
    with Flow("f") as f:
        f.add(deep)  # type: ignore[call-arg]  # what is tested


NODE: Final = ["deep", "deep", "broken"]
#: What is called, and the functions of all frames, of the causes too, the outermost exception first.
CALLS: Final[list[tuple[Callable[[], Awaitable[object]], list[str]]]] = [
    (lambda: single(deep).run(), ["<frame>", *NODE]),
    (lambda: single(deep)(), ["<frame>", *NODE]),
    (lambda: single(deep).pull("y"), ["<frame>", *NODE]),
    (lambda: typed(1), ["<frame>", *NODE]),
    (by_run_sync, ["<frame>", "by_run_sync", *NODE]),
    (in_block, ["<frame>", "in_block", *NODE]),
    (in_session, ["<frame>", "in_session", *NODE]),
    (resumed, ["<frame>", "resumed", *NODE]),
    (lambda: single(nested).run(), ["<frame>", "nested", *NODE]),
    (wrong_input, ["<frame>", "wrong_input"]),
    (unconnected, ["<frame>", "unconnected"]),
]


def frames_of(error: BaseException) -> list[str]:
    names: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        found = traceback.extract_tb(cause.__traceback__)
        names += [one.name if one.filename == __file__ else one.filename for one in found]
        cause = cause.__cause__
    return ["<frame>", *names[1:]]


async def test_only_the_users_frames_are_shown(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    for call, expected in CALLS:
        with subtests.test(expected=expected):
            with pytest.raises((RunFailed, FlowInvalid)) as raised:
                await call()
            assert frames_of(raised.value) == expected
    with pytest.raises(RunFailed) as raised:
        await single(grouped).run()
    [member] = raised.value.__cause__.exceptions  # type: ignore[union-attr]  # a group
    assert frames_of(member)[-2:] == ["deep", "broken"]
    monkeypatch.setenv(FULL_TRACEBACKS, "1")
    with pytest.raises(RunFailed) as raised:
        await single(deep).run()
    assert any("runtime" in name for name in frames_of(raised.value))


def test_an_error_inside_the_engine_keeps_its_innermost_frames() -> None:
    with pytest.raises(AttributeError) as raised:
        hide_engine(None)  # type: ignore[arg-type]  # a mistake in the engine
    hide_engine(raised.value)
    assert traceback.extract_tb(raised.value.__traceback__)[-1].name == "hide_engine"


SLEEPING: Final = """
import asyncio
from dataflow import Flow

async def slow() -> int:
    print("begun", flush=True)
    await asyncio.sleep(60)
    return 1

with Flow("f") as f:
    f.output("o", f.add(slow).out)
if __name__ == "__main__":
    f.run_sync()
"""


def test_an_interrupted_run_shows_where_it_was_called(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLEEPING)
    with subprocess.Popen(
        [sys.executable, "slow.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        running.send_signal(signal.SIGINT)
        _, text = running.communicate(timeout=20)
    lines = [line for line in text.splitlines() if line.strip(" ~^")]  # 3.13 marks the call
    assert [line.partition(", line")[0] for line in lines] == [
        "Traceback (most recent call last):", f'  File "{tmp_path / "slow.py"}"', "    f.run_sync()",
        "KeyboardInterrupt",
    ]  # fmt: skip
