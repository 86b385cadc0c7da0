"""Parse expressions and templates with jinja2, and compile the allowed kinds of syntax nodes to functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.lexer import describe_token
from jinja2.parser import Parser

from dataflow.base.markers import MISSING
from dataflow.diagnostics.expressions import (
    ARGUMENTS_INVALID,
    ELSE_MISSING,
    FUNCTION_UNKNOWN,
    NAME_UNKNOWN,
    SYNTAX_NOT_ALLOWED,
)
from dataflow.expressions.functions import DEFAULT, FUNCTIONS, Function, text_of
from dataflow.expressions.lexer import (
    KEYWORD,
    MOST_DEPTH,
    prepared_expression,
    prepared_template,
    syntax_error,
    too_deep,
    unexpected,
)
from dataflow.expressions.limits import (
    Evaluation,
    Refused,
    as_number,
    boolean,
    checked_number,
    integer_too_large,
    names_among,
    short,
)
from dataflow.expressions.operators import (
    ARITHMETIC,
    COMPARISONS,
    checked_key,
    is_missing,
    item_of,
    negative,
    positive,
    slice_of,
)

__all__ = ["Compute", "Write", "parse_expression", "parse_template"]

Compute: TypeAlias = Callable[[Evaluation], Any]
Write: TypeAlias = Callable[[Evaluation], Iterator[str]]
ENVIRONMENT: Final = Environment(keep_trailing_newline=True, autoescape=False)  # noqa: S701 - it only parses
_SIGNS: Final[dict[type[nodes.Node], str]] = {
    nodes.Add: "+", nodes.Sub: "-", nodes.Mul: "*", nodes.Div: "/", nodes.FloorDiv: "//", nodes.Mod: "%",
    nodes.Pow: "**",
}  # fmt: skip
_NAMES: Final[dict[type[nodes.Node], str]] = {
    nodes.Filter: "a filter `|`", nodes.Test: "a test `is`",
    nodes.Tuple: "a comma (a list is written [a, b])",
}  # fmt: skip
#: The syntax nodes that may name something that is missing.
_PATHS: Final = (nodes.Name, nodes.Getattr, nodes.Getitem)
_ALLOWED: Final = (
    "literals", "names", "items", "slices", "comparisons", "and", "or", "not", "in", "is defined",
    "arithmetic", "`~`", "`a if b else c`", "functions",
)  # fmt: skip


def parse_expression(source: str) -> tuple[Compute, frozenset[str]]:
    """Compile an expression to a function; also return its names. Raises Refused."""
    prepared = prepared_expression(source)

    def parse() -> nodes.Expr:
        parser = Parser(ENVIRONMENT, prepared, state="variable")
        found = parser.parse_expression()
        if not parser.stream.eos:
            raise unexpected(short(describe_token(parser.stream.current)))
        return found

    compiler = _Compiler()
    return compiler.compute(_parsed(parse), 0), frozenset(compiler.names)


def parse_template(source: str) -> tuple[Write, frozenset[str]]:
    """Compile a template to a function that yields its pieces; also return its names. Raises Refused."""
    template = _parsed(partial(ENVIRONMENT.parse, prepared_template(source)))
    compiler = _Compiler()
    return _writer(compiler, template.body, 0), frozenset(compiler.names)


def _parsed(parse: Callable[[], Any]) -> Any:
    """Let jinja2 parse; its errors become Refused."""
    try:
        return parse()
    except TemplateSyntaxError as error:
        raise Refused(syntax_error(error.message or "syntax error", _place(error))) from error
    except RecursionError as error:
        raise too_deep() from error
    except ValueError as error:  # an integer with thousands of digits
        raise integer_too_large() from error


def _place(found: nodes.Node | TemplateSyntaxError) -> str:
    return f"line {found.lineno}" if found.lineno > 1 else ""


def _not_allowed(node: nodes.Node) -> Refused:
    """Return the error for a kind of syntax node that is not allowed."""
    what = _NAMES.get(type(node), f"a part of the kind {type(node).__name__}")
    return Refused(SYNTAX_NOT_ALLOWED(_place(node), what=what, available=_ALLOWED))


class _Compiler:
    """Compiles the expressions of one source to functions, and collects their names."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def compute(self, node: nodes.Node, depth: int) -> Compute:
        """Compile a syntax node. A chain of operators is one level, so only brackets add depth."""
        if depth > MOST_DEPTH:
            raise too_deep()
        make: Callable[[Any, int], Compute] | None = _MAKERS.get(type(node))
        if make is None:
            raise _not_allowed(node)
        return make(self, node, depth + 1)  # type: ignore[arg-type,call-arg]  # a method, as the table has it

    def constant(self, node: nodes.Const, _: int) -> Compute:
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool):
            checked_number(value)
        return lambda _: value

    def name(self, node: nodes.Name, _: int) -> Compute:
        name = node.name.removeprefix(KEYWORD)
        self.names.add(name)

        def look_up(evaluation: Evaluation) -> Any:
            if name not in evaluation.names:
                raise Refused(NAME_UNKNOWN(names=short(name), available=names_among(evaluation.names)))
            return as_number(evaluation.names[name])

        return look_up

    def list(self, node: nodes.List, depth: int) -> Compute:
        items = [self.compute(item, depth) for item in node.items]
        return lambda evaluation: [item(evaluation) for item in items]

    def mapping(self, node: nodes.Dict, depth: int) -> Compute:
        pairs = [(self.compute(pair.key, depth), self.compute(pair.value, depth)) for pair in node.items]
        return lambda evaluation: {checked_key(key(evaluation)): value(evaluation) for key, value in pairs}

    def sign(self, node: nodes.Neg | nodes.Pos, depth: int) -> Compute:
        operand = self.compute(node.node, depth)
        apply = negative if isinstance(node, nodes.Neg) else positive
        return lambda evaluation: apply(evaluation, operand(evaluation))

    def negation(self, node: nodes.Not, depth: int) -> Compute:
        operand = self.compute(node.node, depth)
        return lambda evaluation: not boolean(operand(evaluation))

    def arithmetic(self, node: nodes.BinExpr, depth: int) -> Compute:
        steps = []
        first: nodes.Node = node
        while isinstance(first, nodes.BinExpr) and type(first) in _SIGNS:
            steps.append((ARITHMETIC[_SIGNS[type(first)]], self.compute(first.right, depth)))
            first = first.left
        begin = self.compute(first, depth)
        steps.reverse()

        def calculate(evaluation: Evaluation) -> Any:
            value = begin(evaluation)
            for apply, operand in steps:
                value = apply(evaluation, value, operand(evaluation))
            return value

        return calculate

    def connective(self, node: nodes.And | nodes.Or, depth: int) -> Compute:
        kind, deciding = type(node), isinstance(node, nodes.Or)
        operands = []
        first: nodes.Node = node
        while isinstance(first, kind):
            operands.append(self.compute(first.right, depth))
            first = first.left
        operands.append(self.compute(first, depth))
        operands.reverse()

        def decide(evaluation: Evaluation) -> bool:
            for operand in operands:
                if boolean(operand(evaluation)) is deciding:
                    return deciding
            return not deciding

        return decide

    def comparison(self, node: nodes.Compare, depth: int) -> Compute:
        first = self.compute(node.expr, depth)
        steps = [(COMPARISONS[operand.op], self.compute(operand.expr, depth)) for operand in node.ops]

        def compare(evaluation: Evaluation) -> bool:
            left = first(evaluation)
            for holds, operand in steps:
                right = operand(evaluation)
                if not holds(evaluation, left, right):
                    return False
                left = right
            return True

        return compare

    def concatenation(self, node: nodes.Concat, depth: int) -> Compute:
        parts = [self.compute(part, depth) for part in node.nodes]

        def concatenate(evaluation: Evaluation) -> str:
            return evaluation.join([text_of(evaluation, part(evaluation)) for part in parts])

        return concatenate

    def choice(self, node: nodes.CondExpr, depth: int) -> Compute:
        if node.expr2 is None:
            raise Refused(ELSE_MISSING(_place(node)))
        test, first, second = (self.compute(one, depth) for one in (node.test, node.expr1, node.expr2))
        return lambda evaluation: (first if boolean(test(evaluation)) else second)(evaluation)

    def item(self, node: nodes.Getattr | nodes.Getitem, depth: int) -> Compute:
        _, begin, keys = self._path(node, depth)

        def take(evaluation: Evaluation) -> Any:
            value = begin(evaluation)
            for key in keys:
                value = _part_of(evaluation, value, key(evaluation))
            return value

        return take

    def _path(self, node: nodes.Expr, depth: int) -> tuple[nodes.Node, Compute, Sequence[Compute]]:
        """Compile the value at which a path of items begins, and the keys; also return the first as it is."""
        keys = []
        first: nodes.Node = node
        while isinstance(first, nodes.Getattr | nodes.Getitem):
            part = nodes.Const(first.attr) if isinstance(first, nodes.Getattr) else first.arg
            keys.append(self.compute(part, depth))
            first = first.node
        begin = self.compute(first, depth)
        keys.reverse()
        return first, begin, keys

    def part(self, node: nodes.Slice, depth: int) -> Compute:
        start, stop, step = (
            None if one is None else self.compute(one, depth) for one in (node.start, node.stop, node.step)
        )

        def cut(evaluation: Evaluation) -> slice:
            return slice(*(None if one is None else one(evaluation) for one in (start, stop, step)))

        return cut

    def defined(self, node: nodes.Test, depth: int) -> Compute:
        if node.name != "defined" or not isinstance(node.node, _PATHS):
            raise _not_allowed(node)
        find = self._if_there(node.node, depth)
        return lambda evaluation: find(evaluation) is not MISSING

    def _if_there(self, node: nodes.Expr, depth: int) -> Compute:
        """Compile a path to a function that returns MISSING for a name or an item that is missing."""
        first, begin, keys = self._path(node, depth)
        name = first.name.removeprefix(KEYWORD) if isinstance(first, nodes.Name) else None

        def find(evaluation: Evaluation) -> Any:
            if name is not None and name not in evaluation.names:
                return MISSING
            value = begin(evaluation)
            for one in keys:
                key = one(evaluation)
                try:
                    value = _part_of(evaluation, value, key)
                except Refused as refused:
                    if not is_missing(refused):
                        raise
                    return MISSING
            return value

        return find

    def call(self, node: nodes.Call, depth: int) -> Compute:
        called = node.node
        if not isinstance(called, nodes.Name) or called.name not in FUNCTIONS:
            what = short(called.name) if isinstance(called, nodes.Name) else "a value"
            raise Refused(FUNCTION_UNKNOWN(_place(node), what=what, available=FUNCTIONS))
        function = FUNCTIONS[called.name]
        others = (node.kwargs, node.dyn_args, node.dyn_kwargs)
        if any(others) or not function.least <= len(node.args) <= function.most:
            expected = f"{_number_of_arguments(function)}, without a name"
            raise Refused(ARGUMENTS_INVALID(_place(node), function=called.name, expected=expected))
        if called.name == DEFAULT and isinstance(node.args[0], _PATHS):
            return self._with_default(*node.args, depth=depth)
        arguments = [self.compute(argument, depth) for argument in node.args]
        return lambda evaluation: function.call(evaluation, *(one(evaluation) for one in arguments))

    def _with_default(self, path: nodes.Expr, other: nodes.Expr, *, depth: int) -> Compute:
        find, otherwise = self._if_there(path, depth), self.compute(other, depth)

        def choose(evaluation: Evaluation) -> Any:
            value = find(evaluation)
            return otherwise(evaluation) if value is MISSING or value is None else value

        return choose


