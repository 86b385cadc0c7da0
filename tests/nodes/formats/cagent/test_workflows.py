"""What workflows of cagent do besides the rows, in its own words, and the examples of its document."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid
from dataflow.cli import main
from dataflow.stores import Store
from dataflow_agent import ModelRequest, scripted
from dataflow_agent.models.errors import ModelTimeout, RateLimited
from dataflow_formats.cagent.words import StepContext
from tests.nodes.formats.cagent.workflows import AGENTS, block, flow_of, outputs_in, play

BUSY = RateLimited("m", "busy")


def looping(way: str, **more: Any) -> str:
    return f"""
workflow:
  max_loop_iterations: {more.get("limit", 5)}
  steps:
    - {{id: gen, type: agent, name: x}}
    - {{id: trans, type: agent, name: y}}
    - {{id: qa, type: agent, name: z}}
    - type: condition
      condition: $steps.qa.output
      false: [{way}]
    - {{id: end, type: agent, name: x}}
"""


async def test_a_parallel_block_is_tried_again_as_a_whole() -> None:
    workflow = """
    workflow:
      - type: parallel
        id: p
        steps: [{type: agent, name: x}, {type: agent, name: y}]
        retry: {max_attempts: 2, on: [rate_limit]}
      - {type: agent, name: z}
    """
    played = await play(flow_of(workflow), x=["1", "2", "3"], y=[BUSY, BUSY, "Y"])
    assert played.error == ""
    assert played.outputs["p/y"] == "Y"
    assert played.order.count("y") == 3
    assert played.prompts[-1][1].count("[p/y (agent: y)]:") == 1


async def test_instructions_can_refer_to_outputs() -> None:
    workflow = """
    workflow:
      - {id: a, type: agent, name: x}
      - {type: agent, name: w}
    """
    agents = f'{AGENTS}  w: {{model: openai/gpt, instruction: "w of {{{{ $steps.a.output.title }}}}"}}\n'
    flow = flow_of(workflow, agents)
    played = await play(flow, x='{"title": "T"}')
    assert [(agent, played.error) for agent, _ in played.prompts] == [("x", ""), ("w", "")]
    filled = [event for event in played.events if event.path == "w/instruction" and "ports" in event.data]
    assert filled[0].data["ports"]["out"]["value"] == "w of T"


#: The fields of agents, and the configs of the models that they call.
MODELS: Final[dict[str, dict[str, Any]]] = {
    "{model: gpt-5}": {"model": "openai/gpt-5"},
    "{model: anthropic/claude}": {"model": "anthropic/claude"},
    "{model: google/gemini-pro}": {"model": "gemini/gemini-pro"},
    "{model: claude-sonnet-4-5}": {"model": "anthropic/claude-sonnet-4-5"},
    "{model: known}": {"model": "gemini/gemini-pro"},
    "{model: unknown}": {"model": "openai/gpt-5"},
    "{model: small}": {"model": "openai/gpt-4o-mini", "max_tokens": 10, "temperature": 0.5},
    "{model: local}": {"model": "dmr/ai", "base_url": "http://localhost:1"},
    "{model: gpt-5, instruction: ' Be brief. '}": {"model": "openai/gpt-5", "system": "Be brief."},
}


def test_agents_call_the_models_of_the_file() -> None:
    models = """
models:
  small: {provider: openai, model: gpt-4o-mini, max_tokens: 10, temperature: 0.5}
  local: {provider: dmr, model: ai, base_url: "http://localhost:1"}
  known: {provider: google, model: gemini-pro}
  unknown: {model: gpt-5}
