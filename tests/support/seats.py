"""A person's table, as if held by a worker whose bots always take their first choice."""

from __future__ import annotations

import engine
from engine.runner.table import Question, Taken
from league.domain.ratings import pools
from league.domain.tables import holding, people
from league.models import BotVersion, Rating, Table, TablePerson
from tests.support.league import NOW


def hold(row: Table) -> tuple[holding.TableLease, engine.State]:
    """Claim the table as a worker; its bots play until the person is to move."""
    lease = holding.claim("host:1")
    assert lease is not None
    assert lease.row.pk == row.pk
    game = engine.load(row.pool.game)
    seed = engine.board_seed(lease.secret, game.key, f"table-{row.public_id}", 1)
    state, actions = game.new_match(seed=seed), []
    while state.current_seat != 0 or len(state.legal_actions()) == 1:
        action = state.legal_actions()[0]
        if len(state.legal_actions()) > 1:
            actions.append(Taken(state.current_seat, game.action_text(action)))
        state.apply(action)
    legal = [game.action_text(action) for action in state.legal_actions()]
    hand = [game.pack.texts[card] for card in state.hand_of(0)]
    holding.ask(lease, Question(len(actions), 1, legal, hand, engine.redact(state.events, 0), []), actions)
    return lease, state


def person(row: Table) -> TablePerson:
    """Return the only person at a table, as the database has them now."""
    return TablePerson.objects.get(table=row)


def names(row: Table) -> list[str]:
    """Return the name at each seat."""
    return people.view(row, None).names


def bots(row: Table) -> dict[int, str]:
    """Return the bot of each seat."""
    return dict(people.view(row, None).bots)


def rated(version: BotVersion, game: str, elo: float) -> None:
    """Give a version a rating in a game."""
    kinds = {
        "boards": 9,
        "opponents": 3,
        "score": 0.5,
        "points_per_board": 0,
        "faults": 0,
        "rank_best": 1,
        "rank_worst": 3,
    }
    Rating.objects.create(
        pool=pools.pool(game), version=version, elo=elo, margin=10, provisional=False, updated=NOW, **kinds
    )
