#!/usr/bin/env bash
# The commands of packs.md, made from that page by `python -m tests.docs.scripts`. It compares what they print
# with what the page shows.
set -euo pipefail

printed=$(mktemp)
trap 'rm -f "$printed"' EXIT

# Durations differ from run to run.
timeless() {
    sed -E 's/[0-9]+([.][0-9]+)? s$/N s/' "$@"
}

page_shows() {
    diff -u --label "what the page shows" --label "what was printed" <(timeless) <(timeless "$printed")
}

mkdir -p shout/src/shout_pack
cat >shout/src/shout_pack/texts.py <<'END OF FILE'
"""Node types for texts."""


async def shout(text: str, times: int = 1) -> str:
    """Write a text in capitals, with `times` exclamation marks.

    Raises ValueError if `times` is negative.
    """
    if times < 0:
        raise ValueError(f"times must be 0 or more, found {times}")
    return text.upper() + "!" * times
END OF FILE

mkdir -p shout/src/shout_pack
cat >shout/src/shout_pack/__init__.py <<'END OF FILE'
"""A pack of node types that are loud."""

from dataflow import Pack

pack = Pack("loud", version="1.0", api=1, nodes={"shout": "shout_pack.texts:shout"})
END OF FILE

mkdir -p shout
cat >shout/pyproject.toml <<'END OF FILE'
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "shout-pack"
version = "1.0"
dependencies = ["dataflow-engine"]

[project.entry-points."dataflow.packs"]
loud = "shout_pack:pack"

[tool.hatch.build.targets.wheel]
packages = ["src/shout_pack"]
END OF FILE

{
pip install --quiet ./shout
dataflow nodes loud
dataflow nodes loud.shout
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
loud (shout-pack 1.0)
  loud.shout
loud.shout
  Write a text in capitals, with `times` exclamation marks.

  Raises ValueError if `times` is negative.

inputs
  text: str
  times: int = 1

outputs
  out: str
END OF OUTPUT

cat >greeting.yaml <<'END OF FILE'
dataflow: 1
name: greeting
inputs: {name: {type: string}}
nodes:
  text: {type: control.template, config: {template: "hello {{ name }}"}, inputs: {name: $in.name}}
  loud: {type: loud.shout, inputs: {text: text}, values: {times: 3}}
outputs: {text: loud}
END OF FILE

{
dataflow check greeting.yaml
dataflow run greeting.yaml Ada
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
ok: 2 nodes
done       text  0.00 s
done       loud  0.00 s
text: HELLO ADA!!!
completed in 0.00 s
END OF OUTPUT

mkdir -p shout/src/shout_pack
cat >shout/src/shout_pack/diagnostics.py <<'END OF FILE'
"""Problems of the pack."""

from dataflow.authoring import Kind

TIMES_NEGATIVE = Kind(
    "SH0001",
    "cannot write a negative number of exclamation marks",
    expected="0 or more",
    meaning="The port `times` of `loud.shout` has a negative number.",
    example="loud: {type: loud.shout, inputs: {text: $in.text}, values: {times: -1}}",
    cure="Give 0 or a positive number.",
)
END OF FILE

mkdir -p shout/src/shout_pack
cat >shout/src/shout_pack/texts.py <<'END OF FILE'
"""Node types for texts."""

from dataflow import ArgumentInvalid

from shout_pack.diagnostics import TIMES_NEGATIVE


async def shout(text: str, times: int = 1) -> str:
    """Write a text in capitals, with `times` exclamation marks.

    Raises ArgumentInvalid if `times` is negative.
    """
    if times < 0:
        raise ArgumentInvalid(TIMES_NEGATIVE("times", port="times", found=times))
    return text.upper() + "!" * times
END OF FILE

mkdir -p shout/src/shout_pack
cat >shout/src/shout_pack/__init__.py <<'END OF FILE'
"""A pack of node types that are loud."""

from dataflow import Pack
from dataflow.authoring import kinds_of

from shout_pack import diagnostics

pack = Pack(
    "loud",
    version="1.1",
    api=1,
    nodes={"shout": "shout_pack.texts:shout"},
    diagnostics=kinds_of(diagnostics),
)
END OF FILE

{
pip install --quiet ./shout
sed 's/times: 3/times: -3/' greeting.yaml >quiet.yaml
dataflow run quiet.yaml Ada || echo "exit code $?"
dataflow explain SH0001
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
done       text  0.00 s
failed     loud  0.00 s
failed: loud: ArgumentInvalid: SH0001 times: cannot write a negative number of exclamation marks; expected 0 or more, found -3
exit code 1
SH0001: cannot write a negative number of exclamation marks; expected 0 or more

The port `times` of `loud.shout` has a negative number.

Example:
    loud: {type: loud.shout, inputs: {text: $in.text}, values: {times: -1}}

Give 0 or a positive number.
END OF OUTPUT

mkdir -p broken
cat >broken/pyproject.toml <<'END OF FILE'
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "broken-pack"
version = "0.3"

[project.entry-points."dataflow.packs"]
broken = "broken_pack:pack"

[tool.hatch.build.targets.wheel]
packages = ["broken_pack"]
END OF FILE

mkdir -p broken/broken_pack
cat >broken/broken_pack/__init__.py <<'END OF FILE'
import a_library_that_is_not_there
END OF FILE

{
pip install --quiet ./broken
dataflow nodes broken
dataflow run greeting.yaml Ada
DATAFLOW_DISABLE_PACKS=loud dataflow run greeting.yaml Ada || echo "exit code $?"
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
broken (broken-pack 0.3): error: DF0428 broken_pack:pack: cannot be imported: ModuleNotFoundError: No module named 'a_library_that_is_not_there'
done       text  0.00 s
done       loud  0.00 s
text: HELLO ADA!!!
completed in 0.00 s
error: greeting.yaml:6:10: DF1315 loud: loud.shout: pack 'loud' of shout-pack 1.0: is disabled by DATAFLOW_DISABLE_PACKS=loud
exit code 1
END OF OUTPUT
