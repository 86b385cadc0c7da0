"""Read a function's signature: which parameters are ports or config, and the ports of its result (S1.3)."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
)
from dataclasses import dataclass, replace
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeGuard, TypeVar, get_args, get_origin

from pydantic import BaseModel

from dataflow.core.context import ExecutionContext
from dataflow.core.functions import module_name
from dataflow.core.ports import (
    CONTEXT,
    MISSING,
    InPort,
    NodeOutput,
    OutPort,
    PortKind,
    in_port,
    is_maybe,
    kind_of,
    out_port,
    plain_type,
    port_type,
)
from dataflow.diagnostics.node_types import (
    ANNOTATION_UNRESOLVED,
    CONFIG_TWICE,
    PORT_NAME_TAKEN,
    PORTS_REQUIRED,
    RAW_CONFIG_INVALID,
    RAW_PARAMETER_UNKNOWN,
)
from dataflow.types.annotations import resolved_hints
from dataflow.types.shapes import keys_of, type_name

if TYPE_CHECKING:
    from dataflow.core.config import Config
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "OUT",
    "Parameters",
    "Shape",
    "function_name",
    "hints_of",
    "is_config",
    "is_node_function",
    "passing_on",
    "qualified_id",
    "read_parameters",
    "read_raw_parameters",
    "read_result",
]

OUT: Final = "out"
RAW: Final = ("inputs", CONTEXT, "config")
_AWAITED: Final = (Awaitable, Coroutine)
_ITERATED: Final = (AsyncIterator, AsyncGenerator, AsyncIterable)


class Shape(Enum):
    """How the result of a function maps to the values of ports (S3.2)."""

    SINGLE = "single"  # the value of `out`
    FIELDS = "fields"  # a NamedTuple or dataclass: a port a field, and `out`
    KEYS = "keys"  # a TypedDict: a port a key, and `out`
    PIECES = "pieces"  # an async generator: `out` is the list of its yields
    PORTS = "ports"  # a dict of port name to value, without `out`
    RAW = "raw"  # a NodeOutput: values by port name, and the context


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a node function. `positional` or `keywords` include the config's name."""

    ports: tuple[InPort, ...] = ()
    positional: tuple[str, ...] = ()
    star: str | None = None
    keywords: tuple[str, ...] = ()
    open: bool = False  # accepts ports that the config adds, by **kwargs or as a raw node
    config: type[Config] | None = None
    config_name: str | None = None
    config_default: object = MISSING
    raw: tuple[str, ...] | None = None  # which of inputs, context and config a raw node takes


@dataclass(frozen=True, slots=True)
class Returns:
    """The result of a node function: its shape, ports and type."""

    shape: Shape
    ports: tuple[OutPort, ...]
    type: object


def qualified_id(function: Callable[..., Any]) -> str:
    """Return the name `<module>:<qualname>` of a function; `__main__` is named after its file (S1.2)."""
    target = getattr(function, "func", function)
    module = getattr(target, "__module__", None) or "unknown"
    return f"{module_name(module)}:{getattr(target, '__qualname__', type(target).__qualname__)}"


def function_name(function: Callable[..., Any]) -> str:
    """Return the name for a placed node of the function; that of a partial is its function's."""
    target = getattr(function, "func", function)
    return getattr(target, "__name__", type(target).__name__)


def is_node_function(function: object) -> bool:
    """Return whether calling the function returns an awaitable or an async iterator."""
    if not callable(function):
        return False
    call = _routine(function)
    if inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call):
        return True
    hints, _ = hints_of(call)
    return _origin(hints.get("return")) in _AWAITED + _ITERATED


def _routine(function: Any) -> Any:
    """Return the function that a call runs: that of a partial, the `__call__` of an object."""
    if inspect.isroutine(function):
        return function
    return getattr(function, "func", None) or type(function).__call__


def hints_of(function: Callable[..., Any]) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Resolve a function's annotations; the second result lists those that cannot be resolved."""
    target = inspect.unwrap(getattr(function, "func", function))
    if not hasattr(target, "__annotations__"):
        target = type(target).__call__
    try:
        return resolved_hints(target), []
    except Exception:  # noqa: BLE001 - an annotation is any expression; each is resolved alone
        return _hints_one_by_one(target)


def _hints_one_by_one(target: Callable[..., Any]) -> tuple[dict[str, Any], list[Diagnostic]]:
    hints: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    names = getattr(target, "__globals__", {})
    parameters = {one.__name__: one for one in getattr(target, "__type_params__", ())}
    for name, annotation in target.__annotations__.items():
        holder = type("holder", (), {"__annotations__": {name: annotation}})
        try:
            hints[name] = typing.get_type_hints(holder, names, parameters, include_extras=True)[name]
        except Exception as error:  # noqa: BLE001 - as above
            hints[name] = Any
            problems.append(ANNOTATION_UNRESOLVED(f".{name}", annotation=annotation, error=error))
    return hints, problems


def read_parameters(
    function: Callable[..., Any], hints: dict[str, Any], configured: bool
) -> tuple[Parameters, list[Diagnostic]]:
    """Convert parameters to ports; `configured` means that `ports=` names the ports that **kwargs takes."""
    ports: list[InPort] = []
    positional: list[str] = []
    keywords: list[str] = []
    problems: list[Diagnostic] = []
    star: str | None = None
    is_open = False
    config: tuple[type[Config] | None, str | None, object] = (None, None, MISSING)
    for parameter in inspect.signature(function).parameters.values():
        name, annotation = parameter.name, hints.get(parameter.name, Any)
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            if not configured:
                problems.append(PORTS_REQUIRED(name=name))
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = name
            ports.append(in_port(name, annotation, default=(), many=True))
            continue
        (keywords if parameter.kind is parameter.KEYWORD_ONLY else positional).append(name)
        default = MISSING if parameter.default is parameter.empty else parameter.default
        plain = plain_type(annotation)
        if is_config(plain):
            if config[0] is not None:
                problems.append(CONFIG_TWICE(first=config[1], second=name))
            config = (plain, name, default)
        else:
            ports.append(in_port(name, annotation, default))
    return Parameters(tuple(ports), tuple(positional), star, tuple(keywords), is_open, *config), problems


