"""Problems of chats, prompts and agents (DF20)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

NAME_INVALID: Final = Kind(
    "DF2001",
    "{name!r} cannot be the name of {what}",
    meaning="A name that becomes the name of a port or of a node is not an identifier, or is reserved.",
    example='Router(routes={"tell a joke": ""})',
    cure="Choose another name, of letters, digits and `_`.",
)
NAME_TAKEN: Final = Kind(
    "DF2002",
    "the name {name!r} is used by {by} already",
    hint="choose another name",
    meaning="Routes, inputs, steps and subagents need names that differ, also from those of the node itself.",
    example='tools(Agent("reader").as_tool("Reads."), Agent("reader").as_tool("Reads too."))',
    cure="Rename one of the two.",
)
TOOLS_HAVE_AGENTS: Final = Kind(
    "DF2003",
    "the tools contain agents: {names}",
    hint="pass them in `subagents`",
    meaning="The setting `tools` of an agent has functions and servers; its agents are in `subagents`.",
    example='AgentConfig(tools=Agent("reader").as_tool("Reads."))',
    cure="Pass the agents in `subagents`, or give the whole toolbox to `Agent(tools=...)`.",
)
AGENT_INSIDE_ITSELF: Final = Kind(
    "DF2004",
    "the agent {name!r} is a subagent of itself: {path}",
    meaning="An agent may call subagents, which may have subagents, but none of them may be the agent again.",
    example='Agent("lead", tools=Agent("lead").as_tool("Leads."))',
    cure="Give one of the two agents another name, or remove it from the tools.",
)
AGENT_FROM_PORT: Final = Kind(
    "DF2005",
    "the agent {name!r} comes from a port, and is only known when the flow runs",
    hint="pass the toolbox itself where the `Agent` is placed, or use its setting `subagents`",
    meaning="Subagents are nodes of the flow, so they have to be known when the flow is built.",
    example="f.add(lead, prompt=prompt, tools=f.add(make_tools).out)   # with an agent among the tools",
    cure="Pass the toolbox to the agent when it is placed, or list the agents in `subagents`.",
)
PLACEHOLDER_INVALID: Final = Kind(
    "DF2006",
    "{placeholder!r} is not a placeholder",
    expected="{{PREVIOUS_OUTPUT}}, or {{ $steps.NAME.output }} with .KEY after output for a part",
    meaning="A prompt has braces that look like a placeholder, and are not one.",
    example='Prompt(prompt="{{ $steps.plan }}")',
    cure="Write `{{ $steps.plan.output }}`, or other braces if the text is meant literally.",
)
OUTPUT_NOT_JSON: Final = Kind(
    "DF2007",
    "the output of {step!r} is a string that is not JSON: {error}",
    meaning="A placeholder asks for a part of an output, which is read as JSON if it is a string.",
    example='fill_prompt with "{{ $steps.plan.output.title }}", where the output is plain text',
    cure="Let the step return a mapping or JSON, or use its whole output.",
)
PROMPT_TOO_LONG: Final = Kind(
    "DF2008",
    "the filled prompt is too long",
    hint="DATAFLOW_MAX_PROMPT_CHARACTERS allows more",
    meaning="A prompt is filled with values that are too long together.",
    example='fill_prompt with "{{PREVIOUS_OUTPUT}}", where the output has more than a million characters',
    cure="Pass a part of the output, or a summary of it.",
)
AGENT_SETTING_UNKNOWN: Final = Kind(
    "DF2092",
    "Agent has no setting {found}",
    meaning="A setting of an agent is given by a name that does not exist.",
    example='Agent("lead", modle="openai/gpt-5")',
    cure="Pass one of the available settings.",
)
