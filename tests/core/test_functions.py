"""Functions named in documents as `<module>:<qualname>`."""

from __future__ import annotations

import functools
import operator
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from dataflow import ArgumentInvalid, PackError
from dataflow.core.config import FunctionReference
from dataflow.core.functions import (
    check_function,
    import_function,
    name_of_function,
)
from tests.support.codes import codes


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


def test_a_function_is_imported_by_its_name() -> None:
    assert import_function("posixpath:join") is __import__("posixpath").join
    assert (
        import_function("collections:OrderedDict.fromkeys") == __import__("collections").OrderedDict.fromkeys
    )


def test_what_cannot_be_imported_is_refused() -> None:
    wrong = {
        "nowhere_at_all:f": "DF0428 nowhere_at_all:f",
        "math:no_such": "DF0428 math:no_such",
        "math:pi": "DF0429 math:pi",
    }
    for name, problem in wrong.items():
        with pytest.raises(PackError) as caught:
            import_function(name)
        assert (caught.value.name, codes(caught.value)) == (name, [problem])


def test_a_function_is_named_if_its_name_finds_it() -> None:
    named: list[tuple[Any, str]] = [
        (outer, f"{__name__}:outer"),
        (Holder.inner, f"{__name__}:Holder.inner"),
        (Holder.method, f"{__name__}:Holder.method"),
        (Holder, f"{__name__}:Holder"),
        (len, "builtins:len"),
    ]
    for function, name in named:
        assert name_of_function(function) == name
        assert import_function(name) is function

    def local() -> None: ...

    unnamed: list[Any] = [lambda: 1, Holder().method, functools.partial(outer), local]
    assert [name_of_function(one) for one in unnamed] == [None] * 4


def test_a_function_of_the_main_module_is_named_after_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "outer", outer, raising=False)
    monkeypatch.setattr(outer, "__module__", "__main__")
    monkeypatch.setattr(main, "__file__", str(Path("/flows/my_flow.py")), raising=False)
    assert name_of_function(outer) == "my_flow:outer"
    monkeypatch.delattr(main, "__file__")
    assert name_of_function(outer) == "__main__:outer"


class Callable:
    def __call__(self, value: int) -> int:
        return value


def test_a_function_of_something_else_is_refused() -> None:
    @functools.wraps(operator.add)
    def wrapper(value: int) -> int:
        return value + 1

    functions: dict[str, Any] = {
        "<lambda>()": lambda: 1,
        "<lambda>(_, _more)": lambda _, _more: 1,
        "<lambda>(_, *, _more)": lambda _, *, _more: 1,
        "inner()": Holder.inner,
        "__call__(self, value)": Callable.__call__,
        "partial()": functools.partial(Holder.inner),
    }
    for found, function in functions.items():
        with pytest.raises(ArgumentInvalid, match="DF0503") as caught:
            check_function(function, "value")
        assert caught.value.diagnostics[0].found == found
    check_function(wrapper, "value")
    with pytest.raises(ArgumentInvalid) as caught:
        check_function(wrapper, "old", "new")  # the parameters of the wrapper count
    assert caught.value.diagnostics[0].expected == "a plain function of the old and the new"


def test_a_function_in_a_config_is_written_by_its_name_if_it_has_one() -> None:
    cases: list[tuple[object, str | None]] = [
        (outer, f"{__name__}:outer"),
        ("module:function", "module:function"),
        (min, "builtins:min"),
        (lambda _: 1, None),
    ]
    assert [Model(predicate=given).model_dump()["predicate"] for given, _ in cases] == [
        written for _, written in cases
    ]
