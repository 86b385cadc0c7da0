# ruff: noqa: E501 - a row of a table has a module on its line
"""F-C14: helpers of the same project are part of a node's version; a memo that can never hit is a warning."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, Memo, collect, each, node, process_memo
from dataflow.core.distributions import versions_of_module
from dataflow.core.policy import Reach
from dataflow.stores import Store
from dataflow.values import projects

#: The modules of a project: a node, and what it calls.
NODES: Final = """
from dataflow import node
import numbers_lib
import helpers
from helpers import doubled, Rates, CLIENT, MOST, shown, limited
from sub import deep as deeper

CALLS = []
RATE = 2
TABLE = {"rates": [1, 2]}

def rate():
    return RATE * TABLE["rates"][0]

@node(memo="process")
async def price(x: int) -> int:
    from late import offset
    import later
    CALLS.append(x)
    made = doubled(x) * rate() + Rates().of(x) + helpers.base.BASE + CLIENT.get() + deeper.value()
    made = made + offset() + later.more() + numbers_lib.ONE + helpers.nested(x)
    return made + limited(x) * len(helpers.NAMES)
"""
HELPERS: Final = """
import base
from dataclasses import dataclass
from functools import lru_cache

MOST = 9

def twice(x):
    return 2 * x

def doubled(x):
    return twice(x)

def nested(x):
    return inner(x, lambda y: y + 1)

@lru_cache
def inner(x, f):
    return f(x)

class Basis:
    factor = 1

    def of(self, x):
        return x * self.factor

class Rates(Basis):
    pass

@dataclass(frozen=True)
class Limits:
    most: int

LIMITS = Limits(5)
NAMES = ["a"]
STATE = {"seen": 0}
HANDLES = [object()]

def limited(x):
    STATE["seen"] += 1
    HANDLES.append(1)
    return min(x, LIMITS.most)

class Client:
    def __init__(self):
        self.seen = []

    def get(self):
        self.seen.append(1)
        return 5

CLIENT = Client()

def shown():
    return "not called"
"""
FILES: Final = {
    "nodes_of.py": NODES,
    "helpers.py": HELPERS,
    "base.py": "BASE = 3\n",
    "sub/__init__.py": "",
    "sub/deep.py": "from . import own\n\ndef value():\n    return own.OWN\n",
    "sub/own.py": "OWN = 1\n",
    "late.py": "def offset():\n    return 0\n",
    "later.py": "def more():\n    return less()\n\ndef less():\n    return 0\n",
    "lib/numbers_lib.py": "ONE = 1\n\ndef changed():\n    return 1\n",
    "lib/numbers_lib-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: numbers-lib\nVersion: 1.0\n",
}
#: An edit: the file, what is replaced, and the part that `why` names; None where nothing is computed again.
EDITS: Final[list[tuple[str, str, str, str | None]]] = [
    ("nodes_of.py", "return RATE", "return 1 + RATE", "helper 'nodes_of:rate'"),
    ("nodes_of.py", "RATE = 2", "RATE = 3", "global 'RATE' of helper 'nodes_of:rate'"),
    ("helpers.py", "return 2 * x", "return 3 * x", "helper 'helpers:twice'"),
    ("helpers.py", "return twice(x)", "return twice(x + 1)", "helper 'helpers:doubled'"),
    ("helpers.py", "factor = 1", "factor = 2", "helper 'helpers:Basis'"),
    ("helpers.py", "return x * self.factor", "return x + self.factor", "helper 'helpers:Basis'"),
    ("helpers.py", "    pass", "    factor = 4", "helper 'helpers:Rates'"),
    ("helpers.py", "return 5", "return 6", "helper 'helpers:Client'"),
    ("helpers.py", "return f(x)", "return f(x + 1)", "helper 'helpers:inner'"),
    ("helpers.py", "y + 1", "y + 2", "helper 'helpers:nested'"),
    ("base.py", "BASE = 3", "BASE = 4", "global 'helpers.base.BASE'"),
    ("sub/deep.py", "own.OWN", "own.OWN + 1", "helper 'sub.deep:value'"),
    ("sub/own.py", "OWN = 1", "OWN = 2", "global 'own.OWN'"),
    ("late.py", "return 0", "return 1", "helper 'late:offset'"),
    ("later.py", "return less()", "return less() + 1", "helper 'later:more'"),
    ("later.py", "    return 0", "    return 1", "helper 'later:less'"),
    ("lib/numbers_lib-1.0.dist-info/METADATA", "Version: 1.0", "Version: 1.1", "library 'numbers_lib'"),
    ("nodes_of.py", '"rates": [1', '"rates": [2', "global 'TABLE' of helper 'nodes_of:rate'"),
    ("helpers.py", "Limits(5)", "Limits(2)", "global 'LIMITS' of helper 'helpers:limited'"),
    ("helpers.py", 'NAMES = ["a"]', 'NAMES = ["b"]', "global 'helpers.NAMES'"),
    ("helpers.py", "[object()]", "[object(), 2]", None),
    ("helpers.py", "not called", "still not called", None),
    ("helpers.py", "import base", "import base  # a comment", None),
    ("lib/numbers_lib.py", "return 1", "return 2", None),
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """Write a project, and return a function that imports it again after an edit."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        sys, "dont_write_bytecode", True
    )  # an edit may take less than the clock of a file shows
    names = {name.split("/")[-2 if name.endswith("__init__.py") else 0].removesuffix(".py") for name in FILES}

    def forget() -> None:
        for name in list(sys.modules):
            if name.partition(".")[0] in {*names, "numbers_lib"}:
                del sys.modules[name]
        importlib.invalidate_caches()
        for cached in (projects.origin_of, projects._is_installed, versions_of_module):
            cached.cache_clear()

    def load() -> Any:
        forget()
        return importlib.import_module("nodes_of")

    yield load
    forget()