def _part_of(evaluation: Evaluation, value: Any, key: Any) -> Any:
    if isinstance(key, slice):
        return slice_of(evaluation, value, key)
    return as_number(item_of(value, key))


def _number_of_arguments(function: Function) -> str:
    if function.least == function.most:
        return "1 argument" if function.most == 1 else f"{function.most} arguments"
    return f"{function.least} to {function.most} arguments"


#: The allowed kinds of syntax nodes, and the methods that compile them.
_MAKERS: Final[dict[type[nodes.Node], Callable[..., Compute]]] = {
    nodes.Const: _Compiler.constant,
    nodes.Name: _Compiler.name,
    nodes.List: _Compiler.list,
    nodes.Dict: _Compiler.mapping,
    nodes.Neg: _Compiler.sign,
    nodes.Pos: _Compiler.sign,
    nodes.Not: _Compiler.negation,
    **dict.fromkeys(_SIGNS, _Compiler.arithmetic),
    nodes.And: _Compiler.connective,
    nodes.Or: _Compiler.connective,
    nodes.Compare: _Compiler.comparison,
    nodes.Concat: _Compiler.concatenation,
    nodes.CondExpr: _Compiler.choice,
    nodes.Getattr: _Compiler.item,
    nodes.Getitem: _Compiler.item,
    nodes.Slice: _Compiler.part,
    nodes.Test: _Compiler.defined,
    nodes.Call: _Compiler.call,
}


