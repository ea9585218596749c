"""`tute bot check` leads a bot through what comes up once in a hundred boards."""

import json
from pathlib import Path

import pytest

from engine.runner import trial
from tests.engine.cli.conftest import Tute
from tests.support.parts import mostly_slow

PICKY = """from tute_bot import Bot, run


class Picky(Bot):
    def act(self, view, legal):
        for action in legal:
            if action.startswith({word!r}):
                return {answer!r}
        return legal[0]


run(Picky())
"""


@pytest.mark.parametrize(
    ("game", "word", "answer"),
    mostly_slow(
        [
            ("partnership", "sing", "sing x"),
            ("bato", "discard", "discard 1o 1o"),
            ("corriente", "exchange", "exchange Ro"),
        ],
        lambda case: case[0] == "corriente",
    ),
)
def test_a_bot_that_errs_in_a_rare_decision_is_told_where(
    game: str, word: str, answer: str, tute: Tute, tmp_path: Path
) -> None:
    (tmp_path / "picky.py").write_text(PICKY.format(word=word, answer=answer))

    report_json = json.loads(tute("bot", "check", "picky.py", "-g", game, "--no-sandbox", "--json", code=1).stdout)

    faults = [fault for report in report_json["tables"] for fault in report["faults"]]
    rare = [fault for fault in faults if fault["at"] not in ("match", "start")]
    assert {fault["kind"] for fault in faults} == {"illegal_action"}
    assert rare
    assert all(word in fault["at"] for fault in rare)
    assert all(word in json.loads(fault["request"])["legal"][-1] + fault["request"] for fault in rare)
    assert all(json.loads(fault["answer"])["do"] == answer for fault in rare)


@pytest.mark.slow
def test_a_good_bot_comes_through_and_is_told_what_it_met(tute: Tute) -> None:
    report = json.loads(tute("bot", "check", "random", "-g", "corriente", "--json").stdout)
    text = tute("bot", "check", "random", "-g", "corriente").stdout

    (table,) = report["tables"]
    assert report["holds"] is True
    assert min(table["situations"][name] for name in ("play", "sing", "exchange", "claim")) >= trial.EACH
    assert not set(table["missed"]) & table["situations"].keys()
    assert "then the rare decisions of each game" in " ".join(text.split())