def flow_of(module: Any) -> Flow:
    with Flow("prices") as flow:
        flow.output("out", flow.add(module.price, x=3).out)
    return flow


async def test_an_edit_of_a_helper_computes_again_and_why_names_it(
    project: Callable[[], Any], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for file, old, new, part in EDITS:
        with subtests.test(f"{file}: {new}"):
            process_memo.clear()
            (tmp_path / file).write_text(FILES[file])
            module = project()
            first, again = [await flow_of(module).run() for _ in range(2)]
            assert (module.CALLS, first.warnings, again["out"]) == ([3], (), first["out"])
            assert old in FILES[file]
            (tmp_path / file).write_text(FILES[file].replace(old, new))
            module = project()
            edited = await flow_of(module).run()
            assert len(module.CALLS) == (part is not None)
            if part is not None:
                assert edited.why("price").endswith(f": {part} differs from what is known")
            (tmp_path / file).write_text(FILES[file])


#: What a module defines, what its node computes, and an edit of the first text to the second.
MEMBERS: Final[list[tuple[str, str, str, str]]] = [
    ("class D:\n  def __init__(self, f): self.f = f\n  def __call__(self, x): return self.f(x)\n@D\ndef h(x): return x*1", "h(x)", "x*1", "x*3"),
    ("class D:\n  __slots__ = 'f'\n  def __init__(self, *f): self.f = [{1: f}]\nd = D(lambda x: x*1)", "d.f[0][1][0](x)", "x*1", "x*3"),
    ("class M(type):\n  def __call__(cls, x): return x*1\nclass T(metaclass=M): pass", "T(x)", "x*1", "x*3"),
    ("class T:\n  class U:\n    def m(self): return 1", "T.U().m()", "return 1", "return 3"),
    ("class D:\n  def __get__(self, *_): return 1\nclass T:\n  d = D()", "T.d", "return 1", "return 3"),
    ("class T:\n  __match_args__ = ('a',)\n  a, b = 1, 2\ndef h():\n  match T():\n    case T(z): return z", "h()", "('a',)", "('b',)"),
    ("class T:\n  @functools.singledispatchmethod\n  def m(self, x): ...\n  @m.register\n  def _(self, x: int): return x*1", "T().m(x)", "x*1", "x*3"),
    ("@functools.singledispatch\ndef h(x): ...\n@h.register\ndef _(x: int): return x*1", "h(x)", "x*1", "x*3"),
    ("V = TypeVar('V')\nclass B(Generic[V]):\n  def m(self): return 1\nT = B[int]", "T().m()", "return 1", "return 3"),
    ("class E(Enum):\n  A = 1\n  def m(self): return 1\nK = E.A", "K.m()", "return 1", "return 3"),
    ("def v(x): return x*1\nclass T(BaseModel):\n  a: list[Annotated[int, AfterValidator(v)]]", "T(a=[x]).a[0]", "x*1", "x*3"),
    ("class Q(BaseModel):\n  a: int\n  def m(self): return self.a*1\nclass T(BaseModel):\n  q: Q", "T(q={'a': x}).q.m()", "a*1", "a*3"),
    ("def v(x): return x*1\nT = TypeAdapter(Annotated[int, AfterValidator(v)])", "T.validate_python(x)", "x*1", "x*3"),
    ("def h(x, r=[1, 2]): return x*sum(r)", "h(x)", "[1, 2]", "[1, 3]"),
    ("def h(x, r=Decimal('1')): return x*r", "h(x)", "'1'", "'2'"),
    ("def make(r):\n  return lambda x: x*r[0]\nh = make([1])", "h(x)", "[1]", "[2]"),
    ("h = functools.partial(divmod, 7)", "h(x)", "7", "8"),
    ("h = re.compile('a').match", "bool(h('a'))", "'a'", "'b'"),
    ("class P(NamedTuple):\n  a: Decimal\nK = P(Decimal('1'))", "K.a*x", "'1'", "'2'"),
    *[(f"K = {one}", "str(K)", "1", "2") for one in ("date(2001, 1, 1)", "Path('1')", "re.compile('1')", "deque([1])", "Text('1')")],
    ("H = (lambda x: x*1,)", "H[0](x)", "x*1", "x*3"),
    ("class T:\n  def m(self, x): return x*1\nH = {'a': [T()]}", "H['a'][0].m(x)", "x*1", "x*3"),
]  # fmt: skip
MEMBERS_OF: Final = """
import functools, re
from collections import deque
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Generic, NamedTuple, TypeVar
from pydantic import AfterValidator, BaseModel, TypeAdapter
from dataflow import node

CALLS = []
class Text(str): ...
"""


async def test_an_edit_of_what_a_value_consists_of_computes_again(
    project: Callable[[], Any], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for defined, computed, old, new in MEMBERS:
        with subtests.test(defined):
            process_memo.clear()
            calls, outs = [], []
            node_of = f"@node(memo='process')\nasync def price(x: int) -> object:\n  CALLS.append(x)\n  return {computed}"
            assert old in defined
            for edited in (defined, defined, defined.replace(old, new)):
                (tmp_path / "nodes_of.py").write_text(f"{MEMBERS_OF}\n{edited}\n{node_of}\n")
                module = project()
                result = await flow_of(module).run()
                calls.append(len(module.CALLS))
                outs.append(result["out"])
                assert result.warnings == ()
            assert (calls, outs[0] == outs[2]) == ([1, 0, 1], False)


TRIES: Final[list[int]] = []


def step() -> int:
    return 1


async def stepped(x: int) -> int:
    TRIES.append(x)
    return x + step()


async def test_a_helper_that_is_defined_again_is_seen_by_the_next_firing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    TRIES.clear()
    with Flow("steps") as flow:
        flow.output("out", flow.add(node(memo=Memo("process"))(stepped), x=3).out)
    assert [(await flow.run())["out"] for _ in range(2)] == [4, 4]
    monkeypatch.setitem(globals(), "step", lambda: 5)
    assert [(await flow.run())["out"] for _ in range(2)] == [8, 8]
    assert TRIES == [3, 3]


async def echo(x: Any) -> Any:
    return x


async def test_a_memo_that_never_hits_is_a_warning_once_for_each_node() -> None:
    values: list[tuple[Reach, Any]] = [
        ("process", object()),
        ("process", Exception()),
        ("store", Exception()),
    ]
    for reach, value in values:
        with Flow("never") as flow:
            step = flow.add(node(memo=reach)(echo), x=each(flow.input("xs", list[Any])))
            flow.output("out", collect(step.out))
        result = await flow.using(memo=Store.memory()).run(xs=[value] * 3)
        assert [text.partition(" ")[0] for text in result.warnings] == ["DF0876"]


async def giving(x: int) -> Any:
    return (x for x in range(x))


async def test_an_outcome_that_cannot_be_kept_is_a_warning() -> None:
    reaches: list[Reach] = ["process", "store"]
    for reach in reaches:
        with Flow("never") as flow:
            flow.output("out", flow.add(node(memo=reach)(giving), x=3).out)
        result = await flow.using(memo=Store.memory() if reach == "store" else None).run()
        assert [text.partition(" ")[0] for text in result.warnings] == ["DF0876"]
