"""File formats of other systems, each a pack with the node types that its flows need.

A system has the same modules, in the order in which a file passes through them:

1. `file`: the parts of a file, and reading them (cagent: with `reader`; hifide: with `config`, the configs of
   nodes and the options)
2. `order`, or `layout` in clickweave: loops, and the order in which the nodes run; before it the checks and
   the look-ups of the system: `checks`, `calls` and `conditions`, `agents`, `subagents`, `wires`
3. `writer`: the native document
4. `translation`: `FORMAT`, which recognises a file, runs the steps above, and notes remarks
5. `nodes`: the node types of the document
6. `words`, or `trace` and `folders` in clickweave: a run reported as the system reports it
7. `listing`: the pack, found by entry point
"""

from __future__ import annotations
