"""Problems of the graph definition: names, ports, edges and blocks (DF02)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

PORT_USED_AS_VALUE: Final = Kind(
    "DF0201",
    "a port has no value while the flow is wired, so it cannot be used with {use}",
    hint="{advice}",
    meaning="An output port of a node was used as if it were the value that the node will return.",
    example="if flow.add(count).out > 3: ...",
    cure="Decide inside a node, or with a branch, a switch or a loop of the flow.",
)
DECLARED_TWICE: Final = Kind(
    "DF0202",
    "is declared twice",
    meaning="Two nodes have the same explicit name, or two inputs or outputs of the flow do.",
    example="flow.input('x', int)\nflow.input('x', str)",
    cure="Rename one of them. Nodes without an explicit name are numbered.",
)
TOO_MANY_ARGUMENTS: Final = Kind(
    "DF0203",
    "too many positional arguments",
    meaning="A node was added with more positional arguments than its function has positional parameters.",
    example="flow.add(inc, 1, 2)   # async def inc(x: int) -> int",
    cure="Remove the argument, or pass it by name if it is for a port that the config declares.",
)
GIVEN_TWICE: Final = Kind(
    "DF0204",
    "{what} is given twice",
    meaning="Something that is given once was given again: a port by position and by name, the next value of "
    "a loop variable, or the test of a loop.",
    example="flow.add(inc, 1, x=2)   # both are for the port x",
    cure="Remove one of the two. A loop has one `until` or one `while_`.",
)
CONFIG_IS_PORT: Final = Kind(
    "DF0205",
    "config {name!r} is fixed while the flow is wired",
    expected="a value",
    meaning="The config of a node is known before the flow runs, and a port has a value only when it runs.",
    example="flow.add(fetch, flow.input('options', Options))   # fetch takes them as its config",
    cure="Pass a config, or make the parameter a port: annotate it with a type that is not a Config.",
)
FLOW_IN_ITSELF: Final = Kind(
    "DF0206",
    "the flow would contain itself",
    meaning="A flow was added as a node of itself or of one of its subflows.",
    example="flow.add(flow)",
    cure="Use a loop of the flow for what repeats.",
)
NESTED_TOO_DEEP: Final = Kind(
    "DF0207",
    "subflows are nested too deep",
    hint="DATAFLOW_MAX_NESTED_FLOWS allows more",
    meaning="A subflow contains a subflow, and so on, beyond the limit for flows and documents.",
    example="for _ in range(200):\n    outer = Flow()\n    outer.add(flow)\n    flow = outer",
    cure="Use a loop of the flow for what repeats.",
)
STEP_NOT_HERE: Final = Kind(
    "DF0208",
    "the node is not in this block",
    meaning="`after` was called for a node of another flow, or outside the loop that the node is in.",
    example="flow.after(step_of_another_flow, load.done)",
    cure="Call `after` in the block in which the node was added.",
)
SIGNAL_REQUIRED: Final = Kind(
    "DF0209",
    "a node starts after signals",
    expected="the `done` or `error` of a step in this block or around it",
    meaning="`after` was given something other than the signal that a step is done or has failed.",
    example="flow.after(report, load.out)",
    cure="Pass `load.done`, or `load.error` to start it only after a failure.",
)
EDGE_OPTION_UNKNOWN: Final = Kind(
    "DF0210",
    "there is no option {option!r} of an edge",
    meaning="`connect` was called with a keyword that is not an option of edges.",
    example='flow.connect("split.title", "join.title", limits=3)',
    cure="Correct the name of the option.",
)
EDGE_OPTION_UNUSED: Final = Kind(
    "DF0211",
    "`{option}` applies only to feedback edges",
    hint="add feedback=True",
    meaning="The limit of iterations belongs to the edge that closes the loop.",
    example='flow.connect("check.again", "write.draft", limit=3)',
    cure="Set `feedback=True` on the edge that closes the loop, or remove the option.",
)
REFERENCE_INVALID: Final = Kind(
    "DF0212",
    "{text!r} does not name a port",
    meaning="A port is referred to by name, and the name does not have the form of a reference.",
    example='flow.connect("$in", "load.url")   # without the name of an input',
    cure="Write `node.port`, `node` for its port `out`, or `$in.name` for an input of the flow.",
)
PORT_OF_OTHER_FLOW: Final = Kind(
    "DF0213",
    "the port belongs to flow {flow!r}, not to this one",
    hint="make it an input of this flow",
    meaning="A port of one flow was passed to a node of another.",
    example="other.add(report, text=flow.add(load).out)",
    cure="Declare an input of the inner flow, and pass the port where that flow is added as a node.",
)
ITEM_OF_OTHER_BLOCK: Final = Kind(
    "DF0214",
    "the item belongs to a map that is opened in another block",
    hint="make it a loop variable, or call each(...) again to open a map in this block",
    meaning="The item of a map (fan-out) is read both in a loop and outside it, which would be two maps.",
    example="item = each(urls)\nflow.add(load, url=item)\n"
    "with flow.loop() as it:\n    flow.add(check, url=item)",
    cure="Make the item a loop variable with `it.carry(item)`, or call `each` in the loop.",
)
MARKER_AS_VALUE: Final = Kind(
    "DF0215",
    "a marker is not a value",
    expected="a value or a port",
    meaning="SKIP and similar markers describe the absence of a value and cannot be passed as constants.",
    example="flow.add(inc, x=SKIP)",
    cure="Leave the argument out if the port has a default, or disable the node.",
)
HANDLE_AS_VALUE: Final = Kind(
    "DF0216",
    "a {handle} is not a port",
    expected="one of its ports",
    meaning="A node, branch or loop has several ports, and a port of another node reads one of them.",
    example="flow.add(inc, x=flow.add(load))",
    cure="Pass a port: `step.out`, `step.done`, `step.error`, or `yes` and `no` of a branch.",
)
PORTS_IN_CONTAINER: Final = Kind(
    "DF0217",
    "a {container} with ports in it is not a value",
    hint="write gather(...) for a list of values",
    meaning="A list, tuple, set or dict that contains ports was passed as a constant.",
    example="flow.add(join, parts=[first.out, second.out])",
    cure="Write `gather(first.out, second.out)`, which is the list of their values.",
)
CARRY_FROM_INSIDE: Final = Kind(
    "DF0218",
    "the loop variable begins with {port}, which is inside the loop",
    hint="add that node before the loop",
    meaning="The first value of a loop variable must be known before the loop starts.",
    example="with flow.loop() as it:\n    text = it.carry(flow.add(load).out)",
    cure="Add the node before `with flow.loop()`.",
)
SWITCH_CASE_UNKNOWN: Final = Kind(
    "DF0219",
    "the switch has no case {case!r}",
    meaning="A case was read that the switch was not given.",
    example="flow.switch(size, pick, ['small', 'large'])['medium']",
    cure="Add the case, or correct its name.",
)
JOIN_TOO_LARGE: Final = Kind(
    "DF0220",
    "the join is too large",
    hint="put a node in between, or DATAFLOW_MAX_JOINS allows more",
    meaning="Joins such as merge and gather are nested too deep or too often in one expression.",
    example="for port in ports:\n    joined = merge(joined, port)",
    cure="Pass all sources to one join, or add a node that takes the inner one.",
)
FLOW_NEEDS_CONFIG: Final = Kind(
    "DF0221",
    "the flow is built for a config, {name!r}",
    hint="pass one to with_config(...)",
    meaning="A function declared with @flow takes a config without a default, and none was given.",
    example="@flow\ndef report(f: Flow, options: Options) -> str: ...\n\nreport.check()",
    cure="Check or run `report.with_config(Options(...))`, or give the parameter a default.",
)
FLOW_INPUT_UNNAMED: Final = Kind(
    "DF0222",
    "inputs of a flow have names",
    meaning="A function declared with @flow has *args or **kwargs, from which no inputs can be read.",
    example="@flow\ndef total(f: Flow, *numbers: int) -> int: ...",
    cure="Name each input, or use one input that is a list.",
)
FLOW_RETURNS_VALUE: Final = Kind(
    "DF0223",
    "the function of the flow returned a value",
    expected="a port, or a NamedTuple of ports for several outputs",
    meaning="A function declared with @flow builds the flow; its result says which ports are the outputs.",
    example="@flow\ndef report(f: Flow) -> str:\n    return 'text'",
    cure="Return a port, such as `f.add(write).out`.",
)
VALUES_IN_LIST: Final = Kind(
    "DF0224",
    "the port takes any number of values, each by itself",
    hint="pass them one by one, by position or with connect",
    meaning="A list was passed by name to a parameter `*xs`, whose values are separate sources.",
    example="flow.add(total, numbers=[1, 2])   # async def total(*numbers: int) -> int",
    cure="Pass the values one by one: `flow.add(total, 1, 2)`.",
)
TOO_MANY_NODES: Final = Kind(
    "DF0288",
    "the flow has {count} nodes, with those of its subflows",
    hint="DATAFLOW_MAX_NODES allows more",
    meaning="A subflow counts each time it is used, so flows that use another one twice double.",
    example="for _ in range(31):\n    outer = Flow()\n    outer.add(flow), outer.add(flow)\n    flow = outer",
    cure="Use a map or a loop for what repeats.",
)
