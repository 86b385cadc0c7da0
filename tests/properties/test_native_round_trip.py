"""Random documents are written as they were read, and spoilt ones are refused in time."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflow import DataflowError, FormatError
from dataflow.core.wiring import Reference, parse_reference, write_reference
from dataflow.formats.native.document import json_schema
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow.formats.writer import write_yaml
from tests.formats.nesting import nest
from tests.properties.fuzz_native import TooSlowError, corpus, examine, files_of, fuzz, refused, spoilt
from tests.support.json_schemas import is_valid

RESERVED: Final = ("$in", "$carry", "$item")

names = st.one_of(
    st.sampled_from(
        ["a", "b", "page", "text.x", "my node", "on", "1", "ж", "节点", "a/b[0]~%", "$", "nodes", "value"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
).filter(lambda name: name not in RESERVED)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
constants = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
metas = st.dictionaries(texts, constants, max_size=2)
functions = st.sampled_from(["m:f", "a.b:C.d", "ж:ю", "item.name", "$value > 3 and not value"])
counts = st.integers(1, 10**6)
seconds = st.one_of(counts, st.floats(1e-6, 1e9))
references = st.builds(
    Reference, names | st.sampled_from(RESERVED), names | st.sampled_from(["out", "$error", "$done"])
).map(write_reference)
item_errors = st.sampled_from(["collect", "skip"])


def optional(required: dict[str, Any], **others: Any) -> Any:
    return st.fixed_dictionaries(required, optional=others)


def options() -> dict[str, Any]:
    return {"key": functions, "max_concurrency": counts, "on_error": item_errors}


def _expressions(inner: Any) -> Any:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda sources: {"merge": sources}, several),
        st.builds(lambda sources: {"gather": sources}, several),
        st.builds(lambda sources: {"race": sources}, several),
        st.builds(lambda sources: {"every": sources}, several),
        st.builds(
            lambda sources, how: {"merge_contexts": sources, "how": how},
            several,
            st.sampled_from(["pick", "append", "results"]) | functions,
        ),
        st.builds(lambda sources: {"fallback": sources}, st.lists(inner, min_size=2, max_size=2)),
        st.builds(lambda source: {"collect": source}, inner),
        optional({"each": inner}, **options(), share=names),
    )


plain_constants = st.builds(lambda value: {"value": value}, constants)
sources = st.recursive(references | plain_constants, _expressions, max_leaves=4)
port_sources = st.one_of(references, sources, st.lists(sources, min_size=1, max_size=3))
retries = optional(
    {"retries": st.integers(0, 9)},
    on=st.lists(texts, min_size=1, max_size=2),
    backoff=st.sampled_from(["fixed", "exponential"]),
    first=seconds.filter(lambda first: first != 1),
    jitter=st.just(True),
)
policies = optional(
    {},
    retry=retries,
    timeout=st.none() | seconds,
    deadline=st.none() | seconds,
    memo=st.sampled_from(["off", "run", "process", "store"])
    | optional(
        {"reach": st.sampled_from(["run", "process", "store"])},
        ttl=seconds,
        environment=st.lists(names, min_size=1, max_size=2),
    ),
    on_error=st.sampled_from(["fail", "skip", "route"]),
    default=constants,
    limit=names | counts,
    effect=st.booleans(),
    enabled=st.booleans(),
)


@st.composite
def type_nodes(draw: st.DrawFn) -> dict[str, Any]:
    node: dict[str, Any] = draw(
        optional(
            {"type": names},
            config=st.dictionaries(texts, constants, max_size=2),
            inputs=st.dictionaries(names, port_sources, max_size=3),
            policy=policies,
            after=st.lists(names, max_size=2),
            meta=metas,
        )
    )
    free = names.filter(lambda name: name not in node.get("inputs", {}))
    node["values"] = draw(st.dictionaries(free, constants, max_size=2))
    return node


edges = optional(
    {"source": names | st.sampled_from(RESERVED), "target": names, "target_port": names},
    source_port=names,
    id=texts,
    meta=metas,
)


def blocks(nodes: Any) -> dict[str, Any]:
    return {
        "nodes": st.dictionaries(names, nodes, max_size=3),
        "edges": st.lists(edges, max_size=3),
        "outputs": st.dictionaries(names, sources, max_size=2),
    }


def _block_nodes(inner: Any) -> Any:
    tests = sources | st.fixed_dictionaries({"source": sources, "test": functions})
    carries = st.dictionaries(names, st.fixed_dictionaries({"first": sources, "next": sources}), max_size=2)
    parts = {
        "limit": st.none() | counts.filter(lambda limit: limit != 100),
        "on_limit": st.just("fail"),
        "carry": carries,
        **blocks(inner),
    }
    loops = st.one_of(
        optional({}, **parts), *(optional({kind: tests}, **parts) for kind in ("until", "while"))
    )
    maps = optional(
        {"over": st.dictionaries(names, sources, min_size=1, max_size=2)}, **options(), **blocks(inner)
    )
    around = {"after": st.lists(names, max_size=1), "meta": metas}
    return optional({"loop": loops}, **around) | optional({"map": maps}, **around)


flow_inputs = st.one_of(
    optional({}, default=constants),
    optional({"type": st.just("string")}, default=texts),
    optional({"type": st.just("integer")}, default=st.integers()),
    optional({"type": st.just("number")}, default=st.floats(allow_nan=False)),
    optional(
        {"type": st.just({"type": "array", "items": {"type": "string"}, "title": "Names"})},
        default=st.lists(texts, max_size=2),
    ),
    optional({"type": st.just({"enum": ["a", None, 1]})}, default=st.sampled_from(["a", None, 1])),
)
limits = st.one_of(optional({"slots": counts}, per_second=seconds), optional({"per_second": seconds}))
documents = optional(
    {"dataflow": st.just(1), "name": texts.filter(bool)},
    uses=st.dictionaries(names, names, max_size=2),
    inputs=st.dictionaries(names, flow_inputs, max_size=3),
    using=optional(
        {},
        errors=st.just("continue"),
        max_concurrency=counts,
        limits=st.dictionaries(names, limits),
        timeout=seconds,
    ),
    meta=metas,
    **blocks(st.recursive(type_nodes(), _block_nodes, max_leaves=4)),
)


def canonical(document: dict[str, Any]) -> dict[str, Any]:
    """Rewrite a document as it is dumped: plain sources as edges, constants as values, nothing empty."""
    return _without_empty({**document, **_canonical_block(document)}, ("uses", "inputs", "using", "meta"))


def _without_empty(part: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {
        key: value for key, value in part.items() if value or key not in (*keys, "nodes", "edges", "outputs")
    }


def _canonical_block(block: dict[str, Any]) -> dict[str, Any]:
    inline: list[dict[str, Any]] = []
    nodes = {id: _canonical_node(id, node, inline) for id, node in block.get("nodes", {}).items()}
    explicit = [_without_empty(_edge(edge), ("meta",)) for edge in block.get("edges", [])]
    return {"nodes": nodes, "edges": [*inline, *explicit], "outputs": block.get("outputs", {})}


def _edge(edge: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in edge.items() if (key, value) != ("source_port", "out")}


def _canonical_node(id: str, node: dict[str, Any], inline: list[dict[str, Any]]) -> dict[str, Any]:
    for kind in ("loop", "map"):
        if kind in node:
            body = _without_empty({**node[kind], **_canonical_block(node[kind])}, ("carry",))
            return _without_empty({**node, kind: body}, ("after", "meta"))
    inputs: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for port, wired in node.get("inputs", {}).items():
        several = wired if isinstance(wired, list) else [wired]
        if all(isinstance(source, str) for source in several):
            for reference in map(parse_reference, several):
                ends = {"source": reference.node, "source_port": reference.port}
                inline.append(_edge({**ends, "target": id, "target_port": port}))
        elif len(several) > 1:
            inputs[port] = several
        elif "value" in several[0]:
            values[port] = several[0]["value"]
        else:
            inputs[port] = several[0]
    policy = {**node["policy"]} if "policy" in node else {}
    whole = {**node, "inputs": inputs, "values": {**values, **node["values"]}, "policy": policy}
    return _without_empty(whole, ("inputs", "values", "policy", "after", "meta", "config"))


SCHEMA: Any = json_schema()


@given(documents)
def test_a_document_is_read_and_written_in_its_one_form(document: dict[str, Any]) -> None:
    assert dump(load(json.dumps(document), "flow.json", nest)) == canonical(document)


@given(documents)
def test_what_is_written_is_read_as_the_same_wiring(document: dict[str, Any]) -> None:
    wiring = load(write_yaml(document), "flow.yaml", nest)
    written = dump(wiring)
    again = load(json.dumps(written), "flow.json", nest)
    assert json.dumps(dump(again)) == json.dumps(written)
    assert json.dumps(dump(load(dump_yaml(again), "flow.yaml", nest))) == json.dumps(written)


def read_or_refused(text: str, name: str) -> None:
    try:
        load(text, name, nest)
    except DataflowError as error:
        refused(error)


@given(st.text() | st.text("{}[]:,-'\"\n &*!|>%@#? ab1~"), st.sampled_from(["flow.yaml", "flow.json"]))
def test_any_text_is_read_or_refused(text: str, name: str) -> None:
    read_or_refused(text, name)


@given(constants)
def test_any_value_is_read_or_refused(value: object) -> None:
    for document in (value, {"dataflow": 1, "nodes": value, "inputs": {"a": {"type": value}}}):
        read_or_refused(json.dumps(document), "flow.json")


@settings(max_examples=50)
@given(documents)
def test_a_document_satisfies_the_published_schema(document: dict[str, Any]) -> None:
    assert is_valid(document, SCHEMA, SCHEMA)
    assert is_valid(dump(load(json.dumps(document), "flow.json", nest)), SCHEMA, SCHEMA)


ENOUGH = 300
ENOUGH_OF_A_FORMAT = 40


def test_each_input_becomes_a_flow_or_a_clear_error(tmp_path: Path) -> None:
    assert len(corpus()) > 100
    report = fuzz(0, iter(range(ENOUGH)), tmp_path)
    assert (report.failure, report.tried) == ("", ENOUGH)
    assert report.outcomes.keys() == {
        "loaded, and fit to run", "loaded, with problems", "refused with FlowInvalid",
        "refused with FormatError",
    }  # fmt: skip


@pytest.mark.parametrize("format", ["agentflow", "agentron", "cagent", "clickweave", "hifide"])
def test_a_spoilt_file_of_a_format_is_loaded_or_refused_with_its_place(format: str, tmp_path: Path) -> None:
    report = fuzz(3, iter(range(ENOUGH_OF_A_FORMAT)), tmp_path, documents=files_of(format))
    assert (report.failure, report.tried) == ("", ENOUGH_OF_A_FORMAT)


def test_what_is_no_clear_error_is_reported_with_its_seed_and_its_input(tmp_path: Path) -> None:
    name, text = spoilt(random.Random("5/2"))
    third = text.encode(errors="surrogatepass")
    for error, reported in (
        (KeyError("x"), "KeyError: 'x'"),
        (RecursionError(), "RecursionError"),
        (FormatError("flow.yaml", "is bad"), "AssertionError: no place: flow.yaml: DF0506 is bad"),
        (TooSlowError("took more than 20 s"), "TooSlowError: took more than 20 s"),
    ):

        def breaks_at_the_third(path: Path, *, imports: bool, error: BaseException = error) -> list[str]:
            if path.read_bytes() == third:
                raise error
            return examine(path, imports=imports)

        report = fuzz(5, itertools.count(), tmp_path, breaks_at_the_third)
        assert report.tried == 2
        assert report.failure.startswith(f"seed 5, input 2, {name}:\n{text!r}\nTraceback")
        assert reported in report.failure
