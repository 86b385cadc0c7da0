"""The control pack as a whole: what it lists, what it imports, and a flow that needs nothing else."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, RunFailed
from dataflow.core.functions import import_function
from dataflow_control import pack
from tests.support.processes import modules_after

GREETING: Final = Path(__file__).parents[3] / "docs" / "examples" / "greeting.yaml"


def test_listing_the_pack_imports_none_of_its_types() -> None:
    found = modules_after("from dataflow_control import pack; assert list(pack.nodes)")
    loaded = {name for name in found if name.startswith("dataflow_control.")}
    assert loaded == {"dataflow_control.listing", "dataflow_control.diagnostics"}


def test_a_flow_without_expressions_and_templates_imports_no_jinja2() -> None:
    found = modules_after("""
import dataflow
from dataflow_control import Delay, Log, delay, log, pack
for name in pack.nodes:
    pack.find(name)
with dataflow.Flow() as flow:
    late = flow.add(delay, value=1, config=Delay(seconds=0))
    flow.output("out", flow.add(log, value=late.out, config=Log()).out)
assert flow.run_sync()["out"] == 1
""")
    assert not [name for name in found if name.partition(".")[0] == "jinja2"]
    assert {name.partition(":")[0] for name in pack.nodes.values()} <= {*found}


def test_each_type_has_the_name_of_its_function_and_says_first_what_it_does() -> None:
    for name, place in pack.nodes.items():
        function: Any = import_function(place)
        assert (function.__name__, pack.find(name).id) == (name, f"control.{name}")
        described = inspect.getdoc(function) or ""
        assert re.match(r"[A-Z][a-z]+\b.+[.:]", described), described
        config = pack.find(name).parameters.config
        if config is not None:
            assert (config.__doc__ or "").startswith(f"Config of `control.{name}`")


async def test_the_example_greets_each_guest() -> None:
    result = await Flow.load(GREETING).run(guests="Grace, , ada", hour=14)
    assert result["text"] == "Good afternoon, ada!\nGood afternoon, Grace!"


async def test_the_example_fails_without_guests() -> None:
    with pytest.raises(RunFailed, match="nobody: FailedOnPurpose: DF0506 there is nobody to greet"):
        await Flow.load(GREETING).run(guests=" ,")


def test_the_example_needs_no_python_file() -> None:
    assert "uses" not in GREETING.read_text(encoding="utf-8")
