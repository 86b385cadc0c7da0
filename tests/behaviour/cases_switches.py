"""Rows: switches and signals (S1.3, S1.4, S4)."""

from __future__ import annotations

from functools import partial
from typing import Final

from dataflow import Flow, Signal
from tests.behaviour.nodes import counted, inc, one, src
from tests.behaviour.table import Case


@counted
async def signalled(go: Signal, x: int = 0) -> list[object]:
    return [type(go).__name__, x]


def switch(*, default: bool) -> Flow:
    with Flow() as f:
        names = ("low", "high", "default") if default else ("low", "high")
        cases = f.switch(f.input("x", int), pick_size, names)
        for name in names:
            f.output(name, f.add(inc, x=cases[name]).out)
    return f


def pick_size(x: int) -> str:
    return {0: "low", 1: "high", 2: "middle"}.get(x)  # type: ignore[return-value]  # None: no case at all


def after(*, dead: int, live: int) -> Flow:
    """Let a node wait for the signals of nodes that are skipped and of nodes that are not."""
    with Flow() as f:
        cond = f.when(f.input("x", int), lambda v: v > 5)
        last = f.add(one)
        signals = [f.add(inc, x=cond.yes).done for _ in range(dead)]
        signals += [f.add(src, x=cond.no).done for _ in range(live)]
        f.after(last, *signals)
        f.output("o", last.out)
    return f


def signal_port() -> Flow:
    with Flow() as f:
        cond = f.when(f.input("x", int), lambda v: v > 5)
        f.output("o", f.add(signalled, go=cond.no, x=4).out)  # type: ignore[arg-type]  # it takes any output
    return f


SWITCHES: Final = (
    *(
        Case(
            id=f"a switch picks {name}", rule="S3.2", flow=partial(switch, default=False), inputs={"x": x},
            outputs={name: x + 1}, runs={"inc" if name == "low" else "inc_2": 1},
            events=(("branch_evaluated", "switch", {"matched": name}),),
        )
        for x, name in ((0, "low"), (1, "high"))
    ),
    Case(
        id="a switch picks what only default takes", rule="S3.2", flow=partial(switch, default=True),
        inputs={"x": 2}, outputs={"default": 3}, runs={"inc_3": 1},
        why={"inc": ("inc: port 'x'", "switch: exit 'low' not taken")},
    ),
    Case(
        id="a switch picks nothing", rule="S3.2", flow=partial(switch, default=False), inputs={"x": 5},
        runs={}, states={"inc": "skipped", "inc_2": "skipped", "switch": "done"},
        events=(("branch_evaluated", "switch", {"matched": None}),),
    ),
    Case(
        id="a switch picks what is no case", rule="S9.5", flow=partial(switch, default=False),
        inputs={"x": 2}, status="failed", runs={},
        failures=(("switch", "NodeFailed", "DF0813 switch:"),),
        states={"switch": "failed", "inc": "not_run", "inc_2": "not_run"},
    ),
    Case(
        id="after signals that come", rule="S1.3", flow=partial(after, dead=0, live=2), inputs={"x": 3},
        outputs={"o": 1}, runs={"src": 1, "src_2": 1, "one": 1}, others="done",
        events=(("node_finished", "src", {}), ("node_started", "one", {})),
    ),
    Case(
        id="after signals that cannot come", rule="S1.3", flow=partial(after, dead=2, live=0),
        inputs={"x": 3}, runs={}, states={"inc": "skipped", "inc_2": "skipped", "one": "skipped"},
        why={"one": ("one: port '$after'", "inc: port 'x'", "when: exit 'yes' not taken")},
    ),
    Case(
        id="a signal port takes any output, and only its order", rule="S1.4",
        flow=signal_port, inputs={"x": 3}, outputs={"o": ["Signal", 4]},
        runs={"signalled": 1},
    ),
)  # fmt: skip
