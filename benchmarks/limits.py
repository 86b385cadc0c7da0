"""What Python allows: a bare loop of awaits, and a scheduler written by hand."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from benchmarks.functions import NodeFunction, function_for, increment
from benchmarks.timing import Work

if TYPE_CHECKING:
    from benchmarks.shapes import Shape

__all__ = ["HandWritten", "bare", "by_hand", "gathered"]


def bare(shape: Shape) -> Work:
    """Await the functions one after the other, in topological order."""
    plan = [(function_for(len(sources)), sources) for sources in shape.sources]

    async def run() -> int:
        values: list[int] = []
        for function, sources in plan:
            values.append(await function(*[values[source] for source in sources]))
        return sum([values[end] for end in shape.ends])

    return Work(run, shape.result, len(shape))


def gathered(step: NodeFunction, width: int) -> Work:
    """Await many functions at once in one asyncio.gather."""

    async def run() -> int:
        return sum(await asyncio.gather(*[step(1) for _ in range(width)]))

    return Work(run, 2 * width, width)


#: A node as the scheduler reads it: function, sources, number, readers. A plain tuple unpacks the fastest.
Planned = tuple[NodeFunction, tuple[int, ...], int, list[int]]


class HandWritten:
    """Counts what each node waits for; awaits what alone is ready in place, else each node in a task."""

    def __init__(self, shape: Shape, step: NodeFunction = increment) -> None:
        self.plan: list[Planned] = [
            (step if len(sources) == 1 else function_for(len(sources)), sources, node, readers)
            for node, (sources, readers) in enumerate(zip(shape.sources, shape.readers, strict=True))
        ]
        self.needs = [len(sources) for sources in shape.sources]
        self.ends = shape.ends

    async def run(self) -> int:
        """Run the graph and return the sum of the values at its ends."""
        run = HandRun(self)
        await run.go()
        return sum([run.values[end] for end in self.ends])


class HandRun:
    """One run: the values, what each node still waits for, what is ready, and the tasks under way."""

    __slots__ = ("needs", "plan", "ready", "running", "tasks", "values", "woken")

    def __init__(self, scheduler: HandWritten) -> None:
        self.plan = scheduler.plan
        self.needs = scheduler.needs.copy()
        self.values = [0] * len(self.plan)
        self.ready = deque(planned for planned in self.plan if not planned[1])
        self.running = 0
        self.tasks: set[asyncio.Task[None]] = set()
        self.woken: asyncio.Future[None] | None = None

    async def go(self) -> None:
        """Fire what is ready until nothing is."""
        needs, plan, ready, values = self.needs, self.plan, self.ready, self.values
        while True:
            while len(ready) == 1 and not self.running:
                function, sources, node, readers = ready.popleft()
                if len(sources) == 1:
                    values[node] = await function(values[sources[0]])
                else:
                    values[node] = await function(*[values[source] for source in sources])
                for reader in readers:
                    needs[reader] = left = needs[reader] - 1
                    if not left:
                        ready.append(plan[reader])
            while ready:
                self.spawn(ready.popleft())
            if not self.running:
                return
            self.woken = asyncio.get_running_loop().create_future()
            await self.woken

    def spawn(self, planned: Planned) -> None:
        """Fire a node in a task of its own."""
        self.running += 1
        task = asyncio.get_running_loop().create_task(self.work(planned))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def work(self, planned: Planned | None) -> None:
        """Fire a node, and go on in this task while one reader alone has become ready."""
        needs, plan, ready, values = self.needs, self.plan, self.ready, self.values
        while planned is not None:
            function, sources, node, readers = planned
            if len(sources) == 1:
                values[node] = await function(values[sources[0]])
            else:
                values[node] = await function(*[values[source] for source in sources])
            planned = None
            for reader in readers:
                needs[reader] = left = needs[reader] - 1
                if not left and planned is None:
                    planned = plan[reader]
                elif not left:
                    ready.append(plan[reader])
            if ready and planned is not None:
                ready.append(planned)
                planned = None
        self.running -= 1
        if (ready or not self.running) and self.woken is not None and not self.woken.done():
            self.woken.set_result(None)


def by_hand(shape: Shape, step: NodeFunction = increment) -> Work:
    """Run the graph with the scheduler."""
    return Work(HandWritten(shape, step).run, shape.result, len(shape))
