"""A flow that was written and loaded again attempts, times out and limits as the one it was written from."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from anyio import sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import Flow, Limit, NodeTimeout, Retry, RunFailed, collect, each, fallback, node
from dataflow import this_firing as firing
from tests.behaviour.table import states_of

IN_FLIGHT: Counter[str] = Counter()


async def flaky() -> int:
    attempt = firing().attempt
    if attempt < 3:
        raise ConnectionResetError(f"attempt {attempt}")
    return attempt


async def stuck() -> None:
    await sleep_forever()


async def counted(x: int) -> int:
    IN_FLIGHT["now"] += 1
    IN_FLIGHT["most"] = max(IN_FLIGHT["most"], IN_FLIGHT["now"])
    for _ in range(20):
        await checkpoint()
    IN_FLIGHT["now"] -= 1
    return x


def loaded(flow: Flow, folder: Path) -> Flow:
    path = folder / "flow.json"
    path.write_text(json.dumps(flow.to_dict()), encoding="utf-8")
    return Flow.load(path)


def placed(function: Any, **settings: Any) -> Flow:
    with Flow("f") as f:
        f.output("o", fallback(f.add(node(**settings)(function)).out, "none"))
    return f


def mapped(**settings: Any) -> Flow:
    IN_FLIGHT.clear()
    with Flow("f") as f:
        f.output("o", collect(f.add(node(**settings)(counted), x=each([0, 1, 2, 3])).out))
    return f


async def test_it_attempts_again_by_the_name_of_a_class_above_the_error(tmp_path: Path) -> None:
    retry = Retry(2, on=(OSError,), backoff="exponential", first=0.001, jitter=True)
    assert (await loaded(placed(flaky, retries=retry), tmp_path).run())["o"] == 3
    other = Retry(2, on=(KeyError, "timeout"))
    with pytest.raises(RunFailed, match="attempt 1"):
        await loaded(placed(flaky, retries=other), tmp_path).run()


async def test_it_and_its_run_time_out(tmp_path: Path) -> None:
    for bound in ("timeout", "deadline"):
        result = await loaded(placed(stuck, **{bound: 0.01}, on_error="skip"), tmp_path).run()
        assert (result["o"], states_of(result)["stuck"]) == ("none", "timed_out")
    with pytest.raises(RunFailed, match="DF0802 f:") as failed:
        await loaded(placed(stuck).using(timeout=0.01), tmp_path).run()
    assert isinstance(failed.value.__cause__, NodeTimeout)


async def test_its_limits_hold(tmp_path: Path) -> None:
    limits: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({"limit": 2}, {}),
        ({"limit": "web"}, {"limits": {"web": 2}}),
        ({"limit": "web"}, {"limits": {"web": Limit(2, per_second=100_000)}}),
        ({}, {"max_concurrency": 2}),
    )
    for setting, using in limits:
        result = await loaded(mapped(**setting).using(**using), tmp_path).run()
        assert (result["o"], IN_FLIGHT["most"]) == ([0, 1, 2, 3], 2)
