"""What all acting nodes share: config, walk, tool calls, answers, variables and errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import anyio
from pydantic import AfterValidator, Field, ValidationInfo

from dataflow import SKIP, Config, DataflowError, ExecutionContext, Maybe, this_firing
from dataflow.authoring import InstalledNode, resolve_path, shortened
from dataflow_formats.clickweave.checks import prefix_of
from dataflow_formats.clickweave.diagnostics import ELEMENT_NOT_FOUND, WALK_FAILED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow import Diagnostic, Failure, Flow

__all__ = [
    "MOST_CHARACTERS",
    "Action",
    "App",
    "AppNotFound",
    "Arguments",
    "Element",
    "ElementNotFound",
    "Noted",
    "Target",
    "WalkFailed",
    "call_tool",
    "is_repeated",
    "lookups_of",
    "matches_in",
    "noted",
    "object_in",
    "public_variables",
    "value_of",
    "with_lookups",
]

#: The arguments of tools that are paths relative to the folder of the document.
PATHS: Final = frozenset({"image_path", "imagePath", "path", "file", "template_path"})
#: The most characters of an answer in a message.
MOST_CHARACTERS: Final = 120
#: The variable with the lookups; the variables of nodes have a dot in their names.
KEY: Final = "clickweave"
_DECODER: Final = json.JSONDecoder()


def _resolved(arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Make paths absolute, since a tool server has another working directory."""
    paths = {key: arguments[key] for key in PATHS & arguments.keys()}
    found = {key: resolve_path(path, info) for key, path in paths.items() if isinstance(path, str)}
    return {**arguments, **found}


#: The arguments of a tool.
Arguments: TypeAlias = Annotated[dict[str, Any], AfterValidator(_resolved)]


class Action(Config):
    """Config of all acting nodes."""

    name: str = Field(description="what the node is called, which its variables begin with")
    alias: str = Field(default="", description="what a whole list is called besides `result`")
    settle: float = Field(default=0, ge=0, description="how many seconds it waits when it has succeeded")
    checked: bool = Field(default=False, description="whether what it does is judged after the walk")


class Noted(NamedTuple):
    """The walk with the lookups of a node, the variables that it has set, and the evidence for its checks."""

    walk: ExecutionContext
    variables: dict[str, Any]
    seen: Maybe[dict[str, Any]]


def call_tool(f: Flow, placed_as: str, tool: str, arguments: Any, tools: Any, **policy: Any) -> Any:
    """Wire a call of a tool; return its ports `text` and `images`."""
    calling = InstalledNode("agent.call_tool").with_(name=placed_as, **policy)
    return f.add(calling, arguments=arguments, tools=tools, config=calling.config(tool=tool)).out


async def noted(walk: ExecutionContext, value: Any, config: Action) -> Noted:
    """Set the variables of a result, and wait until the screen has settled."""
    variables = dict(variables_of(prefix_of(config.name), value, config.alias))
    if config.settle:
        await anyio.sleep(config.settle)
    return Noted(with_variables(walk, variables), variables, SKIP)


def variables_of(prefix: str, value: Any, alias: str = "") -> Mapping[str, Any]:
    """Return the variables of a result, in the order in which they are set."""
    named: dict[str, Any] = {"success": True}
    match value:
        case dict():
            named |= {**value, "result": value}
        case list():
            first = value[0] if value and isinstance(value[0], dict) else {}
            named |= {"found": bool(value), "count": len(value), **first}
            named |= {alias: value} if alias else {}
            named["result"] = value
        case None:
            named["result"] = ""
        case _:
            named["result"] = value
    return {f"{prefix}.{key}": one for key, one in named.items()}


@dataclass(frozen=True, slots=True)
class App:
    """A running app."""

    name: str
    pid: int


@dataclass(frozen=True, slots=True)
class Element:
    """The name on the screen of an element that the user calls otherwise."""

    name: str


