"""Problems of files of cagent (DF43)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

WORKFLOW_MISSING: Final = Kind(
    "DF4301",
    "has no `workflow`",
    hint="to talk to one agent, name it as in FILE#agent=NAME",
    meaning="A file of cagent without a workflow only defines agents, so there is nothing to run.",
    example="agents: {root: {model: openai/gpt-5}}",
    cure="Add a workflow, or name an agent: `dataflow run 'team.yaml#agent=root'`.",
)
FORM_UNSUPPORTED: Final = Kind(
    "DF4302",
    "{form} cannot be read",
    meaning="Forks and earlier versions of cagent write workflows in another form.",
    example="workflows: {main: {entry: a, nodes: {}}}",
    cure="Write the workflow as a list of steps under `workflow`.",
)
BLOCKS_TOO_DEEP: Final = Kind(
    "DF4303",
    "parallel blocks are nested too deeply",
    meaning="A parallel block is in a parallel block, and so on, beyond the limit.",
    example="21 steps of the type parallel, each in the steps of the one before",
    cure="Nest fewer blocks.",
)
GOTO_IN_PARALLEL: Final = Kind(
    "DF4304",
    "a step of a parallel block cannot lead back",
    meaning="The steps of a parallel block run concurrently, so none of them can continue elsewhere.",
    example="{type: parallel, steps: [{goto: x}]}",
    cure="Lead back after the block.",
)
GOTO_UNKNOWN: Final = Kind(
    "DF4305",
    "{target!r} is not a step before it",
    meaning="A workflow can only go back to a step that has already run.",
    example="[{type: agent, name: x}, {goto: y}]",
    cure="Write the id of one of the available steps.",
)
INDEX_UNKNOWN: Final = Kind(
    "DF4306",
    "there is no {what} {index}",
    meaning="The number of a step or of an output, counted from 0, is too large.",
    example="[{type: agent, name: x}, {goto: 7}]",
    cure="Write a smaller number, or the id of the step.",
)
STEP_UNKNOWN: Final = Kind(
    "DF4307",
    "there is no step {step!r}",
    meaning="A reference in a condition or an instruction names a step that does not exist or has no output.",
    example="condition: $steps.missing.output",
    cure="Write the id of one of the available steps.",
)
REFERENCE_INVALID: Final = Kind(
    "DF4308",
    "the reference cannot be read",
    meaning="References to the outputs of steps have a fixed form.",
    example="condition: a > b",
    cure="Write `$steps.ID.output`, with `.KEY` for a part of an output that is a JSON object.",
)
REFERENCE_TO_BLOCK: Final = Kind(
    "DF4309",
    "{block!r} is a parallel block, which has several outputs",
    meaning="A reference leads to a parallel block instead of one of its steps.",
    example="condition: $steps.block.outputs",
    cure="Name the step of the block too: `$steps.block.outputs.step.output`.",
)
CONDITION_UNDECIDED: Final = Kind(
    "DF4310",
    "the value is neither true nor false",
    expected="true, 1, yes, false, 0, no or an empty string",
    meaning="The output that a condition reads is not one of the words that mean true or false.",
    example="condition: $steps.a.output   # with the output `maybe`",
    cure="Tell the agent to answer yes or no, or to answer with a JSON object and read a boolean of it.",
)
LOOPS_EXCEEDED: Final = Kind(
    "DF4311",
    "max loop iterations exceeded (step: {step}, limit: {limit})",
    meaning="A workflow went back to a step more often than its limit allows.",
    example="[{type: agent, name: x, id: a}, {goto: a}]",
    cure="Raise `max_loop_iterations` of the workflow, or add a condition that ends the loop.",
)
