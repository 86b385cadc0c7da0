"""Problems of the whole graph: names, types, scopes, loops, maps and contexts (DF03)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

PORT_UNCONNECTED: Final = Kind(
    "DF0301",
    "is required and has neither an edge nor a constant",
    meaning="An input port without a default has no source.",
    example="flow.add(load)   # async def load(url: str) -> str",
    cure="Pass a port or a constant, connect an edge, or give the parameter a default.",
)
PORT_UNKNOWN: Final = Kind(
    "DF0302",
    "{owner} has no {which} port {name!r}",
    hint="{advice}",
    meaning="A port is named that the node, the loop, the map or the flow does not have.",
    example='flow.connect("load.txet", "parse.text")   # the output is called text',
    cure="Use one of the available ports. A result with named fields has a port for each field.",
)
NAME_UNKNOWN: Final = Kind(
    "DF0303",
    "there is no {what} {name!r} here",
    hint="{advice}",
    meaning="A source names a node, an input, a loop variable or an item that cannot be read in this block.",
    example='flow.connect("laod.text", "parse.text")   # the node is called load',
    cure="Correct the name. Inputs are `$in.name`, loop variables `$carry.name`, items `$item.name`.",
)
READ_BEFORE_THE_END: Final = Kind(
    "DF0304",
    "reads {source}, which is known when the {what} has ended",
    hint="inside it, read a node or a parameter of its block",
    meaning="A node in the body of a loop or a map reads an output of that loop or map.",
    example="nodes: {repeat: {loop: {nodes: {step: {type: work, inputs: {x: repeat.total}}}}}}",
    cure="Read a node of the body, or its loop variable `$carry.name`.",
)
EDGE_INTO_A_BLOCK: Final = Kind(
    "DF0305",
    "{name!r} is a {what}, and edges lead only to nodes",
    meaning="An edge leads to a loop or a map in block form, which has no input ports for edges.",
    example="edges: [{source: load, target: repeat, target_port: x}]   # repeat is a loop",
    cure="Name the source in `carry` of the loop, in `over` of the map, or read it in a node of the body.",
)
PORT_WIRED_TWICE: Final = Kind(
    "DF0306",
    "has edges and also its own source",
    hint="use one of them",
    meaning="An input port gets a source where its node is added, and edges lead to it as well.",
    example='flow.add(parse, text=a.out); flow.connect("b", "parse.text")',
    cure="Remove one, or join them: `text=merge(a.out, b.out)`.",
)
SEVERAL_VALUES: Final = Kind(
    "DF0307",
    "takes one value, but {first} and {second} both always have one",
    hint="join them with merge or gather",
    meaning="Several edges lead to a port for one value, and more than one of them always brings one.",
    example='flow.connect("a", "parse.text"); flow.connect("b", "parse.text")',
    cure="Use `merge` for the first value, `gather` for a list, or a parameter `*texts` for many edges.",
)
TYPE_MISMATCH: Final = Kind(
    "DF0308",
    "{source} has another type",
    hint="{advice}",
    meaning="A source does not have the type that its reader expects, such as a port.",
    example="flow.add(parse, text=count.out)   # text is a str, and count returns an int",
    cure="Change an annotation, or put a node that converts the value in between.",
)
PORT_KIND_MISMATCH: Final = Kind(
    "DF0309",
    "{source} is a port of another kind",
    meaning="Ports carry data, a context, tools or a signal, and only ports of equal kinds are connected.",
    example="flow.add(parse, text=load.done)   # `done` is a signal and has no value",
    cure="Connect the port that has the value. For the order alone use `flow.after`.",
)
DEFAULT_WITHOUT_OUT: Final = Kind(
    "DF0310",
    "replaces the output 'out', which the node does not have",
    meaning="The `default` of a node replaces the value of its port `out` after a failure.",
    example="flow.add(split.with_(default=[]))   # split has the outputs title and chunks",
    cure="Remove `default`, or handle the failure with `fallback` at each output.",
)
NOT_CACHEABLE: Final = Kind(
    "DF0311",
    "the result of {what} cannot be cached",
    hint="{advice}",
    meaning="`memo` is set for a node whose result depends on more than its inputs, or that has an effect.",
    example='flow.add(node(send, effect=True, memo="run"), text=text)',
    cure="Remove `memo`. For a subflow set it for nodes of the subflow.",
)
NODE_ID_RESERVED: Final = Kind(
    "DF0312",
    "the id is reserved",
    hint="rename the node",
    meaning="A node has an id that references use for inputs, loop variables or items.",
    example='flow.add(node(load).with_(name="$in"))',
    cure="Use another id.",
)
NODE_ID_SHADOWED: Final = Kind(
    "DF0313",
    "a node of an outer block has the same id",
    hint="rename one of them",
    meaning="A node in a loop or a map has the id of a node outside of it, which it would hide.",
    example="nodes: {a: {type: work}, repeat: {loop: {nodes: {a: {type: work}}}}}",
    cure="Rename one of the two nodes.",
)
PATH_TAKEN: Final = Kind(
    "DF0314",
    "the node in the {scope} of {owner!r} would have the path of the node of the same id in that subflow",
    hint="rename one of them",
    meaning="A map or loop is named after the subflow in it, so paths of other nodes in it can be equal.",
    example="# the subflow `sub` has a node `inc`, and `each` runs `sub` and a node `inc` per item",
    cure="Rename the node beside the subflow, or the node in it.",
)
SETTING_INVALID: Final = Kind(
    "DF0315",
    "the value of the setting is not allowed",
    meaning="A setting of a loop or a join has a value that it cannot have.",
    example='with flow.loop(limit=3, on_limit="stop") as it: ...',
    cure="Use one of the available values.",
)
CYCLE: Final = Kind(
    "DF0316",
    "the nodes form a cycle: {nodes}",
    hint="repeat nodes in a loop, or make the edge that leads back a feedback edge",
    meaning="Nodes wait for each other. A flow is acyclic (a DAG) apart from loops.",
    example='flow.connect("a", "b.x"); flow.connect("b", "a.x")',
    cure="Use `flow.loop`, or `flow.connect(..., feedback=True, limit=10)`.",
)
NOT_INSPECTED: Final = Kind(
    "DF0317",
    "the flow cannot run, since parts of it were not inspected: {names}",
    hint="load it with imports allowed",
    meaning="A flow was loaded without importing the functions that it names, so it is known only in part.",
    example="# a document with type `my_module:my_function`, checked without `--import`",
    cure="Load the document with `Flow.load`, or use the option `--import`, if you trust its functions.",
)
JOIN_EMPTY: Final = Kind(
    "DF0318",
    "{join} has no source",
    expected="at least one source",
    meaning="A join such as `merge`, `gather` or `every` was made of nothing.",
    example="flow.add(parse, text=merge())",
    cure="Pass the ports to join.",
)
INSIDE_A_MAP: Final = Kind(
    "DF0319",
    "reads {source}, which is inside a map",
    hint="collect it first",
    meaning="A value that exists once per item is read outside of its map.",
    example='flow.output("y", flow.add(inc, x=each(xs)).out)',
    cure="Read the list of all: `collect(step.out)`.",
)
TWO_MAPS: Final = Kind(
    "DF0320",
    "reads two maps, neither inside the other: {first} and {second}",
    hint="collect one of them first",
    meaning="A node reads items of two maps, and it is not known which items belong together.",
    example="flow.add(pair, p=each(xs), q=each(ys))",
    cure="Collect one, zip the lists in a node, or nest one map in the other.",
)
COLLECT_WITHOUT_MAP: Final = Kind(
    "DF0321",
    "{source} is not inside a map opened by each in this block",
    hint="collect only what is read from items",
    meaning="`collect` closes the map around a port, and there is none around this one.",
    example="flow.add(join, parts=collect(load.out))   # load runs once",
    cure="Pass the port itself, or `gather(...)` for a list of several ports.",
)
EACH_OPTIONS_DIFFER: Final = Kind(
    "DF0322",
    "each({source}) at {this} and at {other} are one map, since something depends on the items of both, "
    "and their options differ",
    hint="use equal options",
    meaning="A node depends on two calls of `each` with the same list. They are one map, whose options have "
    "to be equal.",
    example="flow.add(pair, p=each(xs, max_concurrency=1), q=each(xs))",
    cure="Call `each` once and use its result twice, or give both calls the same options.",
)
EACH_SHARED_APART: Final = Kind(
    "DF0372",
    "each with `share: {share}` is read in two blocks, or goes over two lists",
    expected="one list, in one block",
    meaning="In a document, sources `each` with the same `share` are one map, which is in one block and goes "
    "over one list.",
    example="{each: $in.xs, share: rows} for one node and {each: $in.ys, share: rows} for another",
    cure="Use different names in `share`, or leave it out.",
)
MAP_WITHOUT_LIST: Final = Kind(
    "DF0323",
    "the map has no list to iterate over",
    hint="name one in `over`",
    meaning="A map in block form does not say which lists it iterates over.",
    example="nodes: {all: {map: {nodes: {a: {type: work}}}}}",
    cure="Name the lists: `map: {over: {x: $in.xs}, ...}`.",
)
LIST_IN_ITS_MAP: Final = Kind(
    "DF0324",
    "waits inside {map}{way} for {awaited}, which is known only when {when}",
    hint="{advice}",
    meaning="A node that runs per item waits for a value that is complete only after all items have ended.",
    example='a = flow.add(inc, x=each(xs, on_error="skip")); flow.add(pair, p=a.out, q=collect(a.out))',
    cure="Read the list outside of the map, or iterate over it again: `each(collect(a.out))`.",
)
MAP_BESIDE_LOOP: Final = Kind(
    "DF0325",
    "reads {source} {side} the loop {loop!r}, which opens {map} in each iteration",
    hint="{advice}",
    meaning="The same map is read inside and outside of a loop of feedback edges.",
    example="# each(xs) is read by a node of the loop and by a node outside of it",
    cure="Call `each` again beside the loop, or iterate over the collected list: `each(collect(step.out))`.",
)
LOOP_ENDLESS: Final = Kind(
    "DF0326",
    "the loop has neither a limit nor a test and would never end",
    meaning="A loop needs a limit of iterations, a test, or both.",
    example="with flow.loop(limit=None) as it: ...   # without it.until(...)",
    cure="Give it a `limit`, or a test with `until` or `while_`.",
)
CARRY_WITHOUT_NEXT: Final = Kind(
    "DF0327",
    "the loop variable has no next value",
    meaning="A loop variable has a first value, and none for the following iterations.",
    example="with flow.loop(limit=2) as it: total = it.carry(0)",
    cure="Set it: `total.next(step.out)`.",
)
WHILE_READS_ITERATION: Final = Kind(
    "DF0328",
    "reads {source}, but `while` tests a loop variable before the iteration",
    hint="use `until` for a value of the iteration",
    meaning="The test of `while` runs before the iteration, when the nodes of the body have no values yet.",
    example="it.while_(step.out, is_small)   # step is a node of the loop",
    cure="Test a loop variable, or use `until`.",
)
ALL_MISPLACED: Final = Kind(
    "DF0329",
    "`all` can only be an output of a loop",
    meaning="`all` is the list of the values of all iterations, which only outputs of loops have.",
    example="outputs: {y: {all: step}}   # of the flow",
    cure="Make it an output of the loop, and read that output.",
)
FEEDBACK_WITHOUT_LOOP: Final = Kind(
    "DF0330",
    "the feedback edge from {source} does not close a loop: no path leads from {target!r} to {begin!r}",
    meaning="A feedback edge leads back to a node that its source depends on.",
    example='flow.connect("last", "first.x", feedback=True)   # last does not read first',
    cure="Remove `feedback`, or connect the nodes of the loop.",
)
FEEDBACK_LEAVES_MAP: Final = Kind(
    "DF0331",
    "the feedback edge from {source} leaves {map}",
    hint="collect it first",
    meaning="A feedback edge begins at a node that runs per item and leads out of the map.",
    example='flow.add(pair, p=first.out, q=each(xs)); flow.connect("pair", "first.x", feedback=True)',
    cure="Feed back the list: `collect(pair.out)` into a node, and that node back.",
)
FEEDBACK_BESIDE_ITEM: Final = Kind(
    "DF0332",
    "takes one value, and from the second iteration both {item} and the feedback edge from {source} have one",
    hint="use another port for one of them",
    meaning="A feedback edge leads to a port that reads an item of a map opened in each iteration.",
    example='flow.add(inc, x=each(xs)); flow.connect("total", "inc.x", feedback=True)',
    cure="Give the node another port for the value that is fed back.",
)
ROUND_OPTION_MISPLACED: Final = Kind(
    "DF0333",
    "the edge from {source} cannot have the option `{option}`, since {reason}",
    meaning="`each_round` and `leave` are options for edges that leave a loop.",
    example='flow.connect("load", "parse.text", leave="all")   # neither node is in a loop',
    cure="Remove the option.",
)
TWO_CONVERSATIONS: Final = Kind(
    "DF0334",
    "could receive two conversations, from {first} and from {second}",
    hint="join them with merge_contexts",
    meaning="Two contexts may arrive at one port in the same run, and it is not said how they are combined.",
    example="flow.add(chat, context=gather(a.out, b.out))",
    cure='Use `merge_contexts(a.out, b.out, how="append")`, or branches that exclude each other.',
)
PORT_INSIDE: Final = Kind(
    "DF0335",
    "the port is inside a map, a loop or a subflow",
    hint="collect it, read the output of the loop, or make it an output of the flow",
    meaning="A result has the ports of the flow itself; a node in a map or a loop runs several times.",
    example='result["inc"]   # inc runs for each item',
    cure='Make it an output of the flow: `flow.output("y", collect(step.out))`.',
)
PORT_OF_ANOTHER_FLOW: Final = Kind(
    "DF0336",
    "the port belongs to flow {flow!r}, not to the one that ran",
    meaning="A value is requested by a port object of another flow.",
    example="flow.run_sync()[other.add(inc, x=1).out]",
    cure="Use a port of the flow that ran, or its name: `result['inc']`.",
)
VALUE_RELEASED: Final = Kind(
    "DF0337",
    "the value was released when its last reader had ended",
    hint="make the port an output of the flow, or run it without keep=False",
    meaning="A run with `keep=False` drops values that nothing in the flow needs any more.",
    example='flow.run_sync(keep=False)["load"]',
    cure="Make the port an output of the flow, or keep all values.",
)
PORT_EXPECTED: Final = Kind(
    "DF0338",
    "",
    expected="a port, a step, or a string such as 'node.port'",
    meaning="A value of a result is requested by something that does not name a port.",
    example="result[0]",
    cure="Use a port, a step, or the name of a port or of an output.",
)
INPUT_UNREAD: Final = Kind(
    "DF0339",
    "nothing reads the input",
    meaning="A warning: no node or output reads an input of the flow, so its value makes no difference.",
    example='flow.input("language", str)   # and no node takes it',
    cure="Wire the input, or remove it.",
)
RESULT_UNREAD: Final = Kind(
    "DF0340",
    "nothing reads the result",
    hint="make it an output, remove the node, or declare it effect=True",
    meaning="A warning: no node or output reads any port of a node, and it is not declared an effect.",
    example="flow.add(summarize, text=page.out)   # the summary is not an output",
    cure="Wire a port of the node or make it an output; remove the node; or declare `effect=True`.",
)