"""
    workflow = "workflow: [{type: agent, name: a}]"
    flows = {agent: flow_of(workflow, f"agents: {{a: {agent}}}{models}").to_dict() for agent in MODELS}
    found = {agent: flow["nodes"]["a"]["flow"]["nodes"]["agent"]["config"] for agent, flow in flows.items()}
    assert found == MODELS


async def test_ways_back_in_each_form_repeat_steps_with_their_retries() -> None:
    ways = ["{goto: trans}", "trans", "{goto: 1}", "1", "{id: w, goto: trans}"]
    for way in [*ways, "{id: back_to_trans, type: agent, name: y}"]:
        played = await play(flow_of(looping(way)), z=["no", "no", "yes"])
        assert (played.order, played.error) == ("xyzyzyzx", "")
    played = await play(flow_of(looping("trans")), y=["1", "2"], z=["no", "yes"])
    assert played.outputs == {"gen": "X", "trans": "2", "qa": "yes", "end": "X"}
    told = ["[gen (agent: x)]: X", "[trans (agent: y)]: 1", "[qa (agent: z)]: no"]
    assert played.prompts[3] == ("y", block(*told))
    workflow = looping("trans").replace("name: y}", "name: y, retry: {max_attempts: 1, on: [timeout]}}")
    late = ModelTimeout("m", "late")
    played = await play(flow_of(workflow), y=[late, "1", late, "2"], z=["no", "yes"])
    assert (played.order, played.error) == ("xyyzyyzx", "")


FLOW = f"{AGENTS}workflow: [{{id: a, type: agent, name: x}}, {{id: b, type: agent, name: y}}]\n"
HEADING = "--- Step Context ---\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a workflow, and answers that tell what was asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATAFLOW_SCRIPTED", str(tmp_path / "answers.yaml"))
    (tmp_path / "answers.yaml").write_text("[{text: A}, {text: B}]", encoding="utf-8")
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    return "flow.yaml"


def step_context(err: str) -> object:
    return json.JSONDecoder().raw_decode(err.partition(HEADING)[2])[0]


def test_the_step_context_stands_on_standard_error_at_the_end_also_after_a_failure(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--no-store", "--log-format", "cagent", file, "hi"]) == 0
    done = capsys.readouterr()
    expected = {"a": {"output": "A", "agent": "x"}, "b": {"output": "B", "agent": "y"}}
    assert step_context(done.err) == expected
    assert '  "a": {\n    "output": "A"' in done.err
    assert done.out == f"steps: {json.dumps(expected)}\noutput: B\n"
    Path("answers.yaml").write_text("[{text: A}, {error: rate_limited}]", encoding="utf-8")
    assert main(["run", "--no-store", "--log-format", "cagent", file, "hi"]) == 1
    assert step_context(capsys.readouterr().err) == {"a": {"output": "A", "agent": "x"}}


def test_the_prompt_is_the_argument_or_standard_input(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = {("hi",): '"hi', ("-",): '"from a pipe', (): '"Please go on.'}
    for given, expected in prompts.items():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe\n")))
        assert main(["run", "--no-store", "--events", file, *given]) == 0
        assert f'"prompt": {{"value": {expected}' in capsys.readouterr().out


def test_a_run_that_failed_goes_on_behind_the_steps_that_stand(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first step is not asked again: the script has no other answer."""
    Path("answers.yaml").write_text("[{text: A}, {error: rate_limited}]", encoding="utf-8")
    assert main(["run", file, "hi", "--json"]) == 1
    id = json.loads(capsys.readouterr().out.splitlines()[-1])["run"]
    Path("answers.yaml").write_text("[{text: B}]", encoding="utf-8")
    assert main(["resume", id, "--json"]) == 0
    steps = json.loads(capsys.readouterr().out.splitlines()[-1])["outputs"]["steps"]
    assert steps == {"a": {"output": "A", "agent": "x"}, "b": {"output": "B", "agent": "y"}}


FILES = {
    "with a workflow": f"{AGENTS}workflow: [{{type: agent, name: x}}, {{type: agent, name: z}}]\n",
    "without one": AGENTS,
}


def told(request: ModelRequest) -> list[str]:
    return [f"{message.role}:{message.content}" for message in request.messages]


async def test_an_agent_answers_the_prompt_and_then_each_reply(tmp_path: Path) -> None:
    for text in FILES.values():
        await talk(text, tmp_path)


