"""Names in documents: functions as `<module>:<qualname>`, references and paths."""

from __future__ import annotations

import functools
import operator
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ArgumentInvalid, PackError
from dataflow.core.functions import (
    check_function,
    import_function,
    name_of_function,
)
from dataflow.core.wiring import Reference, encode, parse_reference, write_reference
from tests.support.codes import codes


class Holder:
    @staticmethod
    def inner() -> int:
        return 3

    def method(self) -> int:
        return 4


def outer(value: int = 2, /) -> int:
    return value


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


def test_what_has_a_meaning_in_paths_is_encoded() -> None:
    names = {
        "plain": "plain", "": "", "größe-1_ß": "größe-1_ß", "a.b": "a%2Eb", "a/b": "a%2Fb",
        "a[0]": "a%5B0%5D", "~$%": "%7E%24%25", "a b\tc\n": "a%20b%09c%0A", "a\u2003b": "a%E2%80%83b",
        "(a, 'b')": "(a,%20'b')",
    }  # fmt: skip
    assert {name: encode(name) for name in names} == names


def test_a_reference_is_read_and_written() -> None:
    both = {
        "a": Reference("a", "out"), "a.title": Reference("a", "title"), "a.$done": Reference("a", "$done"),
        "a.$error": Reference("a", "$error"),
        "a%2Eb.c%20d": Reference("a.b", "c d"),
        "a%2Eb.c%2Fd": Reference("a.b", "c/d"),
        "%24in.x": Reference("$in", "x"), "$in.name": Reference("$in", "name"),
        "$in.out": Reference("$in", "out"), "$carry.x": Reference("$carry", "x"),
        "$item.item": Reference("$item", "item"),
        "$in.a%2Eb": Reference("$in", "a.b"),
    }  # fmt: skip
    read = {**both, "a.out": Reference("a"), "a.b.c": Reference("a", "b.c")}
    assert {text: parse_reference(text) for text in read} == read
    ambiguous = "%24in.x"  # a node that is called like the inputs; written, it is one of them
    del both[ambiguous]
    assert {text: write_reference(reference) for text, reference in both.items()} == {
        text: text for text in both
    }


def test_any_other_text_is_not_a_reference() -> None:
    expected = {
        **dict.fromkeys(["", ".out", "a.", "$in."], "`node.port`, `node` or `$in.name`"),
        "$in": "`$in.name`", "$carry": "`$carry.name`", "$out.x": "", "$out": "",
    }  # fmt: skip
    found = {}
    for text in expected:
        with pytest.raises(ValueError, match="DF0212") as caught:
            parse_reference(text)
        assert isinstance(caught.value, ArgumentInvalid)
        found[text] = caught.value.diagnostics[0].expected
    assert found == expected


@given(node=st.text(min_size=1), port=st.text(min_size=1))
def test_what_is_written_reads_the_same(node: str, port: str) -> None:
    for reference in (Reference(node, port), Reference(node), Reference("$in", port)):
        if reference.node in ("$in", "$carry", "$item") and reference.node == node:
            continue
        assert parse_reference(write_reference(reference)) == reference
