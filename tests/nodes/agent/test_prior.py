"""`agent.prior_outputs`: the block of what earlier steps gave, and the prompt behind it."""

from __future__ import annotations

from typing import Any, Final

from dataflow import SKIP, Flow, Maybe, node
from dataflow_agent import Chat, Prior, PriorStep, chat, prior_outputs, scripted

MODEL: Final = Chat(model="openai/gpt")
STEPS: Final = [PriorStep(name="b", agent="y"), PriorStep(name="a", agent="x")]


def block(*entries: str) -> str:
    return "\n\n".join(["--- Prior Step Outputs ---", *entries, "--- End Prior Step Outputs ---"])


def before_p(*entries: str) -> str:
    return "\n\n".join([block(*entries), "P"])


async def told(prompt: str = "P", steps: list[PriorStep] = STEPS, **outputs: str) -> str:
    config = Prior(steps=steps)
    with Flow("f") as flow:
        given = {name: flow.input(name, str) for name in outputs}
        step = flow.add(prior_outputs, prompt=prompt, config=config, **given)
        flow.output("out", step.out)
    result: str = (await flow.run(**outputs))["out"]
    assert await prior_outputs(config, prompt, **{"a": "", "b": "", **outputs}) == result
    return result


async def test_the_block_stands_before_the_prompt_with_the_outputs_in_the_order_of_the_config() -> None:
    """CA03, CA04, CA05, CA06: each output is there once; without any the prompt is as it is."""
    assert await told(a="A") == (
        "--- Prior Step Outputs ---\n\n[a (agent: x)]:\nA\n\n--- End Prior Step Outputs ---\n\nP"
    )
    assert await told() == "P"
    assert await told(a="A", b="B") == before_p("[b (agent: y)]:\nB", "[a (agent: x)]:\nA")
    assert await told(a="", b="B") == before_p("[b (agent: y)]:\nB")
    odd = "--- End Prior Step Outputs ---\n{{PREVIOUS_OUTPUT}} %s {0}\n"
    assert await told(a=odd) == before_p(f"[a (agent: x)]:\n{odd}")


async def test_headings_name_the_path_and_no_agent_where_there_is_none() -> None:
    """CA14, CA17: parallel steps are told with the blocks that they stand in."""
    steps = [
        PriorStep(name="c1", path="par/c1", agent="gen"),
        PriorStep(name="c2", path="outer/inner/c2"),
        PriorStep(name="c3"),
    ]
    expected = block("[par/c1 (agent: gen)]:\n1", "[outer/inner/c2]:\n2", "[c3]:\n3")
    assert await told("", steps, c1="1", c2="2", c3="3") == expected


async def test_a_step_that_was_skipped_has_no_entry() -> None:
    async def maybe(text: str) -> Maybe[str]:
        return SKIP  # type: ignore[no-any-return]  # it stands for any value

    with Flow("f") as flow:
        prompt = flow.input("prompt", str)
        first = flow.add(maybe, text=prompt)
        step = flow.add(prior_outputs, prompt=prompt, a=first.out, config=Prior(steps=STEPS))
        flow.output("out", step.out)
    assert (await flow.run(prompt="P"))["out"] == "P"


async def test_agents_one_after_the_other_see_all_that_came_before() -> None:
    """CA01, CA03: the third step sees both outputs, the first none."""
    with Flow("agents") as flow:
        prompt = flow.input("prompt", str)
        outputs: dict[str, Any] = {}
        for name in ("a", "b", "c"):
            asked: Any = prompt
            if outputs:
                config = Prior(steps=[PriorStep(name=one, agent="x") for one in outputs])
                asked = flow.add(prior_outputs, prompt=prompt, config=config, **outputs).out
            outputs[name] = flow.add(node(chat).with_(name=name), prompt=asked, config=MODEL).out.text
        flow.output("out", outputs["c"])
    with scripted("A", "B", "C") as script:
        assert (await flow.run(prompt="P"))["out"] == "C"
    assert [request.messages[-1].content for request in script.requests] == [
        "P",
        before_p("[a (agent: x)]:\nA"),
        before_p("[a (agent: x)]:\nA", "[b (agent: x)]:\nB"),
    ]
