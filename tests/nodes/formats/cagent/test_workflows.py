"""What workflows of cagent do besides the rows: ways back, parallel blocks, instructions, agents."""

from __future__ import annotations

from typing import Any, Final

from dataflow_agent.models.errors import ModelTimeout, RateLimited
from tests.nodes.formats.cagent.workflows import AGENTS, block, flow_of, play

BUSY = RateLimited("m", "busy")


def looping(way: str, **more: Any) -> str:
    """Write a workflow whose second step is asked again until the third says yes."""
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
