#!/usr/bin/env bash
# The commands of tutorial.md, made from that page by `python -m tests.docs.scripts`. It compares what they print
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

# Without `dataflow` on PATH the project, in whose sources this script lies, is installed first.
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if ! command -v dataflow >/dev/null; then
python3 -m venv .venv
. .venv/bin/activate
pip install "$project"
fi

dataflow --version

cat >party.py <<'END OF FILE'
"""What the nodes of the poster do."""


async def split(text: str) -> list[str]:
    """Take a list of names apart."""
    return [name.strip() for name in text.split(",") if name.strip()]


async def join(names: list[str]) -> str:
    """Put names on one line."""
    return ", ".join(names)
END OF FILE

cat >poster.yaml <<'END OF FILE'
dataflow: 1
name: poster
uses: {party: ./party.py}
inputs:
  guests: {type: string}
nodes:
  split: {type: party.split, inputs: {text: $in.guests}}
  join: {type: party.join, inputs: {names: split}}
outputs: {line: join}
END OF FILE

{
dataflow run poster.yaml --input guests="Ada Lovelace, Grace Hopper"
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
done       split  0.00 s
done       join  0.00 s
line: Ada Lovelace, Grace Hopper
completed in 0.00 s
END OF OUTPUT

cat >>party.py <<'END OF FILE'
async def shorten(name: str) -> str:
    """Turn the first word that is longer into an initial."""
    words = name.split()
    for place, word in enumerate(words):
        if len(word) > 2:
            words[place] = f"{word[0]}."
            break
    return " ".join(words)
END OF FILE

cat >poster.yaml <<'END OF FILE'
dataflow: 1
name: poster
uses: {party: ./party.py}
inputs:
  guests: {type: string}
nodes:
  split: {type: party.split, inputs: {text: $in.guests}}
  short: {type: party.shorten, inputs: {name: {each: split}}}
  join: {type: party.join, inputs: {names: {collect: short}}}
outputs: {line: join}
END OF FILE

{
dataflow run poster.yaml "Ada Lovelace, Grace Hopper"
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
done       split  0.00 s
done       short  2 items  0.00 s
done       join  0.00 s
line: A. Lovelace, G. Hopper
completed in 0.00 s
END OF OUTPUT

cat >>party.py <<'END OF FILE'
async def fits(text: str, width: int) -> bool:
    """Say whether a text fits on a line."""
    return len(text) <= width
END OF FILE

cat >poster.yaml <<'END OF FILE'
dataflow: 1
name: poster
uses: {party: ./party.py}
inputs:
  guests: {type: string}
  width: {type: integer, default: 40}
nodes:
  split: {type: party.split, inputs: {text: $in.guests}}
  squeeze:
    loop:
      limit: 3
      carry:
        names: {first: split, next: {collect: short}}
      until: fits
      nodes:
        join: {type: party.join, inputs: {names: $carry.names}}
        fits: {type: party.fits, inputs: {text: join, width: $in.width}}
        short: {type: party.shorten, inputs: {name: {each: $carry.names}}}
      outputs: {line: join}
outputs: {line: squeeze.line}
END OF FILE

{
dataflow run poster.yaml "Ada Lovelace, Grace Hopper, Edsger Dijkstra"
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
done       split  0.00 s
done       squeeze[0]/join  0.00 s
done       squeeze[0]/fits  0.00 s
done       squeeze[0]/short  3 items  0.00 s
done       squeeze[1]/join  0.00 s
done       squeeze[1]/fits  0.00 s
done       squeeze  0.00 s
line: A. Lovelace, G. Hopper, E. Dijkstra
completed in 0.00 s
END OF OUTPUT

{
dataflow run poster.yaml "Ada Lovelace, Grace Hopper, Edsger Dijkstra" --input width=10
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
done       split  0.00 s
done       squeeze[0]/join  0.00 s
done       squeeze[0]/fits  0.00 s
done       squeeze[0]/short  3 items  0.00 s
done       squeeze[1]/join  0.00 s
done       squeeze[1]/fits  0.00 s
done       squeeze[1]/short  3 items  0.00 s
done       squeeze[2]/join  0.00 s
done       squeeze[2]/fits  0.00 s
done       squeeze  0.00 s
line: A. L., G. H., E. D.
warning: DF0834 squeeze: ended at its limit of 3 rounds, and its test still asked for another
completed in 0.00 s
END OF OUTPUT

cat >>party.py <<'END OF FILE'
def anybody(names: list[str]) -> bool:
    """Say whether there are names at all."""
    return len(names) > 0


async def nobody(names: list[str]) -> str:
    """Say that there are none."""
    return "nobody has said yes so far"
END OF FILE

cat >poster.yaml <<'END OF FILE'
dataflow: 1
name: poster
uses: {party: ./party.py}
inputs:
  guests: {type: string}
  width: {type: integer, default: 40}
nodes:
  split: {type: party.split, inputs: {text: $in.guests}}
  anybody: {type: control.if, config: {predicate: "party:anybody"}, inputs: {value: split}}
  nobody: {type: party.nobody, inputs: {names: anybody.no}}
  squeeze:
    loop:
      limit: 3
      carry:
        names: {first: anybody.yes, next: {collect: short}}
      until: fits
      nodes:
        join: {type: party.join, inputs: {names: $carry.names}}
        fits: {type: party.fits, inputs: {text: join, width: $in.width}}
        short: {type: party.shorten, inputs: {name: {each: $carry.names}}}
      outputs: {line: join}
outputs: {line: {merge: [squeeze.line, nobody]}}
END OF FILE

{
dataflow run poster.yaml "Ada Lovelace, Grace Hopper"
dataflow run poster.yaml ""
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
done       split  0.00 s
done       anybody  0.00 s
skipped    nobody  (port 'names' has no value)
done       squeeze[0]/join  0.00 s
done       squeeze[0]/fits  0.00 s
done       squeeze  0.00 s
line: Ada Lovelace, Grace Hopper
completed in 0.00 s
done       split  0.00 s
done       anybody  0.00 s
skipped    squeeze  (port 'names' has no value)
done       nobody  0.00 s
line: nobody has said yes so far
completed in 0.00 s
END OF OUTPUT

{
dataflow check poster.yaml
dataflow check --import poster.yaml
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
ok: 7 nodes
not looked into without --import: party.split, party:anybody, party.nobody, party.join, party.fits, party.shorten
ok: 7 nodes
END OF OUTPUT

{
sed -e 's/until: fits/until: fit/' -e 's/width: \$in/with: $in/' -e 's/anybody.no}/anybody.none}/' poster.yaml >wrong.yaml
dataflow check --import wrong.yaml || echo "exit code $?"
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
wrong.yaml:10:41: DF0302 nobody.names: node 'anybody' has no output port 'none'; available: yes, no
wrong.yaml:16:7: DF0303 squeeze.until: there is no node 'fit' here; available: join, fits, short, split, anybody, nobody, squeeze
wrong.yaml:19:9: DF0301 fits.width: is required and has neither an edge nor a constant
wrong.yaml:19:55: DF0302 fits.with: node type 'party.fits' has no input port 'with'; available: text, width
exit code 1
END OF OUTPUT

{
dataflow show poster.yaml
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
flow poster
  guests [input]
  width [input]
  split [party.split]  <- guests → text
  anybody [control.if]  <- split → value
  nobody [party.nobody]  <- anybody no → names
  loop squeeze, limit 3, until fits
    names [carry]  <- anybody yes → first, short collect → next
    join [party.join]  <- names → names
    fits [party.fits]  <- join → text, width → width
    short [party.shorten]  <- names each → name
  line [output]  <- nobody merge → line, join merge → line
END OF OUTPUT

cat >poster.py <<'END OF FILE'
"""The flow of poster.yaml, wired in Python."""

import party

from dataflow import Flow, collect, each, merge

with Flow("poster") as poster:
    guests = poster.input("guests", str)
    width = poster.input("width", int, 40)
    names = poster.add(party.split, text=guests)
    anybody = poster.when(names.out, party.anybody)
    nobody = poster.add(party.nobody, names=anybody.no)
    with poster.loop(name="squeeze", limit=3) as squeeze:
        left = squeeze.carry(anybody.yes)
        line = poster.add(party.join, names=left.out)
        fits = poster.add(party.fits, text=line.out, width=width)
        squeeze.until(fits.out, bool)
        short = poster.add(party.shorten, name=each(left.out))
        left.next(collect(short.out))
        text = squeeze.result(line.out)
    poster.output("line", merge(text, nobody.out))

if __name__ == "__main__":
    for guests_of_today in ("Ada Lovelace, Grace Hopper, Edsger Dijkstra", ""):
        print(poster.run_sync(guests=guests_of_today)["line"])
END OF FILE

{
python poster.py
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
A. Lovelace, G. Hopper, E. Dijkstra
nobody has said yes so far
END OF OUTPUT

{
dataflow run poster.py "Ada Lovelace, Grace Hopper" --input width=20
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
done       split  0.00 s
done       when  0.00 s
skipped    nobody  (port 'names' has no value)
done       squeeze[0]/join  0.00 s
done       squeeze[0]/fits  0.00 s
done       squeeze[0]/shorten  2 items  0.00 s
done       squeeze[1]/join  0.00 s
done       squeeze[1]/fits  0.00 s
done       squeeze[1]/shorten  2 items  0.00 s
done       squeeze[2]/join  0.00 s
done       squeeze[2]/fits  0.00 s
done       squeeze  0.00 s
line: A. L., G. H.
completed in 0.00 s
END OF OUTPUT

cat >edit.py <<'END OF FILE'
"""Edit the list of guests, and look at the poster after each change."""

import anyio
from poster import poster


async def edit() -> None:
    async with poster.live(guests="Ada Lovelace", width=20) as session:
        for guests in ("Ada Lovelace", "Ada Lovelace, Grace Hopper", "Ada Lovelace,  Grace Hopper"):
            before = session.counts.called
            await session.update(guests=guests)
            line = await session.get("line")
            print(line, "-", session.counts.called - before, "called")


anyio.run(edit)
END OF FILE

{
python edit.py
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
Ada Lovelace - 4 called
A. L., G. H. - 12 called
A. L., G. H. - 1 called
END OF OUTPUT
