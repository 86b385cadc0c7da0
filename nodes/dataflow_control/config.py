"""The base class of the configs of this pack, and checks of names in their expressions and templates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import ConfigDict

from dataflow import ArgumentInvalid, Config, Expression, Ports, Template
from dataflow_control.diagnostics import NAME_RESERVED, NAME_UNKNOWN

__all__ = ["StrictConfig", "only_names", "ports_for", "without_names"]


class StrictConfig(Config):
    """A config without conversions: no string becomes a number, nor the reverse."""

    model_config = ConfigDict(strict=True)


def ports_for(names: Iterable[str]) -> Ports:
    """Return a required input port for each name, in alphabetical order."""
    return Ports(inputs=dict.fromkeys(sorted(names), Any))


def without_names(*taken: str) -> Callable[[Expression | Template], Expression | Template]:
    """Return a validator that refuses names which the node itself uses."""

    def check(source: Expression | Template) -> Expression | Template:
        found = sorted(source.names & {*taken})
        if found:
            raise ArgumentInvalid(NAME_RESERVED(name=found[0]))
        return source

    return check


def only_names(*known: str) -> Callable[[Expression | Template], Expression | Template]:
    """Return a validator that refuses all names but these."""

    def check(source: Expression | Template) -> Expression | Template:
        unknown = sorted(source.names - {*known})
        if unknown:
            raise ArgumentInvalid(NAME_UNKNOWN(name=unknown[0], available=known))
        return source

    return check
