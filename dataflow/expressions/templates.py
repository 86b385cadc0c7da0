"""Making functions of templates: text, `{{ }}` and `{% if %}`, parsed by jinja2 (S16.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from jinja2 import nodes

from dataflow.expressions.functions import text_of
from dataflow.expressions.limits import Evaluation, boolean
from dataflow.expressions.parsing import ENVIRONMENT, Parts, not_allowed, parsed
from dataflow.expressions.scanning import prepared_template

__all__ = ["Write", "parse_template"]

Write: TypeAlias = Callable[[Evaluation], Iterator[str]]


def parse_template(source: str) -> tuple[Write, frozenset[str]]:
    """Parse a template; returns what fills it piece by piece, and its names. Raises Refused."""
    template = parsed(partial(ENVIRONMENT.parse, prepared_template(source)))
    parts = Parts()
    return _writer(parts, template.body, 0), frozenset(parts.names)


def _writer(parts: Parts, body: list[nodes.Node], depth: int) -> Write:
    """Make what writes the parts of a template in order."""
    writers: list[Write] = []
    for node in body:
        match node:
            case nodes.Output():
                writers.extend(_writer_of_one(parts, part, depth) for part in node.nodes)
            case nodes.If():
                writers.append(_writer_of_if(parts, node, depth + 1))
            case _:
                raise not_allowed(node)

    def write(evaluation: Evaluation) -> Iterator[str]:
        for one in writers:
            yield from one(evaluation)

    return write


def _writer_of_one(parts: Parts, node: nodes.Expr, depth: int) -> Write:
    if isinstance(node, nodes.TemplateData):
        text = node.data
        return lambda _: iter((text,))
    compute = parts.compute(node, depth)
    return lambda evaluation: iter((text_of(evaluation, compute(evaluation)),))


def _writer_of_if(parts: Parts, node: nodes.If, depth: int) -> Write:
    branches = [
        (parts.compute(one.test, depth), _writer(parts, one.body, depth)) for one in (node, *node.elif_)
    ]
    otherwise = _writer(parts, node.else_, depth)

    def write(evaluation: Evaluation) -> Iterator[str]:
        for test, body in branches:
            if boolean(test(evaluation)):
                return body(evaluation)
        return otherwise(evaluation)

    return write
