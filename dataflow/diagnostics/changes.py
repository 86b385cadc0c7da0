"""Problems of changes to a flow that has runs: resuming, forks and live sessions (DF12)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

FLOW_EDITED: Final = Kind(
    "DF1201",
    "the flow was edited after parts of it were settled: {edits}",
    hint="pass edited='keep' to keep what was settled, or edited='recompute' to run it again",
    meaning="A run is resumed with a flow that has changed in parts that the run has already settled.",
    example="dataflow resume RUN   # after a node that had ended was edited",
    cure="Say with `edited` whether settled values are kept or computed again.",
)
CHANGE_UNKNOWN: Final = Kind(
    "DF1202",
    "nothing can be changed under {key!r}",
    meaning="A fork changes inputs, answers, config fields and models by keys; this is not one of them.",
    example='flow.fork(run, changes={"$in.cuont": 3})',
    cure="Use one of the available keys: `$in.NAME`, the id of an ask, `NODE.config.FIELD` or `model`.",
)
MODEL_NOT_NAMED: Final = Kind(
    "DF1203",
    "no config of the flow names a model, so there is none to change",
    meaning="The key `model` changes the model in each config that names one, and no config does.",
    example='flow.fork(run, changes={"model": "large"})   # of a flow without chats',
    cure="Leave the key out, or change a field of a config: `NODE.config.FIELD`.",
)
CHANGE_NOT_FOUND: Final = Kind(
    "DF1204",
    "was changed by a fork, and is no longer in the flow",
    meaning="A run is a fork with a changed config, and the flow no longer has the node or the field.",
    example="flow.resume(fork)   # after the node whose config the fork changed was removed",
    cure="Put the node or field back, or fork the original run again.",
)
CHANGE_NOT_JSON: Final = Kind(
    "DF1205",
    "cannot be kept as JSON: {error}",
    meaning="A fork keeps the config fields that it changes as JSON, and this value has no JSON form.",
    example='flow.fork(run, changes={"draw.config.style": print})',
    cure="Change the field in the flow instead, and fork with the edited flow.",
)
ANSWER_ASKED_AGAIN: Final = Kind(
    "DF1206",
    "depends on other changes, so the fork asks again",
    hint="leave this answer out, and answer when the fork asks",
    meaning="A fork cannot change the answer to an ask that it opens again because of another change.",
    example='flow.fork(run, changes={"first": 2, "second": 1})   # where `second` is asked after `first`',
    cure="Fork without the later answer, and resume the fork with it.",
)
CODE_CHANGED: Final = Kind(
    "DF1207",
    "the code of the node has changed; its stored value is reused",
    meaning="A run is resumed or forked after the code of a node changed that had already ended.",
    example="dataflow resume RUN   # after a function was edited",
    cure="Pass `edited='recompute'` to call the node again.",
)
