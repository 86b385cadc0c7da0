"""Flows: a builder that can be checked, run, drawn, loaded and saved; and functions that wire one."""

from __future__ import annotations

import contextvars
import copy
import inspect
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar

import anyio

from dataflow.admission import unknown_limits
from dataflow.backend import in_event_loop, waker
from dataflow.builder import Builder
from dataflow.checking import check_value
from dataflow.compiling import compile_flow, examine
from dataflow.errors import FlowInvalid, ValueMismatch, choices
from dataflow.functions import import_function
from dataflow.packs import find_type
from dataflow.placeholders import Placeholder
from dataflow.policy import Settings
from dataflow.ports import MISSING
from dataflow.run import Run, executing, new_run_id
from dataflow.separation import separate
from dataflow.signature import hints_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from os import PathLike

    from dataflow.graph import Graph
    from dataflow.lookup import FindFunction, FindType
    from dataflow.plan import FlowPlan
    from dataflow.policy import Errors, Limit
    from dataflow.result import Result
    from dataflow.wiring import FlowInput, Wiring

__all__ = ["Flow", "TypedFlow", "flow"]

P = ParamSpec("P")
R = TypeVar("R")


class Flow(Builder):
    """A flow: wire it, then run it. `with Flow("name") as f:` checks it at the end of the block."""

    _settings = Settings()
    _find_type: FindType = staticmethod(find_type)
    _find_function: FindFunction = staticmethod(import_function)

    @classmethod
    def from_wiring(cls, wiring: Wiring, find_type: FindType, find_function: FindFunction) -> Flow:
        """Make a flow of a wiring that a format has read."""
        made = Flow(wiring.name)
        made._restart(wiring)
        made._settings = wiring.settings
        made._find_type = find_type
        made._find_function = find_function
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.compile()

    @property
    def inputs(self) -> Mapping[str, FlowInput]:
        """The declared inputs by name, with type and default."""
        return dict(self.wiring.inputs)

    @property
    def wiring(self) -> Wiring:
        """The flow as wired."""
        return self._wiring

    def check(self) -> list[str]:
        """List every problem of the flow; an empty list means that it can run."""
        return list(dict.fromkeys(self.examine().problems))

    def examine(self) -> Graph:
        """Return the flow with its names looked up and checked: its problems and what was not looked into."""
        graph, _ = examine(self.wiring, self._find_type, self._find_function)
        return graph

    def compile(self) -> FlowPlan:
        """Compile the flow unless it has not changed since; raises FlowInvalid."""
        wiring = self.wiring
        with self._lock:
            plan = self._compiled.get(wiring.version)
            if plan is None:
                plan = compile_flow(wiring, self._find_type, self._find_function)
                self._compiled.clear()
                self._compiled[wiring.version] = plan
            return plan

    def using(
        self,
        *,
        max_concurrency: int | None = None,
        limits: Mapping[str, Limit | int] | None = None,
        errors: Errors = "fail_fast",
        timeout: float | None = None,
    ) -> Self:
        """Return the flow with these settings for its runs, the others by default; this one is not changed.

        `errors="continue"` finishes what does not depend on a failure before the run fails (S9.4).
        """
        self.compile()
        other = copy.copy(self)
        other._settings = Settings(errors, max_concurrency, limits, timeout)  # noqa: SLF001 - of its own class
        return other

    async def run(self, /, **inputs: Any) -> Result:
        """Run the flow to its end; raises RunFailed if it fails, FlowInvalid for wrong inputs."""
        async with self.start(**inputs) as run:
            return await run

    def run_sync(self, /, **inputs: Any) -> Result:
        """Run the flow from synchronous code, also while an event loop is running in this thread."""
        if not in_event_loop():
            return anyio.run(partial(self.run, **inputs))
        outcome: list[Result | BaseException] = []
        context = contextvars.copy_context()
        cancel: list[Callable[[], None]] = []

        async def seeded() -> Result:
            """Run with the caller's contextvars; those of the new event loop itself stay."""
            for variable, value in context.items():
                if variable not in contextvars.copy_context():
                    variable.set(value)
            async with self.start(**inputs) as run:
                cancel.append(waker(lambda: run.cancel("interrupted")))
                return await run

        def work() -> None:
            try:
                outcome.append(anyio.run(seeded))
            except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
                outcome.append(error)

        thread = threading.Thread(target=work, daemon=True, name=f"dataflow run_sync {self.name}")
        thread.start()
        try:
            thread.join()
        except BaseException:  # Ctrl-C: nothing of the run outlives this call (S9.6)
            for wake in cancel:
                wake()
            thread.join()
            raise
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    @asynccontextmanager
    async def start(self, /, **inputs: Any) -> AsyncIterator[Run]:
        """Run the flow while the block runs; the block ends with the run.

        Call `run.events()` first thing to miss none. A failure that nobody awaited is raised at the end.
        """
        plan = self.compile()
        if problems := unknown_limits(plan, self._settings.limits):
            raise FlowInvalid(self.name, problems)
        values = self._read_inputs(inputs)
        async with executing(plan, values, self._settings, new_run_id()) as run:
            yield run

    def _read_inputs(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check what a run is given (S1.7); raises FlowInvalid with every problem."""
        declared = self._wiring.inputs
        problems = [
            f"there is no input {name!r}; {choices(declared)}" for name in given if name not in declared
        ]
        values = {}
        for name, port in declared.items():
            value = given.get(name, port.default)
            if value is MISSING:
                problems.append(f"input {name!r} is required")
                continue
            try:
                values[name] = separate(check_value(value, port.type))  # the caller keeps its own (S3.4)
            except ValueMismatch as mismatch:
                problems.append(f"input {name!r}: {mismatch}")
        if problems:
            raise FlowInvalid(self.name, problems)
        return values

    def to_mermaid(self) -> str:
        """Draw the flow as Mermaid text."""
        from dataflow.drawing import mermaid  # a drawing is rarely wanted

        return mermaid(self.wiring)

    def to_dict(self) -> dict[str, Any]:
        """Return the flow as a native document; raises FlowInvalid where it has no document form."""
        from dataflow.formats.native_dump import dump  # as above

        self.compile()
        return dump(replace(self.wiring, settings=self._settings))

    @classmethod
    def load(cls, path: str | PathLike[str], *, format: str | None = None) -> Flow:
        """Load and check a document; raises FormatError or FlowInvalid.

        Loading imports what the document names under `uses`: load only files you trust.
        """
        from dataflow.loading import read_document  # as above

        with Flow.from_wiring(*read_document(path, format=format)) as loaded:
            return loaded


class TypedFlow(Flow, Generic[P, R]):
    """A function that wires a flow; calling it runs the flow, typed in and typed out."""

    def __init__(self, fn: Callable[Concatenate[Flow, P], R]) -> None:
        super().__init__(getattr(fn, "__name__", "flow"))
        self._fn = fn
        self._is_traced = False
        self._single = True
        self.__doc__ = fn.__doc__
        self.__name__ = self.name

    async def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the flow and return its output; raises RunFailed, or KeyError if the output was skipped."""
        self.compile()
        parameters = list(inspect.signature(self._fn).parameters.values())[1:]
        bound = inspect.Signature(parameters).bind(*args, **kwargs)
        result = await self.run(**bound.arguments)
        if self._single:
            return result["out"]  # type: ignore[no-any-return]  # typed by the function
        whole: Any = self._returns
        return whole(**{name: result[name] for name in self._wiring.block.outputs})  # type: ignore[no-any-return]  # as above

    @property
    def wiring(self) -> Wiring:
        """The flow as wired by the function, which is called on first use."""
        with self._lock:  # entered again by what the function itself does with the flow
            if not self._is_traced:
                self._is_traced = True
                try:
                    self._trace()
                except BaseException:
                    self._restart()
                    self._is_traced = False
                    raise
            return self._wiring

    def _trace(self) -> None:
        """Call the function once, with ports for its parameters."""
        hints, problems = hints_of(self._fn)
        self._wiring.problems.extend(problems)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter in list(inspect.signature(self._fn).parameters.values())[1:]:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                self._wiring.problems.append(
                    f"@flow function {self.name!r}: inputs have names, found {parameter}"
                )
                continue
            default = MISSING if parameter.default is parameter.empty else parameter.default
            port = self.input(parameter.name, hints.get(parameter.name, Any), default)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(port)
            else:
                named[parameter.name] = port
        fn: Any = self._fn
        self._return(fn(self, *positional, **named))

    def _return(self, returned: object) -> None:
        """Make what the function returned the outputs of the flow."""
        if isinstance(returned, Placeholder):
            self.output("out", returned)
        elif isinstance(returned, tuple) and hasattr(returned, "_fields"):
            self._single, self._returns = False, type(returned)
            for name in returned._fields:
                self.output(name, getattr(returned, name))
        else:
            self._wiring.problems.append(
                f"@flow function {self.name!r} returned {type(returned).__name__}; expected a port, "
                "or a NamedTuple of ports for several outputs"
            )


def flow(fn: Callable[Concatenate[Flow, P], R], /) -> TypedFlow[P, R]:
    """Turn a function that wires a flow into the flow; it is called once, on first use."""
    return TypedFlow(fn)
