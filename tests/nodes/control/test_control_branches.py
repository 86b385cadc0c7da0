"""Properties of `control.if`, `control.switch` and `control.context`: the exit that holds is taken."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dataflow import Flow, Result
from dataflow.core.functions import import_function
from dataflow.formats.native.reader import load
from dataflow.packs.registry import find_type
from tests.formats.nesting import nest
from tests.nodes.control.values import json_values, typed

numbers = st.integers(-5, 5)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


async def play(nodes: dict[str, Any], outputs: dict[str, str]) -> Result:
    """Run a document of these nodes."""
    document = {"dataflow": 1, "nodes": nodes, "outputs": outputs}
    flow = Flow.from_wiring(load(json.dumps(document), "f.json", nest), find_type, import_function)
    return await flow.run()


@given(json_values, st.sampled_from(["yes", "no"]))
async def test_an_if_passes_any_value_to_the_exit_that_its_condition_says(value: object, taken: str) -> None:
    config = {"condition": str(taken == "yes").lower()}
    nodes = {"it": {"type": "control.if", "config": config, "values": {"value": value}}}
    found = (await play(nodes, {"yes": "it.yes", "no": "it.no"})).outputs
    assert list(found) == [taken]
    assert typed(found[taken]) == typed(value)


@given(numbers, st.lists(numbers, min_size=1, max_size=5), st.booleans())
async def test_a_switch_takes_the_first_case_that_holds_else_the_default(
    value: int, bounds: list[int], has_default: bool
) -> None:
    cases = {f"case{place}": f"value == {bound}" for place, bound in enumerate(bounds)}
    if has_default:
        cases["default"] = "true"
    nodes = {"it": {"type": "control.switch", "config": {"cases": cases}, "values": {"value": value}}}
    taken = next((f"case{place}" for place, bound in enumerate(bounds) if bound == value), None)
    if taken is None and has_default:
        taken = "default"
    result = await play(nodes, {case: f"it.{case}" for case in cases})
    assert result.outputs == ({} if taken is None else {taken: value})


@given(st.lists(texts | st.none(), min_size=1, max_size=4), texts)
async def test_each_context_is_a_conversation_of_its_own(systems: list[str | None], model: str) -> None:
    nodes = {
        f"c{place}": {"type": "control.context", "config": {"system": system, "model": model}}
        for place, system in enumerate(systems)
    }
    found = (await play(nodes, {name: name for name in nodes})).outputs
    contexts = [found[name] for name in nodes]
    assert len({context.context_id for context in contexts}) == len(contexts)
    assert [(context.system_instructions, context.model) for context in contexts] == [
        (system, model) for system in systems
    ]
    assert not any(context.message_history for context in contexts)
