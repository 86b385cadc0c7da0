"""`dataflow explain`: the meaning of a code, an example of it and its cure."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_a_code_is_explained(cli: Cli) -> None:
    done = cli("explain", "df1405")
    assert done.code == 0
    head, _, meaning, _, example, shown, _, cure = done.out.splitlines()
    assert head.startswith("DF1405: ")
    assert meaning
    assert (example, shown) == ("Example:", "    dataflow runs prune --older-than yesterday")
    assert cure


def test_a_code_is_explained_as_json(cli: Cli) -> None:
    assert cli("explain", "DF1405", "--json").json.keys() == {"code", "text", "meaning", "example", "cure"}


def test_codes_of_packs_are_explained(cli: Cli) -> None:
    assert cli("explain", "DF2001").out.startswith("DF2001: ")


def test_an_unknown_code_is_wrong_usage_and_similar_ones_are_listed(cli: Cli) -> None:
    done = cli("explain", "DF1499")
    assert (done.code, done.out, done.codes[0]) == (2, "", "DF1435")
    assert {code[:4] for code in done.codes[1:]} == {"DF14"}