@dataclass(frozen=True, slots=True)
class Target:
    """The coordinates of a click."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Lookups:
    """The apps and elements that have been looked up so far.

    apps: the apps by the name that the user gives them
    elements: the names of elements on the screen, by the name that the user gives them and the focused app
    focused: the name of the app that was focused last, empty for none
    """

    apps: Mapping[str, App] = field(default_factory=dict)
    elements: Mapping[str, str] = field(default_factory=dict)
    focused: str = ""

    def element(self, target: str) -> str | None:
        """Return the name of an element in the focused app, None if it has not been looked up."""
        return self.elements.get(_key(target, self.focused))

    def with_app(self, wanted: str, app: App) -> Lookups:
        """Return a copy with an app."""
        return replace(self, apps={**self.apps, wanted: app})

    def with_element(self, target: str, name: str) -> Lookups:
        """Return a copy with the name of an element."""
        return replace(self, elements={**self.elements, _key(target, self.focused): name})


def _key(target: str, app: str) -> str:
    return json.dumps([target, app])


def lookups_of(context: ExecutionContext) -> Lookups:
    """Return the lookups of a walk."""
    kept = context.variables.get(KEY, {})
    apps = {wanted: App(**app) for wanted, app in kept.get("apps", {}).items()}
    return Lookups(apps, kept.get("elements", {}), kept.get("focused", ""))


def with_lookups(context: ExecutionContext, lookups: Lookups) -> ExecutionContext:
    """Return a walk with other lookups."""
    apps = {wanted: {"name": app.name, "pid": app.pid} for wanted, app in lookups.apps.items()}
    kept = {"apps": apps, "elements": dict(lookups.elements), "focused": lookups.focused}
    return with_variables(context, {KEY: kept})


def with_variables(context: ExecutionContext, variables: Mapping[str, Any]) -> ExecutionContext:
    """Return a walk with variables added or replaced."""
    return replace(context, variables={**context.variables, **variables})


def public_variables(context: ExecutionContext) -> dict[str, Any]:
    """Return the variables that nodes have set."""
    return {name: value for name, value in context.variables.items() if "." in name}


def is_repeated() -> bool:
    """Return whether the enclosing subflow is retried, so that no lookup is reused.

    The path of a subflow ends with `~2` from the second attempt on (S2.2).
    """
    return "~" in this_firing().path.rpartition("/")[0].rpartition("/")[2]


def value_of(text: str) -> Any:
    """Return an answer as JSON, else as a string; None for an empty one."""
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def object_in(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in an answer, with any text around it; None if there is none."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


class Matches(NamedTuple):
    """The matches of `find_text`, and the available elements if there is no match."""

    found: list[Any]
    available: list[str]


def matches_in(text: str) -> Matches:
    """Read an answer of `find_text`: a list, and after an empty one an object with the available elements."""
    found: list[Any] = []
    available: list[str] = []
    for value in _values_in(text):
        if isinstance(value, list):
            found += value
        elif isinstance(value, dict):
            named = value.get("available_elements")
            if isinstance(named, list):
                available += filter(None, map(_name_of, named))
            elif "x" in value and "y" in value:
                found.append(value)
    return Matches(found, available)


def _values_in(text: str) -> Iterable[Any]:
    """Yield the JSON values in a sequence of them."""
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield value


def _name_of(element: Any) -> str:
    if isinstance(element, dict):
        element = next((element[key] for key in ("name", "text", "title") if key in element), "")
    return element if isinstance(element, str) else ""


class AppNotFound(DataflowError):
    """Raised if none of the running apps is the wanted one."""

    def __init__(self, wanted: str, problem: Diagnostic) -> None:
        self.wanted = wanted
        super().__init__(problem.within(f"app {wanted!r}"))
        self.problem = problem


class ElementNotFound(DataflowError):
    """Raised if the target of a click is not on the screen; quotes the answer of the search."""

    def __init__(self, target: str, answer: str) -> None:
        self.target = target
        self.answer = answer
        super().__init__(ELEMENT_NOT_FOUND(f"text {target!r}", answer=shortened(answer, MOST_CHARACTERS)))


class WalkFailed(DataflowError):
    """Raised when a walk with checks has failed, after the checks have been judged."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        error = ": ".join(filter(None, (failure.type, failure.message)))
        super().__init__(WALK_FAILED(failure.path, error=error))
