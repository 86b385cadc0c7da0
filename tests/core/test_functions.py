"""Functions named in documents as `<module>:<qualname>`."""

from __future__ import annotations

import functools
import operator
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from dataflow import PackError
from dataflow.core.config import FunctionReference
from dataflow.core.functions import (
    check_function,
    import_function,
    importing,
    is_function_name,
    name_of_function,
)


class Holder:
    @staticmethod
    def inner() -> int:
        return 3

    def method(self) -> int:
        return 4


def outer(value: int = 2, /) -> int:
    return value


class Model(BaseModel):
    predicate: FunctionReference


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("module:function", True),
        ("package.module:Class.method", True),
        ("größe:straße", True),
        ("m1:f_2", True),
        ("module", False),
        ("module:", False),
        (":function", False),
        ("module:function:more", False),
        ("module.:function", False),
        ("1module:function", False),
        ("module:a..b", False),
        ("module:<lambda>", False),
        ("module:outer.<locals>.inner", False),
        ("module: function", False),
        ("module:function\n", False),
        ("", False),
        ("control.if", False),
    ],
)
def test_a_function_name_is_a_module_and_a_qualname(text: str, is_name: bool) -> None:
    assert is_function_name(text) is is_name


def test_a_function_is_imported_by_its_name() -> None:
    assert import_function("posixpath:join") is __import__("posixpath").join
    assert (
        import_function("collections:OrderedDict.fromkeys") == __import__("collections").OrderedDict.fromkeys
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere_at_all:f", "cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("math:no_such", "cannot be imported: AttributeError: module 'math' has no attribute 'no_such'"),
        ("math:pi", "is no function, but float"),
    ],
)
def test_what_cannot_be_imported_is_told(name: str, reason: str) -> None:
    with pytest.raises(PackError) as caught:
        import_function(name)
    assert str(caught.value) == f"{name}: {reason}"
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("wanted_by", "text"),
    [
        ("a.yaml", "a.yaml: words cannot be imported: SystemExit: 3"),
        ("words", "words: cannot be imported: SystemExit: 3"),
    ],
)
def test_what_breaks_while_it_is_imported_is_told_with_who_wants_it(wanted_by: str, text: str) -> None:
    with pytest.raises(PackError) as caught, importing(wanted_by, "words"):
        raise SystemExit(3)
    assert str(caught.value) == text
    assert isinstance(caught.value.__cause__, SystemExit)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (outer, f"{__name__}:outer"),
        (Holder.inner, f"{__name__}:Holder.inner"),
        (Holder.method, f"{__name__}:Holder.method"),
        (Holder, f"{__name__}:Holder"),
        (len, "builtins:len"),
        (lambda: 1, None),
        (Holder().method, None),
        (functools.partial(outer), None),
    ],
)
def test_a_function_is_named_if_its_name_finds_it(function: Any, name: str | None) -> None:
    assert name_of_function(function) == name
    if name is not None:
        assert import_function(name) is function


def test_a_local_function_has_no_name() -> None:
    def local() -> None: ...

    assert name_of_function(local) is None


def test_a_function_that_its_name_no_longer_finds_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    original = outer
    monkeypatch.setattr(sys.modules[__name__], "outer", lambda: 5)
    assert name_of_function(original) is None


def test_a_function_whose_module_is_gone_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outer, "__module__", "nowhere_at_all")
    assert name_of_function(outer) is None


@pytest.mark.parametrize(("file", "module"), [("/flows/my_flow.py", "my_flow"), (None, "__main__")])
def test_a_function_of_the_main_module_is_named_after_its_file(
    monkeypatch: pytest.MonkeyPatch, file: str | None, module: str
) -> None:
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "outer", outer, raising=False)
    monkeypatch.setattr(outer, "__module__", "__main__")
    if file is None:
        monkeypatch.delattr(main, "__file__", raising=False)
    else:
        monkeypatch.setattr(main, "__file__", str(Path(file)), raising=False)
    assert name_of_function(outer) == f"{module}:outer"


class Callable:
    def __call__(self, value: int) -> int:
        return value


@pytest.mark.parametrize(
    "function",
    [
        outer,
        str,  # a class that tells nothing of its parameters
        str.upper,
        operator.itemgetter(0),
        Callable(),
        Holder().__eq__,
        functools.partial(max, 3),
        lambda *values: values,
        lambda value, _more=3, *, _key=4: value,
        3,  # that this is no function is told elsewhere
    ],
)
def test_what_takes_the_value_is_let_through(function: object) -> None:
    check_function(function, "value")


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda: 1, "<lambda>()"),
        (lambda _, _more: 1, "<lambda>(_, _more)"),
        (lambda _, *, _more: 1, "<lambda>(_, *, _more)"),
        (Holder.inner, "inner()"),
        (Callable.__call__, "__call__(self, value)"),
        (functools.partial(Holder.inner), "partial()"),
    ],
)
def test_what_does_not_take_the_value_is_refused(function: object, found: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_function(function, "value")
    assert str(caught.value) == f"expected a function of the value, found {found}"


@pytest.mark.parametrize("given", [outer, "module:function"])
def test_a_config_takes_a_function_or_its_name(given: object) -> None:
    assert Model(predicate=given).predicate == given


@pytest.mark.parametrize(
    ("given", "shown"), [("no name", "'no name'"), (3, "3"), (None, "None"), ("module:", "'module:'")]
)
def test_a_config_takes_nothing_else_for_a_function(given: object, shown: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Model(predicate=given)
    (problem,) = caught.value.errors()
    assert problem["msg"] == f"Value error, expected a function, written module:qualname, found {shown}"


@pytest.mark.parametrize(
    ("given", "written"),
    [(outer, f"{__name__}:outer"), ("module:function", "module:function"), (min, "builtins:min")],
)
def test_a_function_in_a_config_is_written_by_its_name(given: object, written: str) -> None:
    assert Model(predicate=given).model_dump() == {"predicate": written}


def test_a_function_without_a_name_is_written_as_nothing() -> None:
    assert Model(predicate=lambda _: 1).model_dump() == {"predicate": None}


def test_of_a_wrapper_its_own_parameters_count() -> None:
    @functools.wraps(operator.add)
    def wrapper(value: int) -> int:
        return value + 1

    check_function(wrapper, "value")
    with pytest.raises(ValueError, match="expected a function of the old and the new"):
        check_function(wrapper, "old", "new")


def test_what_tells_nothing_of_its_parameters_is_let_through() -> None:
    class Odd:
        __signature__ = 5

        def __call__(self) -> int:
            return 1

    check_function(Odd(), "value")
