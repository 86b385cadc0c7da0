"""The node types `agent.fill_prompt` and `agent.prior_outputs`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field

from dataflow import ArgumentInvalid, Config, Diagnostic, ExpressionError, Port, Ports, Template, node
from dataflow.authoring import maximum
from dataflow_agent.conversations import checked_names
from dataflow_agent.diagnostics.chats import (
    NAME_TAKEN,
    OUTPUT_NOT_JSON,
    PLACEHOLDER_INVALID,
    PROMPT_TOO_LONG,
)

__all__ = ["Prior", "PriorStep", "Prompt", "fill_prompt", "prior_outputs"]

PREVIOUS: Final = "previous"
PREVIOUS_OUTPUT: Final = "{{PREVIOUS_OUTPUT}}"
#: A placeholder, also a malformed one; all other braces are text.
FOUND: Final = re.compile(rf"{re.escape(PREVIOUS_OUTPUT)}|\{{\{{\s*\$[^{{}}]*\}}\}}")
STEP: Final = re.compile(r"\{\{\s*\$steps\.([^\W\d]\w*)\.output((?:\.\w+)*)\s*\}\}")
#: How many characters a filled prompt may have, as a template.
LONGEST: Final = maximum("PROMPT_CHARACTERS", 1_000_000)
HEAD: Final = "--- Prior Step Outputs ---"
FOOT: Final = "--- End Prior Step Outputs ---"


class Placeholder(NamedTuple):
    """A placeholder for a value: the port of the value, and the keys of a part of it."""

    source: str
    port: str
    keys: tuple[str, ...] = ()

    def written(self, values: Mapping[str, Any]) -> str:
        """Return the text that replaces it; raises ExpressionError."""
        value = values[self.port]
        if self.keys and isinstance(value, str):
            value = self._read(value)
        try:
            return _writer(self.keys).fill({"value": value})
        except ExpressionError as error:
            raise self._failed(error.problem) from error

    def _read(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._failed(OUTPUT_NOT_JSON(step=self.port, error=error)) from error

    def _failed(self, problem: Diagnostic) -> ExpressionError:
        return ExpressionError(self.source, problem, "placeholder")


@lru_cache(256)
def _writer(keys: tuple[str, ...]) -> Template:
    return Template("{{ value" + "".join(f"[{key!r}]" for key in keys) + " }}")


def _placeholder(text: str) -> Placeholder:
    if text == PREVIOUS_OUTPUT:
        return Placeholder(text, PREVIOUS)
    if (match := STEP.fullmatch(text)) is None:
        raise ArgumentInvalid(PLACEHOLDER_INVALID(placeholder=text))
    if match[1] in (PREVIOUS, "config"):
        raise ArgumentInvalid(NAME_TAKEN(name=match[1], by="the node itself"))
    return Placeholder(text, match[1], tuple(match[2].split(".")[1:]))


def _parts(prompt: str) -> Iterator[str | Placeholder]:
    """Split a prompt into text and placeholders; a blank prompt is the previous output."""
    if not prompt.strip():
        prompt = PREVIOUS_OUTPUT
    end = 0
    for match in FOUND.finditer(prompt):
        yield prompt[end : match.start()]
        yield _placeholder(match[0])
        end = match.end()
    yield prompt[end:]


def _ports_of(prompt: str) -> list[str]:
    return sorted({part.port for part in _parts(prompt) if isinstance(part, Placeholder)})


def _check_prompt(prompt: str) -> str:
    _ports_of(prompt)
    return prompt


class Prompt(Config):
    """Config of `agent.fill_prompt`."""

    model_config = ConfigDict(strict=True)

    prompt: Annotated[str, AfterValidator(_check_prompt)] = Field(
        default="",
        description="text with {{PREVIOUS_OUTPUT}} and {{ $steps.NAME.output }}, or blank",
    )


def _holes(config: Prompt) -> Ports:
    return Ports(inputs=dict.fromkeys(_ports_of(config.prompt), Any))


@node(ports=_holes)
async def fill_prompt(config: Prompt = Prompt(), **values: Any) -> str:  # noqa: B008 - frozen
    """Fill the placeholders of a prompt, once and literally.

    `{{PREVIOUS_OUTPUT}}` is replaced by the input `previous`, `{{ $steps.NAME.output }}` by the input of that
    name, `{{ $steps.NAME.output.KEY }}` by a part of it, which is read as JSON if it is a string. All other
    text is unchanged, and values are not scanned for placeholders. Values are written as by
    `control.template`. A blank prompt is `previous`. At most 1,000,000 characters. Raises ExpressionError,
    also for a missing key.
    """
    pieces: list[str] = []
    size = 0
    for part in _parts(config.prompt):
        pieces.append(part.written(values) if isinstance(part, Placeholder) else part)
        size += len(pieces[-1])
        if size > LONGEST:
            problem = PROMPT_TOO_LONG(expected=f"at most {LONGEST:,} characters")
            raise ExpressionError(config.prompt, problem, "prompt")
    return "".join(pieces)


class PriorStep(Config):
    """A step whose output is listed: the input that has the output, and its heading."""

    model_config = ConfigDict(strict=True)

    name: str = Field(description="the name of the input")
    agent: str = Field(default="", description="the agent that the heading names, if any")
    path: str = Field(default="", description="what the heading calls the step; the name unless set")

    @property
    def heading(self) -> str:
        """The line above the output."""
        called = self.path or self.name
        return f"[{called} (agent: {self.agent})]:" if self.agent else f"[{called}]:"


def _check_steps(steps: list[PriorStep]) -> list[PriorStep]:
    checked_names([step.name for step in steps], "config", "prompt")
    return steps


class Prior(Config):
    """Config of `agent.prior_outputs`."""

    model_config = ConfigDict(strict=True)

    steps: Annotated[list[PriorStep], AfterValidator(_check_steps)] = Field(
        min_length=1, description="the steps, in the order in which they are told"
    )


def _steps(config: Prior) -> Ports:
    return Ports(inputs=dict.fromkeys([step.name for step in config.steps], Port(str, default="")))


@node(ports=_steps)
async def prior_outputs(config: Prior, prompt: str = "", **outputs: str) -> str:
    """Put a prompt behind a block with the outputs of earlier steps, each once, in the order of the config.

    A step that was skipped or has an empty output has no entry; without entries there is no block, and the
    prompt is unchanged.
    """
    entries = [f"{step.heading}\n{outputs[step.name]}" for step in config.steps if outputs[step.name]]
    block = [HEAD, *entries, FOOT] if entries else []
    return "\n\n".join([*block, *([prompt] if prompt else [])])