async def talk(text: str, tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(text, encoding="utf-8")
    flow = Flow.load(tmp_path / "flow.yaml", agent="y")
    assert [*StepContext(flow.to_dict()).end({})] == []
    asked: list[list[str]] = []

    def answer(request: ModelRequest) -> str:
        asked.append(told(request))
        return f"answer {len(asked)}"

    with scripted(answer):
        paused: Any = await flow.run(prompt="P")
        assert paused.asks[0].show == "answer 1"
        paused = await flow.resume(paused, {paused.asks[0].id: "more"})
    assert asked == [["system:y", "user:P"], ["system:y", "user:P", "assistant:answer 1", "user:more"]]
    assert paused.asks[0].show == "answer 2"


async def test_steps_side_by_side_are_kept_in_one_store(tmp_path: Path) -> None:
    """Many of them write at once, and what each has given can be read from the store."""
    steps = ", ".join(f"{{id: s{n}, type: agent, name: x}}" for n in range(30))
    flow = flow_of(f"workflow: [{{type: parallel, id: p, steps: [{steps}]}}]")
    store = Store.sqlite(tmp_path / "runs.db")
    with scripted(lambda _: "X"):
        result = await flow.using(store=store).run(prompt="P")
    assert result["steps"]["p"]["order"] == [f"s{n}" for n in range(30)]
    (kept,) = store.runs()
    assert sum(record.path.endswith("/agent") for record in store.records(kept.id)) == 2 * 30


ROOT: Final = Path(__file__).parents[4]
GOLDEN: Final = ROOT / "tests" / "golden" / "formats" / "cagent"
#: Files of others, where they lie beside the project.
REAL: Final = ROOT.parent / "shared" / "files" / "cagent"

APPROVED: Final = {"is_approved": True}
REFUSED: Final = {"is_approved": False}
#: What the agents of each example answer, by how their instructions begin, and what the steps give.
RUNS: Final[dict[str, tuple[dict[str, list[Any]], Mapping[str, str]]]] = {
    "sequential": (
        {"Write": ["G"], "Translate": ["T"], "Make": ["P"]},
        {"generator": "G", "translator": "T", "publisher": "P"},
    ),
    "loop": (
        {"Write": ["G"], "Translate": ["T1", "T2"], "Check": [REFUSED, APPROVED], "Make": ["P"]},
        {"gen": "G", "trans": "T2", "qa": '{"is_approved": true}', "publisher": "P"},
    ),
    "parallel": (
        {"Write": ["G", "G"], "Translate": ["T"]},
        {"par_gen/gen_1": "G", "par_gen/gen_2": "G", "translator": "T"},
    ),
    "nested": (
        {"Write": ["G"], "Find": ["R"], "Sum": ["S"], "Make": ["P"]},
        {
            "outer/generator": "G",
            "outer/inner/researcher": "R",
            "outer/inner/summarizer": "S",
            "publisher": "P",
        },
    ),
}


async def test_an_example_runs_as_the_document_says() -> None:
    """The loop translates and checks, translates again as it is not approved, then publishes."""
    for name, (answers, expected) in RUNS.items():
        left = {begin: iter(given) for begin, given in answers.items()}

        def answer(request: ModelRequest, left: dict[str, Iterator[Any]] = left) -> Any:
            return next(left[request.messages[0].content.split()[0]])

        with scripted(answer):
            result = await Flow.load(GOLDEN / f"{name}.yaml").run(prompt="P")
        assert outputs_in(result["steps"]) == expected
        assert result["output"] == [*expected.values()][-1]


@pytest.mark.skipif(not REAL.is_dir(), reason="the files of others are no part of the project")
def test_real_files_load_but_for_those_of_the_older_form() -> None:
    for path in sorted(REAL.glob("pr1801-workflow_*.yaml")):
        flow = Flow.load(path)
        assert flow.check() == []
        assert [remark.original.partition(",")[0] for remark in flow.report] == [
            "steps without an id can share one"
        ]
    for path in sorted(REAL.glob("pr472-*.yaml")):
        with pytest.raises(FlowInvalid, match="DF4302"):
            Flow.load(path)
