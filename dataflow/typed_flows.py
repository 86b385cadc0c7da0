"""Functions that wire a flow: traced once, then called like the function, typed in and typed out (S1.1)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from dataflow.errors import Paused
from dataflow.flows import Flow
from dataflow.placeholders import Placeholder
from dataflow.ports import MISSING
from dataflow.signature import hints_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.wiring import Wiring

__all__ = ["TypedFlow", "flow"]

P = ParamSpec("P")
R = TypeVar("R")


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
        """Run the flow and return its output; raises RunFailed, Paused, or KeyError for a skipped output.

        Of several outputs it returns the NamedTuple that the function returned, with the values in it.
        """
        self.compile()
        parameters = list(inspect.signature(self._fn).parameters.values())[1:]
        bound = inspect.Signature(parameters).bind(*args, **kwargs)
        running = self.run(**bound.arguments)
        del args, kwargs, bound  # from here on only the run holds them (S8.5)
        result = await running
        if result.status == "paused":
            raise Paused(result)
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
    """Turn a function that wires a flow into the flow; it is called once, on first use.

    Its parameters after the first are the inputs. It returns a port, which is the output `out`, or a
    NamedTuple of ports, an output a field. What is wrong with it is told by the flow's check.
    """
    return TypedFlow(fn)
