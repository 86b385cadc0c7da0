"""Functions that build a flow: traced once, then called like the function, with typed inputs and outputs."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from dataflow.base.tracebacks import USER_FRAMES
from dataflow.builder.declare import configurable_type
from dataflow.builder.placement import place, wire
from dataflow.builder.sources import Placeholder
from dataflow.core.functions import mark_awaited
from dataflow.core.nodetype import opaque_type
from dataflow.core.ports import MISSING, plain_type
from dataflow.core.signature import hints_of, is_config
from dataflow.diagnostics.wiring import (
    FLOW_IN_ITSELF,
    FLOW_INPUT_UNNAMED,
    FLOW_NEEDS_CONFIG,
    FLOW_RETURNS_VALUE,
)
from dataflow.errors import FlowInvalid, Paused
from dataflow.flows import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dataflow.builder.blocks import OpenBlock
    from dataflow.core.config import Config
    from dataflow.core.nodetype import NodeType
    from dataflow.core.wiring import PlacedNode, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["TypedFlow", "flow"]

P = ParamSpec("P")
R = TypeVar("R")

#: The functions that are building flows for a config right now, each inside the one before it.
_WIRING: Final[ContextVar[tuple[object, ...]]] = ContextVar("_WIRING", default=())


@mark_awaited
class TypedFlow(Flow, Generic[P, R]):
    """A function that builds a flow; calling it runs the flow, with typed inputs and outputs.

    If one of its parameters is a config, it builds a flow for each config that it is given.
    """

    def __init__(self, fn: Callable[Concatenate[Flow, P], R], config: Config | None = None) -> None:
        super().__init__(getattr(fn, "__name__", "flow"))
        self._fn = self._documented = fn
        self._config = config
        self._is_traced = False
        self._single = True
        self.__doc__ = fn.__doc__
        self.__name__ = self.name

    async def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the flow and return its output; raises RunFailed, Paused, or KeyError for a skipped output.

        If there are several outputs, it returns the NamedTuple that the function returned, filled with the
        values.
        """
        bound = inspect.Signature(self._parameters).bind(*args, **kwargs)
        config = bound.arguments.pop(self._config_name, None) if self._is_configurable else None
        called = self if config is None else self.with_config(config)
        called.compile()
        running = called.run(**bound.arguments)
        del args, kwargs, bound  # so that only the run refers to them (S8.5)
        with USER_FRAMES:
            result = await running
            if result.status == "paused":
                raise Paused(result)
        if called._single:  # noqa: SLF001 - of its own class
            return result["out"]  # type: ignore[no-any-return]  # typed by the function
        whole: Any = called._returns  # noqa: SLF001 - as above
        return whole(**{name: result[name] for name in called.wiring.block.outputs})  # type: ignore[no-any-return]  # as above

    def with_config(self, config: Config) -> TypedFlow[..., R]:
        """Return the flow that the function builds for a config; its inputs are the other parameters."""
        made: TypedFlow[..., R] = TypedFlow(self._fn, config)
        made.settings, made._policy, made._placed_as = self.settings, self._policy, self._placed_as
        vars(made).update(
            _hints=self._hints, _config_name=self._config_name
        )  # they are properties of the function
        return made

    @property
    def node_type(self) -> NodeType:
        """The flow as a node type; a flow that is built for a config has the config of its nodes."""
        return self._type_for_configs if self._is_configurable else super().node_type

    def place_in(self, block: OpenBlock, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PlacedNode:
        """Place the flow as a node of another."""
        if not self._is_configurable:
            return super().place_in(block, args, kwargs)
        try:
            node_type = self.node_type
        except FlowInvalid as invalid:
            for problem in invalid.problems:
                block.problem(problem)
            return place(block, opaque_type(self.name), self.name, self._placed_as)
        placed = place(block, node_type, self.name, self._placed_as)
        wire(block, placed, node_type, args, kwargs)
        return placed

    def _copied(self) -> Self:
        other = super()._copied()
        vars(other).pop("_type_for_configs", None)
        return other

    @property
    def _is_configurable(self) -> bool:
        """Whether the function takes a config, and has not been given one yet."""
        return self._config is None and bool(self._config_name)

    @cached_property
    def _hints(self) -> tuple[dict[str, Any], list[Diagnostic]]:
        """The annotations of the function, and the problems found in them."""
        return hints_of(self._fn)

    @cached_property
    def _config_name(self) -> str:
        """The parameter that is the config, empty if there is none."""
        hints, _ = self._hints
        names = list(inspect.signature(self._fn).parameters)[1:]
        return next((name for name in names if is_config(plain_type(hints.get(name, Any)))), "")

    @property
    def _parameters(self) -> list[inspect.Parameter]:
        """The parameters of a call."""
        given = list(inspect.signature(self._fn).parameters.values())[1:]
        return [one for one in given if self._config is None or one.name != self._config_name]

    @cached_property
    def _type_for_configs(self) -> NodeType:
        return configurable_type(self._fn, self._flow_for, self.name, self._policy)

    def _flow_for(self, config: Config) -> Flow:
        """Build the flow for a config; raises FlowInvalid."""
        with _wiring(self._fn, self.name):
            made = self.with_config(config)
            _ = made.node_type
            return made

    @property
    def wiring(self) -> Wiring:
        """The graph definition that the function builds; the function is called on first use."""
        with self._lock:  # the function enters it again
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
        calls = self._wiring.calls
        with calls.made_by(self._fn):
            given = self._declare_inputs()
        if given is None:
            return
        positional, named = given
        fn: Any = self._fn
        returned = fn(self, *positional, **named)
        with calls.made_by(self._fn):
            self._return(returned)

    def _declare_inputs(self) -> tuple[list[Any], dict[str, Any]] | None:
        """Return the arguments of the function, a port for each input; None without the config it needs."""
        hints, problems = self._hints
        for problem in problems:
            self._open.problem(problem.within(self.name))
        positional: list[Any] = []
        named: dict[str, Any] = {}
        if self._config_name:
            config = self._config or inspect.signature(self._fn).parameters[self._config_name].default
            if config is inspect.Parameter.empty:
                self._open.problem(FLOW_NEEDS_CONFIG(self.name, name=self._config_name))
                return None
            named[self._config_name] = config
        for parameter in self._parameters:
            if parameter.name == self._config_name:
                continue
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                self._open.problem(FLOW_INPUT_UNNAMED(self.name, found=parameter))
                continue
            default = MISSING if parameter.default is parameter.empty else parameter.default
            port = self.input(parameter.name, hints.get(parameter.name, Any), default)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(port)
            else:
                named[parameter.name] = port
        return positional, named

    def _return(self, returned: object) -> None:
        """Declare the returned ports as the outputs of the flow."""
        if isinstance(returned, Placeholder):
            self.output("out", returned)
        elif isinstance(returned, tuple) and hasattr(returned, "_fields"):
            self._single, self._returns = False, type(returned)
            for name in returned._fields:
                self.output(name, getattr(returned, name))
        else:
            self._open.problem(FLOW_RETURNS_VALUE(self.name, found=type(returned).__name__))


@contextmanager
def _wiring(function: object, name: str) -> Iterator[None]:
    """Refuse to build a flow inside itself, also for another config: it might never end."""
    around = _WIRING.get()
    if function in around:
        raise FlowInvalid(name, [FLOW_IN_ITSELF(name)])
    token = _WIRING.set((*around, function))
    try:
        yield
    finally:
        _WIRING.reset(token)


def flow(fn: Callable[Concatenate[Flow, P], R], /) -> TypedFlow[P, R]:
    """Turn a function that builds a flow into the flow; the function is called once, on first use.

    Its parameters after the first are the inputs. A parameter annotated with a subclass of `Config` is not
    an input: the flow is built once for each config. The function returns a port, which becomes the output
    `out`, or a NamedTuple of ports with an output for each field. Problems are reported when the flow is
    checked.
    """
    return TypedFlow(fn)
