"""What is public: the names in `__all__`, in order, existing and described."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Final

import pytest

import dataflow
from tests.source import PACKAGES, PACKS, modules_of

# Names that `from ... import` leaves in a module without making them part of it.
INCIDENTAL: Final = {"TYPE_CHECKING", "annotations"}

# A script when it is run: importing it would run it.
NAMES: Final = [
    module.name
    for package in PACKAGES
    for module in modules_of(package)
    if not module.name.endswith(".__main__") and "__all__" in module.text()
]
#: Those whose list is written as it is; that of the engine is made of the names in its stub.
WRITTEN: Final = [name for name in NAMES if name != "dataflow"]
LISTED: Final = pytest.mark.parametrize("name", NAMES)


def described(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the functions and classes of ours that a module lists."""
    for name in module.__all__:
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isroutine(value)) and value.__module__.startswith(PACKAGES):
            yield name, value


def order(name: str) -> tuple[bool, bool, str]:
    """Sort constants before classes before the rest, as ruff does."""
    return not name.isupper(), not name[0].isupper(), name


def docstring(name: str, value: object) -> str | None:
    """Return what somebody wrote: not a base's text, nor the fields that a dataclass makes up."""
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    return None if text is None or text.startswith(f"{name}(") else text


@pytest.mark.parametrize("name", WRITTEN)
def test_the_public_names_of_a_module_are_in_order(name: str) -> None:
    names = list(importlib.import_module(name).__all__)
    assert names == sorted(set(names), key=order)


@LISTED
def test_the_public_names_of_a_module_exist(name: str) -> None:
    module = importlib.import_module(name)
    assert not [public for public in module.__all__ if not hasattr(module, public)]


@LISTED
def test_public_functions_and_classes_have_a_docstring(name: str) -> None:
    bare = [
        public for public, value in described(importlib.import_module(name)) if not docstring(public, value)
    ]
    assert not bare


def test_the_engine_has_no_surplus_public_name() -> None:
    modules = {name for name, value in vars(dataflow).items() if value is sys.modules.get(f"dataflow.{name}")}
    public = {name for name in vars(dataflow) if not name.startswith("_")}
    assert not public - modules - set(dataflow.__all__) - INCIDENTAL


@pytest.mark.parametrize("pack", PACKS)
def test_a_pack_has_a_docstring(pack: str) -> None:
    assert importlib.import_module(pack).__doc__


def test_a_star_import_gives_the_listed_names() -> None:
    namespace: dict[str, object] = {}
    exec("from dataflow import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(dataflow.__all__)
