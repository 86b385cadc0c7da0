"""`Expression` and `Template`, and config fields that hold them."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import core_schema

from dataflow.base.failure import text_of_error
from dataflow.base.wording import MOST_CHOICES
from dataflow.core.functions import NamedFunction, is_function_name
from dataflow.diagnostics.expressions import (
    EVALUATION_RAISED,
    NAME_UNKNOWN,
    RESULT_TOO_LONG,
    SOURCE_NOT_TEXT,
    VALUE_TOO_DEEP,
)
from dataflow.errors import ArgumentInvalid, ExpressionError
from dataflow.expressions.limits import LONGEST, Evaluation, Refused, boolean, length, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_core import CoreSchema

    from dataflow.expressions.parser import Compute, Write

__all__ = ["Expression", "ExpressionOf", "Template", "written_function"]

T = TypeVar("T")
S = TypeVar("S", "Expression", "Template")


@dataclass(frozen=True, slots=True)
class Expression:
    """Compute a value from named values, sandboxed and in bounded time.

    Compiled once, evaluated any number of times, in any thread. `names` are the names that it reads,
    `source` its text. Two with equal text are equal. A field of a `Config` with this type is serialized as
    the text. Raises ExpressionError for an invalid expression.
    """

    source: str
    names: frozenset[str] = field(init=False, repr=False, compare=False)
    _compute: Compute = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from dataflow.expressions.parser import parse_expression

        compiled, names = _reporting(self.source, lambda: parse_expression(self.source))
        object.__setattr__(self, "_compute", compiled)
        object.__setattr__(self, "names", names)

    def evaluate(self, names: Mapping[str, Any], spend: Callable[[int], object] | None = None) -> Any:
        """Compute the value with these names; raises ExpressionError for any error.

        To limit the total work of many evaluations, pass `spend`, which is called with the number of steps
        taken: about one for each character of the source, and for each character or item made or compared.
        """
        return self._computed(names, spend, _not_too_long)

    def holds(self, names: Mapping[str, Any], spend: Callable[[int], object] | None = None) -> bool:
        """Compute a condition; raises ExpressionError if the value is not a boolean."""
        return self._computed(names, spend, boolean)

    def _computed(
        self, names: Mapping[str, Any], spend: Callable[[int], object] | None, check: Callable[[Any], T]
    ) -> T:
        evaluation = Evaluation(names)
        value = _reporting(self.source, lambda: check(self._compute(evaluation)))
        if spend is not None:
            spend(len(self.source) + evaluation.taken)
        return value

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        return _schema_of_source(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, *_: object) -> dict[str, Any]:
        return {"type": "string"}  # the source


@dataclass(frozen=True, slots=True)
class Template:
    """Fill a text that has `{{ }}` and `{% if %}` with named values, sandboxed and in bounded time.

    Compiled once, filled any number of times, in any thread. `names` are the names that it reads, `source`
    its text. Two with equal text are equal. A field of a `Config` with this type is serialized as the text.
    Raises ExpressionError for an invalid template.
    """

    source: str
    names: frozenset[str] = field(init=False, repr=False, compare=False)
    _write: Write = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from dataflow.expressions.parser import parse_template

        compiled, names = _reporting(self.source, lambda: parse_template(self.source), "template")
        object.__setattr__(self, "_write", compiled)
        object.__setattr__(self, "names", names)

    def fill(self, names: Mapping[str, Any]) -> str:
        """Return the filled text; text from values is never interpreted as a template."""
        return _reporting(self.source, lambda: self._filled(Evaluation(names)), "template")

    def _filled(self, evaluation: Evaluation) -> str:
        pieces: list[str] = []
        size = 0
        for piece in self._write(evaluation):
            size += len(piece)
            if size > LONGEST:
                raise Refused(RESULT_TOO_LONG(expected=f"at most {LONGEST:,} characters"))
            pieces.append(piece)
        return "".join(pieces)

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        return _schema_of_source(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, *_: object) -> dict[str, Any]:
        return {"type": "string"}  # the source


def _not_too_long(value: Any) -> Any:
    if isinstance(value, str) and length(value) > LONGEST:
        most, found = f"at most {LONGEST:,} characters", f"{length(value):,}"
        raise Refused(RESULT_TOO_LONG(expected=most, found=found))
    return value


def _reporting(source: str, work: Callable[[], T], kind: str = "expression") -> T:
    """Convert any error to an ExpressionError; methods of a user's value may raise anything."""
    try:
        return work()
    except Refused as refused:
        raise ExpressionError(source, refused.problem, kind) from refused.__cause__
    except RecursionError as error:
        raise ExpressionError(source, VALUE_TOO_DEEP(), kind) from error
    except Exception as error:
        described = f"{type(error).__name__}: {text_of_error(error)[:200]}"
        raise ExpressionError(source, EVALUATION_RAISED(error=described), kind) from error


@dataclass(frozen=True, slots=True)
class ExpressionOf:
    """A function of one value that a document writes as an expression; compiled together with the flow."""

    name: str
    source: str
    is_condition: bool = False

    def __call__(self, *_: Any) -> Any:
        raise AssertionError(f"{self.source} is compiled before it is evaluated")

    def compiled(self) -> Callable[[Any], Any]:
        """Return the compiled function; raises ExpressionError."""
        expression = Expression(self.source)
        unknown = sorted(expression.names - {self.name})
        if unknown:
            names = ", ".join(short(name) for name in unknown[:MOST_CHOICES])
            raise ExpressionError(self.source, NAME_UNKNOWN(names=names, available=[self.name]))
        return ExpressionFunction(self.name, expression, self.is_condition)


@dataclass(frozen=True, slots=True)
class ExpressionFunction:
    """A function of one value that evaluates an expression; its repr shows the expression."""

    name: str
    expression: Expression
    is_condition: bool

    def __call__(self, value: Any) -> Any:
        evaluate = self.expression.holds if self.is_condition else self.expression.evaluate
        return evaluate({self.name: value})


def written_function(text: str, name: str, *, is_condition: bool = False) -> NamedFunction | ExpressionOf:
    """Read a function as a document writes it: `module:qualname`, or an expression over `name`."""
    if is_function_name(text):
        return NamedFunction(text)
    return ExpressionOf(name, text, is_condition)


def _schema_of_source(kind: type[S]) -> CoreSchema:
    """Return the schema of a field that is serialized as its source, with the compiled object as value."""

    def read(given: object) -> S:
        if isinstance(given, kind):
            return given
        if not isinstance(given, str):
            raise ArgumentInvalid(SOURCE_NOT_TEXT(found=type(given).__name__))
        try:
            return kind(given)
        except ExpressionError as error:
            raise ArgumentInvalid(*error.diagnostics) from error

    written = core_schema.plain_serializer_function_ser_schema(
        attrgetter("source"), return_schema=core_schema.str_schema()
    )
    return core_schema.no_info_plain_validator_function(read, serialization=written)
