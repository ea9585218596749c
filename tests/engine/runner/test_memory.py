"""A bot that is built to recognise deals it has played before gains nothing by it; and it would have, had the referee let it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.stats import PartyStanding, standing
from engine.runner import BotSpec, Limits, MatchResult
from engine.runner import match as referee
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from tests.engine.runner.conftest import Maker
from tests.support import elephant
from tests.support.bots import match
from tests.support.parts import mostly_slow

BOARDS = 12
PATIENT = Limits(start_s=10, move_s=5, bank_s=20, memory_mb=256)
Elephants = Callable[..., BotSpec]


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Return a folder that every user may write and pass."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    for above in folder.parents:
        if above.stat().st_uid == folder.stat().st_uid and str(above) not in ("/", "/tmp"):
            above.chmod(above.stat().st_mode | 0o011)
    return folder


@pytest.fixture
def bot(make: Maker, shared: Path) -> Elephants:
    def make_elephant(*more: str, recalls: bool, through_suits: bool = True) -> BotSpec:
        name = f"{'elephant' if recalls else 'twin'}_{'through' if through_suits else 'literal'}"
        text = elephant.source(shared, *more, recalls=recalls, through_suits=through_suits)
        return make(name=name, source=text)

    return make_elephant


def play(box: Sandbox, *parties: BotSpec) -> MatchResult:
    spec = replace(match(*parties, boards=BOARDS, limits=PATIENT), secret=b"what an elephant has seen".ljust(32))
    result = play_match(spec, box)
    assert [report.faults for report in result.parties] == [[], []]
    return result


def actions(result: MatchResult) -> list[list[str]]:
    return [sitting.replay["actions"] for board in result.boards for sitting in board.sittings]


def ahead(result: MatchResult) -> PartyStanding:
    return standing([board.scores for board in result.boards], 0)


def recollections(result: MatchResult) -> tuple[int, int]:
    """Return how many deals the first party stored, and how many it recognised, over all its processes."""
    words = [line.split() for line in result.parties[0].stderr.splitlines() if line.startswith("kept")]
    return sum(int(word[1]) for word in words), sum(int(word[3]) for word in words)


def nothing_left(shared: Path) -> None:
    """Check that no file of an elephant is left in any of the places where it tried."""
    for place in (shared, *filter(None, elephant.EVERYWHERE)):
        assert not list(Path(place).glob(f"{elephant.MARK}*")), f"a bot wrote in {place}"


@pytest.mark.parametrize("through_suits", mostly_slow([True, False], bool))
def test_an_elephant_gains_nothing(box: Sandbox, bot: Elephants, shared: Path, through_suits: bool) -> None:
    """Under the real referee it plays card by card like its twin, which remembers nothing: it stored every deal and recognised none."""
    twin = bot(recalls=False)
    with_memory = play(box, bot(*elephant.EVERYWHERE, recalls=True, through_suits=through_suits), twin)
    without = play(box, bot(recalls=False, through_suits=through_suits), twin)

    assert actions(with_memory) == actions(without)
    assert [board.scores for board in with_memory.boards] == [board.scores for board in without.boards]
    stored, recognised = recollections(with_memory)
    assert (stored, recognised) == (BOARDS * 4, 0)  # two seats in each of two passes
    nothing_left(shared)


def test_it_would_gain_if_files_outlived_a_process_and_suits_stayed(
    state_dir: Path, bot: Elephants, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The experiment that shows that the first test can fail: no sandbox, and the same suits in every sitting."""
    monkeypatch.setattr(referee, "suits_of", lambda game, seed, sitting: None)
    open_box = Sandbox(tier="none", state_dir=state_dir)
    result = play(open_box, bot(recalls=True, through_suits=False), bot(recalls=False))

    lead = ahead(result)
    assert recollections(result)[1] == BOARDS * 2, "it knows all deals of the second pass"
    assert lead.clear, lead
    assert lead.difference > 0, lead


@pytest.mark.slow
def test_exchanged_suits_alone_stop_a_bot_that_looks_for_the_same_cards(
    state_dir: Path, bot: Elephants, shared: Path
) -> None:
    """The second lock: even with files from process to process the very cards do not come again. Seeing through the suits then would help."""
    open_box = Sandbox(tier="none", state_dir=state_dir)
    twin = bot(recalls=False)
    literal = play(open_box, bot(recalls=True, through_suits=False), twin)
    assert actions(literal) == actions(play(open_box, twin, twin))
    assert recollections(literal)[1] == 0
    for file in shared.iterdir():
        file.unlink()

    clever = play(open_box, bot(recalls=True, through_suits=True), twin)
    lead = ahead(clever)
    assert recollections(clever)[1] == BOARDS * 2
    assert lead.clear, lead
    assert lead.difference > 0, lead


def test_the_elephant_knows_what_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its program recognises a deal through exchanged suits only where told to, and finds in files what it kept there."""
    monkeypatch.delenv("ELEPHANT", raising=False)
    elephant_pack = [rank + suit for suit in "oceb" for rank in "24567SCR31"]
    scope: dict[str, object] = {}
    text = elephant.source(tmp_path, recalls=True).split("deal, plays, seat")[0]
    exec(compile(text, "elephant", "exec"), scope)  # our own source
    old = {"hands": [["1o", "3c"], ["Re"], ["2b"], ["4o"]], "dealer": 3, "shown": "4o"}
    deal = {"hand": ["1c", "3b"], "dealer": 3, "shown": "4c"}
    assert scope["same_deal"](old, deal, 0)[0] == ["1c", "3b"]  # type: ignore[operator]
    scope["THROUGH_SUITS"] = False
    assert scope["same_deal"](old, deal, 0) is None  # type: ignore[operator]
    whole = {"hands": [elephant_pack[n::4] for n in range(4)], "dealer": 2, "shown": "4o"}
    scope["keep"](whole)  # type: ignore[operator]
    scope["kept"].clear()  # type: ignore[attr-defined]
    monkeypatch.delenv("ELEPHANT")
    (back,) = scope["remembered"]()  # type: ignore[operator]
    assert [sorted(hand) for hand in back["hands"]] == [sorted(hand) for hand in whole["hands"]]