def _writer(compiler: _Compiler, body: list[nodes.Node], depth: int) -> Write:
    """Compile the nodes of a template to a function that yields their text in order."""
    writers: list[Write] = []
    for node in body:
        match node:
            case nodes.Output():
                writers.extend(_writer_of_one(compiler, part, depth) for part in node.nodes)
            case nodes.If():
                writers.append(_writer_of_if(compiler, node, depth + 1))
            case _:
                raise _not_allowed(node)

    def write(evaluation: Evaluation) -> Iterator[str]:
        for one in writers:
            yield from one(evaluation)

    return write


def _writer_of_one(compiler: _Compiler, node: nodes.Expr, depth: int) -> Write:
    if isinstance(node, nodes.TemplateData):
        text = node.data
        return lambda _: iter((text,))
    compute = compiler.compute(node, depth)
    return lambda evaluation: iter((text_of(evaluation, compute(evaluation)),))


def _writer_of_if(compiler: _Compiler, node: nodes.If, depth: int) -> Write:
    branches = [
        (compiler.compute(one.test, depth), _writer(compiler, one.body, depth)) for one in (node, *node.elif_)
    ]
    otherwise = _writer(compiler, node.else_, depth)

    def write(evaluation: Evaluation) -> Iterator[str]:
        for test, body in branches:
            if boolean(test(evaluation)):
                return body(evaluation)
        return otherwise(evaluation)

    return write
