"""The base of the configs of this pack, and names in their expressions and templates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import ConfigDict

from dataflow import Config, Expression, Ports, Template

__all__ = ["StrictConfig", "only_names", "ports_for", "without_names"]


class StrictConfig(Config):
    """A config that takes its values as they are: no text becomes a number, nor the other way round."""

    model_config = ConfigDict(strict=True)


def ports_for(names: Iterable[str]) -> Ports:
    """Make a required input port of each name, in the order of the alphabet."""
    return Ports(inputs=dict.fromkeys(sorted(names), Any))


def without_names(*taken: str) -> Callable[[Expression | Template], Expression | Template]:
    """Make a check that none of the names is one that the node has a use of its own for."""

    def check(source: Expression | Template) -> Expression | Template:
        found = sorted(source.names & {*taken})
        if found:
            raise ValueError(f"the name {found[0]!r} is taken by the node itself; use another")
        return source

    return check


def only_names(*known: str) -> Callable[[Expression | Template], Expression | Template]:
    """Make a check that there are no other names than these."""

    def check(source: Expression | Template) -> Expression | Template:
        unknown = sorted(source.names - {*known})
        if unknown:
            raise ValueError(f"unknown name {unknown[0]!r}; expected {' or '.join(known)}")
        return source

    return check
