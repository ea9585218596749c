"""Every game of the engine can be played between processes, and its replays hold."""

import json

import pytest

import engine
from engine.game import games
from engine.runner import BotSpec
from engine.runner.evidence.replays import check
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from tests.support.bots import match
from tests.support.parts import mostly_slow


@pytest.mark.parametrize("game", mostly_slow(games(), ("two_player", "subastado").__contains__))
def test_one_deal_of_every_game(game: str, box: Sandbox, honest: BotSpec) -> None:
    parties = len(engine.load(game).sides)

    result = play_match(match(*[honest] * parties, game=game, boards=1, deals=1), box)

    assert [report.faults for report in result.parties] == [[]] * parties
    assert result.boards[0].complete
    for sitting in result.boards[0].sittings:
        check(json.loads(json.dumps(sitting.replay)))
