"""Problems of models: names and keys, failed calls, types and schemas of answers, and scripts (DF21)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

MODEL_NAME_INVALID: Final = Kind(
    "DF2101",
    "",
    expected="a model, written provider/model",
    meaning="The name of a model consists of its provider and its name at the provider.",
    example='Chat(model="gpt-5")',
    cure='Write the provider in front: `Chat(model="openai/gpt-5")`.',
)
MODEL_NOT_NAMED: Final = Kind(
    "DF2102",
    "no model is named",
    hint="set `model` in the config or in the context",
    meaning="A node calls a model, and neither its config nor its conversation names one.",
    example="f.add(chat, prompt=prompt)",
    cure='Name it in the config, `Chat(model="openai/gpt-5")`, or in `agent.context`.',
)
PROVIDER_UNKNOWN: Final = Kind(
    "DF2103",
    "litellm does not know the provider {provider!r}",
    meaning="The part of the name of a model before the slash is not a provider that litellm knows.",
    example='Chat(model="opnai/gpt-5")',
    cure="Correct the name of the provider.",
)
LIBRARY_MISSING: Final = Kind(
    "DF2104",
    "{library} is not installed: {error}",
    hint="pip install 'dataflow-engine[agent]'",
    meaning="Models are called through litellm, and tool servers through mcp, which are extra dependencies.",
    example='Chat(model="openai/gpt-5")   # without litellm',
    cure="Install them: `pip install 'dataflow-engine[agent]'`.",
)
ASYNCIO_REQUIRED: Final = Kind(
    "DF2105",
    "litellm needs asyncio as the event loop",
    hint="run the flow on asyncio, or let a script answer",
    meaning="The library that calls models does not run on trio.",
    example="trio.run(flow.run)   # of a flow with agent.chat",
    cure="Run the flow on asyncio.",
)
KEY_MISSING: Final = Kind(
    "DF2106",
    "a key is missing: {error}",
    meaning="The provider of a model needs a key, and the library that calls it has found none to send.",
    example='Chat(model="openai/gpt-5")   # without OPENAI_API_KEY',
    cure="Set the environment variable, or name another one in `key`.",
)
KEY_IN_CLEAR: Final = Kind(
    "DF2107",
    "the key itself is given",
    expected="the name of an environment variable",
    meaning="A config is written into documents and stores, so it has the name of a key and not the key.",
    example='Chat(key=Secret("sk-..."))',
    cure='Put the key into an environment variable and name that: `Chat(key=Secret("MY_KEY"))`.',
)
OPTION_UNSUPPORTED: Final = Kind(
    "DF2108",
    "an option is not supported: {error}",
    meaning="The model does not have an option of the config, such as `temperature` or a type of the answer.",
    example='Chat(model="openai/o3", temperature=0.5)',
    cure="Remove the option, or choose another model.",
)
KEY_REFUSED: Final = Kind(
    "DF2109",
    "the provider refuses the key: {error}",
    meaning="The key is wrong, has expired, or does not permit the model.",
    example="OPENAI_API_KEY=sk-old dataflow run chat.yaml",
    cure="Check the key and the permissions of its account.",
)
REQUEST_REFUSED: Final = Kind(
    "DF2110",
    "the provider refuses the request: {error}",
    meaning="The provider does not accept the request: the model does not exist, or an option is wrong.",
    example='Chat(model="openai/no-such-model")',
    cure="Read the reason of the provider, and correct the config.",
)
CONTEXT_TOO_LONG: Final = Kind(
    "DF2111",
    "the conversation is longer than the model can read: {error}",
    meaning="The messages of a conversation exceed the context window of the model.",
    example="f.add(chat, prompt=prompt, context=long_conversation)",
    cure="Trim the conversation with `agent.trim_context`, or choose a model with a larger context window.",
)
RATE_LIMITED: Final = Kind(
    "DF2112",
    "too many requests: {error}",
    meaning="The provider has received too many requests in a short time.",
    example="f.add(chat, prompt=each(prompts))",
    cure="Let the node retry, or limit how many of its firings run concurrently.",
)
MODEL_UNAVAILABLE: Final = Kind(
    "DF2113",
    "the provider is not available: {error}",
    meaning="The provider could not be reached, or has failed itself.",
    example='Chat(model="openai/gpt-5", base_url="http://127.0.0.1:9")',
    cure="Let the node retry; check the network and `base_url`.",
)
MODEL_TIMED_OUT: Final = Kind(
    "DF2114",
    "the provider has taken too long: {error}",
    meaning="The provider has not answered in time.",
    example='Chat(model="openai/gpt-5", reasoning_effort="high")   # at a slow provider',
    cure="Let the node retry.",
)
STREAM_INTERRUPTED: Final = Kind(
    "DF2115",
    "the answer broke off: {error}",
    meaning="The stream of an answer ended before the answer was complete; nothing of it is used.",
    example="a connection that is lost while an answer arrives",
    cure="Let the node retry.",
)
ANSWER_CUT: Final = Kind(
    "DF2116",
    "the answer is incomplete: {error}",
    meaning="An answer reached its maximum length, or a filter of the provider ended it.",
    example="Chat(max_tokens=5)",
    cure="Raise `max_tokens`, change the prompt, or accept such answers with `accept_cut=True`.",
)
MODEL_FAILED: Final = Kind(
    "DF2117",
    "the call failed: {error}",
    meaning="The call of a model failed for a reason that is not known more precisely.",
    example='scripted(ScriptedAnswer(error="model_failed"))',
    cure="Read the reason of the provider.",
)
ANSWER_NOT_JSON: Final = Kind(
    "DF2118",
    "the answer is not JSON: {error}",
    meaning="A model was asked for an answer of a type, as JSON, and has answered with something else.",
    example='scripted("yes")   # for Chat(answer=bool)',
    cure="Let the node retry, or choose a model that supports typed answers.",
)
ANSWER_UNFIT: Final = Kind(
    "DF2119",
    "the answer does not have the requested type",
    hint="the model has answered {answer}",
    meaning="A model has answered with JSON that does not fit the type or the JSON Schema of the answer.",
    example='scripted(\'{"answer": "3"}\')   # for Chat(answer=int)',
    cure="Describe the type in the prompt, let the node retry, or choose another model.",
)
ANSWER_IS_CALL: Final = Kind(
    "DF2120",
    "the model asks for a call of a tool",
    meaning="`agent.chat` and `agent.intent_router` offer no tools, and the model has asked for one.",
    example='scripted(ScriptedAnswer(tool_calls=(ScriptedCall(name="add"),)))',
    cure="Use `agent.agent` where a model may call tools, or let the node retry.",
)
MESSAGE_PART_INVALID: Final = Kind(
    "DF2125",
    "a message has a part that cannot be sent",
    expected="strings and images",
    meaning="The content of a message is a string, or a sequence of strings and images.",
    example='Message("user", [3])',
    cure="Write the part as a string.",
)
SCRIPT_ENDED: Final = Kind(
    "DF2126",
    "the script has no answer left to {request}",
    meaning="A script that answers in place of a model has been asked more often than it has answers.",
    example='with scripted("one"): ...   # and the flow calls a model twice',
    cure="Add an answer, or give one `repeat=True`.",
)
SCRIPT_FUNCTION_FAILED: Final = Kind(
    "DF2127",
    "the function of the script raised {error}",
    meaning="A function that answers in place of a model has raised an exception.",
    example="with scripted(lambda request: request.number): ...",
    cure="Correct the function; `__cause__` is what it has raised.",
)
SCRIPTED_ANSWER_INVALID: Final = Kind(
    "DF2128",
    "not a scripted answer",
    expected="a string, ScriptedAnswer, ModelAnswer, exception, pydantic model, mapping or list",
    meaning="A script has something among its answers that cannot be one.",
    example="Script([3])",
    cure="Write the answer as a string, or as `ScriptedAnswer(value=3)`.",
)
SCRIPT_NOT_A_LIST: Final = Kind(
    "DF2129",
    "",
    expected="a list of scripted answers",
    meaning="A file of scripted answers is a list, in YAML or JSON.",
    example="text: hello   # without a dash before it",
    cure="Write each answer as an item of a list.",
)
SCRIPT_FIELD_UNKNOWN: Final = Kind(
    "DF2130",
    "a scripted answer does not have this field",
    meaning="An answer in a file of scripted answers, or a call in it, has a field that does not exist.",
    example="- {texts: hello}",
    cure="Correct the name of the field.",
)
SCRIPT_FIELD_INVALID: Final = Kind(
    "DF2131",
    "{problem}",
    meaning="A field of an answer in a file of scripted answers is missing, or has a wrong value.",
    example="- tool_calls: [{}]",
    cure="Correct the field at the place in the message.",
)
MODEL_REFUSED: Final = Kind(
    "DF2133",
    "the model refuses to answer: {error}",
    meaning="A model has refused the task; another attempt with the same prompt would be refused as well.",
    example='Chat(model="openai/gpt-5")   # whose answer has only a `refusal`',
    cure="Change the prompt, or choose another model.",
)
ANSWER_EMPTY: Final = Kind(
    "DF2134",
    "the answer is empty: {error}",
    meaning="A model has answered without text and without calls of tools, or without calls it announced.",
    example='Chat(model="ollama_chat/small")   # which ends its answer at once',
    cure="Let the node retry, or choose another model.",
)
SCRIPT_ERROR_UNKNOWN: Final = Kind(
    "DF2132",
    "{name!r} is not an error that a script can raise",
    meaning="`error` of a scripted answer is the name of one of the errors of models in snake case.",
    example="- {error: rate_limit}",
    cure="Use one of the available names.",
)
