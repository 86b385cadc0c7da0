"""F-I02: an unknown setting is refused with those that there are, and with the word of the other form."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import (
    ArgumentInvalid,
    Flow,
    FlowInvalid,
    Limit,
    Memo,
    Retry,
    Telemetry,
    each,
    flow,
    merge_contexts,
    node,
    threaded,
)
from dataflow_agent import Agent


async def f(x: int) -> int:
    return x


@flow
def typed(f: Flow, x: int) -> int:
    return x


unchecked: Any = node
limit: Any = Limit
retry: Any = Retry
memo: Any = Memo
telemetry: Any = Telemetry
join: Any = merge_contexts
item: Any = each
agent: Any = Agent
made: Any = node(f)
blocking: Any = threaded(len)
whole: Any = Flow("f")
configured: Any = Agent("a", model="a/b")
written: Any = typed

#: What is called, the setting that does not exist, and one of those that do.
UNKNOWN: Final[list[tuple[Any, dict[str, Any], str]]] = [
    (unchecked, {"retry": 3}, "retries"),
    (unchecked, {"foo": 3}, "timeout"),
    (made.with_, {"retry": 3}, "retries"),
    (made.with_, {"foo": 1}, "name"),
    (blocking.with_, {"foo": 1}, "memo"),
    (whole.with_, {"memo": "run"}, "errors"),
    (whole.using, {"max_concurency": 3}, "max_concurrency"),
    (written.using, {"foo": 3}, "limits"),
    (written.with_, {"retry": 3}, "retries"),
    (whole.loop, {"limt": 3}, "limit"),
    (whole.ask, {"type": int, "prompt": "?", "expire": 3}, "expires"),
    (lambda **given: item([1], **given), {"on_eror": "skip"}, "on_error"),
    (limit, {"slot": 3}, "slots"),
    (telemetry, {"contents": True}, "content"),
    (join, {"hwo": "append"}, "how"),
    (retry, {"retry": 3}, "retries"),
    (lambda **given: memo("run", **given), {"tt": 3}, "ttl"),
    (lambda **given: agent("a", **given), {"modle": "a/b"}, "model"),
    (configured.with_, {"retry": 3}, "retries"),
]
WRONG: Final[list[tuple[Any, dict[str, Any]]]] = [
    (whole.using, {"limits": 3}),
    (whole.using, {"limits": [1]}),
    (whole.using, {"limits": {"a": "x"}}),
    (whole.using, {"timeout": "x"}),
    (unchecked, {"retries": "x"}),
    (unchecked, {"effect": 3}),
    (made.with_, {"enabled": "no"}),
    (made.with_, {"limit": [1]}),
    (lambda **given: item([1], **given), {"max_concurrency": "x"}),
]


def test_an_unknown_setting_is_refused_with_those_that_there_are(subtests: pytest.Subtests) -> None:
    for make, given, name in UNKNOWN:
        with subtests.test(f"{make} {given}"):
            with pytest.raises(ArgumentInvalid) as refused:
                make(**given)
            problem = refused.value.problem
            assert problem.code in ("DF0592", "DF2092")
            assert problem.available is not None
            assert name in problem.available
            assert bool(problem.hint) == ("retry" in given)


def test_a_value_of_another_type_is_refused_with_the_type(subtests: pytest.Subtests) -> None:
    for make, given in WRONG:
        with subtests.test(f"{make} {given}"):
            with pytest.raises(ArgumentInvalid) as refused:
                make(**given)
            assert (refused.value.problem.code, bool(refused.value.problem.expected)) == ("DF0501", True)


@pytest.mark.parametrize(
    ("policy", "has_hint"), [("{retries: 3}", True), ("{foo: 3}", False), ("{cache: run}", False)]
)
def test_a_document_names_its_own_word(policy: str, has_hint: bool, tmp_path: Path) -> None:
    place = tmp_path / "f.yaml"
    node = f"{{type: control.template, config: {{template: x}}, policy: {policy}}}"
    place.write_text(f"dataflow: 1\nnodes: {{a: {node}}}\n")
    with pytest.raises(FlowInvalid) as refused:
        Flow.load(place)
    [problem] = refused.value.problems
    assert (problem.code, bool(problem.hint)) == ("DF0121", has_hint)
    assert problem.available is not None
    assert "retry" in problem.available