def is_config(annotation: object) -> TypeGuard[type[Config]]:
    """Return whether a parameter of this type is config: not a port, but fixed while wiring (S1.2)."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return False
    from dataflow.core.config import Config  # defining the first model is slower than importing the engine

    return issubclass(annotation, Config)


def read_raw_parameters(
    function: Callable[..., Any], hints: dict[str, Any]
) -> tuple[Parameters, list[Diagnostic]]:
    """Read the parameters of a raw node, which have fixed names and are all optional (S1.3)."""
    parameters = inspect.signature(function).parameters
    problems = [
        RAW_PARAMETER_UNKNOWN(name=name, available=RAW)
        for name, parameter in parameters.items()
        if name not in RAW or parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    config, default = plain_type(hints.get("config", Any)), MISSING
    if not is_config(config):
        if config not in (Any, object, NoneType):
            problems.append(RAW_CONFIG_INVALID(".config", found=type_name(config)))
        config = None
    elif parameters["config"].default is not inspect.Parameter.empty:
        default = parameters["config"].default
    return Parameters(
        ports=(in_port(CONTEXT, ExecutionContext, None),),
        keywords=("config",) if "config" in parameters else (),
        open=True,
        config=config,
        config_name="config" if "config" in parameters else None,
        config_default=default,
        raw=tuple(parameters),
    ), problems


def read_result(function: Callable[..., Any], annotation: object) -> tuple[Returns, list[Diagnostic]]:
    """Convert a return annotation to output ports (S1.3)."""
    routine = _routine(function)
    iterates = not inspect.iscoroutinefunction(routine) and _origin(annotation) in _ITERATED
    if iterates or inspect.isasyncgenfunction(routine):
        items = get_args(annotation)
        listed: object = list[items[0]] if items else list  # type: ignore[valid-type]  # known at run time only
        return Returns(Shape.PIECES, (OutPort(OUT, listed, kind_of(listed)),), listed), []
    if not inspect.iscoroutinefunction(routine) and _origin(annotation) in _AWAITED:
        annotation = (get_args(annotation) or (Any,))[-1]
    plain, is_whole_maybe = plain_type(annotation), is_maybe(annotation)
    if isinstance(plain, type) and issubclass(plain, NodeOutput):
        return Returns(Shape.RAW, (out_port(CONTEXT, ExecutionContext, conditional=True),), plain), []
    fields = _fields_of(plain) if kind_of(plain) is PortKind.DATA else None
    conditional = is_whole_maybe or any(conditional for _, _, conditional in fields or ())
    out = OutPort(OUT, port_type(annotation), kind_of(plain), conditional=conditional)
    if fields is None:
        return Returns(Shape.SINGLE, (out,), plain), []
    problems = [PORT_NAME_TAKEN(name=name) for name, _, _ in fields if name == OUT]
    ports = tuple(
        out_port(name, hint, skips or is_whole_maybe) for name, hint, skips in fields if name != OUT
    )
    shape = Shape.KEYS if typing.is_typeddict(plain) else Shape.FIELDS
    return Returns(shape, (out, *ports), plain), problems


def passing_on(returns: Returns, parameters: Parameters) -> Returns:
    """Link outputs annotated with a type variable to the input of that type, whose value they pass on."""
    ports = tuple(
        replace(port, same_as=_source_of(port, parameters)) if isinstance(port.type, TypeVar) else port
        for port in returns.ports
    )
    return returns if ports == returns.ports else replace(returns, ports=ports)


def _source_of(port: OutPort, parameters: Parameters) -> str | None:
    """Return the only input of a port's type, if it always has exactly one value."""
    sources = [source for source in parameters.ports if source.type is port.type]
    if len(sources) != 1 or not sources[0].required or sources[0].many:
        return None
    return sources[0].name


def _origin(annotation: object) -> object:
    return get_origin(annotation) or annotation


def _fields_of(plain: object) -> list[tuple[str, object, bool]] | None:
    """List the name, annotation and optionality of each field of a result type; None without fields."""
    origin = get_origin(plain) or plain
    if not isinstance(origin, type):
        return None
    if typing.is_typeddict(origin):
        return [
            (name, key.hint, not key.required or is_maybe(key.hint)) for name, key in keys_of(plain).items()
        ]
    if issubclass(origin, tuple) and hasattr(origin, "_fields"):
        names: tuple[str, ...] = origin._fields
    elif dataclasses.is_dataclass(origin):
        names = tuple(field.name for field in dataclasses.fields(origin))
    else:
        return None
    hints = resolved_hints(origin)
    given = dict(zip(getattr(origin, "__parameters__", ()), get_args(plain), strict=False))
    fields = {name: _specialised(hints.get(name, Any), given) for name in names}
    return [(name, hint, is_maybe(hint)) for name, hint in fields.items()]


def _specialised(hint: Any, given: Mapping[object, object]) -> object:
    """Substitute the arguments of a generic class for its type variables."""
    if isinstance(hint, TypeVar):
        return given.get(hint, hint)
    variables = () if isinstance(hint, type) or not given else getattr(hint, "__parameters__", ())
    return hint[tuple(given.get(one, one) for one in variables)] if variables else hint
