"""Whole matches: when they end, who wins, who leaves, and what an illegal card costs where it is let through."""

from __future__ import annotations

import json
import random

import pytest

import engine
from engine.cards import actions as act
from engine.match.redaction import EventRecord
from engine.match.scoring import claims
from engine.match.scoring.settlement import LONGEST_MATCH
from engine.rules.terms import CARDS_PER_MINUTE
from tests.support import playing, tables

MATCH_OPTIONS = {
    "match_end", "match_games", "win_by", "max_losses", "final_duel", "settlement", "games_per_coto", "cotos_to_win", "sequence",
    "match_deals", "target", "dealer_plays", "tie", "result",
}  # fmt: skip
SMALL = 13  # longer matches would only be slow


def tables_of_matches() -> list[tables.Table]:
    """Return every game at every table, and with every option that affects the match."""
    chosen = [
        table
        for table in tables.once()
        if table.options[0][0] in MATCH_OPTIONS
        and all(type(value) is not int or value <= SMALL or name == "target" for name, value in table.options)
        and (table.options[0][0] != "target" or table.options[0][1] <= 60)
    ]
    return [*tables.plain(), *chosen]


def scores(state: engine.State) -> list[EventRecord]:
    return [event for event in state.events if event["e"] == "score"]


@tables.on_games(tables_of_matches())
def test_a_match_ends_when_its_rules_say_so(key: str, group: list[tables.Table]) -> None:
    """Not a deal earlier, not a deal later, judged by the score events alone; and the winners are those who did best."""
    for table in group:
        with tables.note_table(table):
            check_end(table)


def check_end(table: tables.Table) -> None:
    game = table.load()
    state = game.new_match(seed=f"whole {table}")
    for _ in playing.play(state, f"whole {table}", limit=40_000):
        pass
    assert state.is_over
    counts = scores(state)
    if len(counts) == LONGEST_MATCH:
        assert not contradicts(game)
        return
    if game.rules.match_end == "clock":
        assert [cards >= game.rules.match_minutes * CARDS_PER_MINUTE for cards in cards_played(state)] == [
            *(False for _ in counts[:-1]),
            True,
        ]
    else:
        for event in counts[:-1]:
            assert not ended(game, counts, event), event
        assert ended(game, counts, counts[-1])
    over = state.events[-1]
    assert over["e"] == "over"
    assert over["winners"] == list(state.winners)
    assert over["scores"] == state.scores()
    check_winners(game, state, counts[-1])


def cards_played(state: engine.State) -> list[int]:
    """Return, for each deal, the cards played by its end since the start of the match."""
    sums, cards = [], 0
    for event in state.events:
        cards += event["e"] == "play"
        if event["e"] == "score":
            sums.append(cards)
    return sums


def contradicts(game: engine.Game) -> bool:
    """Return True if a match of these rules must end long before."""
    return game.rules.match_end in ("deals", "sequence") or (
        game.rules.match_end == "race" and game.rules.tie != "drawn"
    )


def ended(game: engine.Game, counts: list[EventRecord], event: EventRecord) -> bool:
    """Return True if the match is over after this deal: `match_end` of the rules book."""
    rules = game.rules
    played_deals = counts[: counts.index(event) + 1]
    games = sorted(event["games"], reverse=True)
    if rules.match_end == "race":
        return games[0] >= rules.match_games and games[0] - games[1] >= rules.win_by
    if rules.match_end == "series":
        finished = sum(1 for past in played_deals if past["value"] or past["why"] == "tie")
        return finished >= rules.match_games and (rules.win_by < 2 or games[0] - games[1] >= 2)
    if rules.match_end == "deals":
        return len(played_deals) >= rules.match_deals
    if rules.match_end == "losses":
        return max(event["marks"]) >= rules.max_losses
    if rules.match_end == "elimination":
        gone = [seat for past in played_deals for seat in past["eliminated"]]
        return game.players - len(gone) < (2 if rules.final_duel else 3)
    if rules.match_end == "sequence":
        most = {"tutecillo": 40, "podrida52": 52}[rules.preset] // game.players
        return len(played_deals) == (most if rules.sequence == "up" else 2 * most - 1)
    assert rules.match_end == "cotos"
    cotos, current = [0] * len(game.sides), [0] * len(game.sides)
    for past in played_deals:
        if past["winner"] is not None and past["value"]:
            current[past["winner"]] += past["value"]
            if current[past["winner"]] >= rules.games_per_coto:
                cotos[past["winner"]] += 1
                current = [0] * len(game.sides)
    return max(cotos) >= rules.cotos_to_win


def check_winners(game: engine.Game, state: engine.State, last: EventRecord) -> None:
    """Check the sides that won against the last score event."""
    kind, winners = game.rules.match_end, list(state.winners)
    if kind in ("race", "series"):
        top = max(last["games"])
        best = [side for side, games in enumerate(last["games"]) if games == top]
        assert winners == (best if len(best) == 1 else [])
    elif kind == "elimination":
        remaining = [seat for seat in range(game.players) if not state.left_at[seat]]
        assert winners == (remaining or last["eliminated"])
        assert state.scores() == ranks(state)
    elif kind == "sequence":
        assert winners == [side for side, score in enumerate(state.scores()) if score == max(state.scores())]


def ranks(state: engine.State) -> list[int]:
    """Return two points for every seat that left earlier, and one for every other seat that left in the same deal or stayed too."""
    place = [at or 10**6 for at in state.left_at]
    seats = range(state.seats)
    return [
        sum(
            2 if place[seat] > place[other] else 1 if place[seat] == place[other] else 0
            for other in seats
            if other != seat
        )
        for seat in seats
    ]


@pytest.mark.parametrize("duel", [False, True])
@pytest.mark.parametrize("key", ["cabrero", "chancho"])
def test_six_become_five_four_three_and_two(key: str, duel: bool) -> None:
    """The rules of each deal are those for the seats that are left; with a final duel the last two play Tute de a dos."""
    met: set[tuple[int, int, int]] = set()
    for seed in range(12):
        state = engine.load(key, players=6, final_duel=duel).new_match(seed=seed)
        seats_left, two_left = 6, False
        for event in walk(state, seed):
            if event["e"] == "deal":
                sizes = [len(hand) for hand in event["hands"] if hand]
                met.add((seats_left, len(sizes), sizes[0]))  # seats left, seats in the deal, cards each
                assert (
                    sum(map(len, event["hands"]))
                    + len(event["rest"])
                    + (event["shown"] is not None and event["holder"] is None)
                    == 40
                )
                two_left = seats_left == 2
            elif event["e"] == "score":
                seats_left -= len(event["eliminated"])
        assert len(state.winners) in ((1,) if two_left else (1, 2, 3, 4, 5, 6))
        engine.replay.verify(json.loads(json.dumps(engine.replay.make(state))))
    expected = {(6, 5, 8), (5, 5, 8), (4, 4, 10), (3, 3, 13)} | ({(2, 2, 6)} if duel else set())
    assert met == expected


def walk(state: engine.State, seed: object) -> list[EventRecord]:
    """Return the events of a match played at random."""
    for _ in playing.play(state, seed, limit=20_000):
        pass
    return state.events


# ---- illegal cards where they are let through


def illegal_card(state: engine.State) -> int | None:
    """Return a card of the hand that may not be played now."""
    if state.phase is not None:
        return None
    return next((card for card in state.hand_of(state.turn) if card not in state.legal_actions()), None)


def played_to_a_revoke(game: engine.Game, seed: int) -> tuple[engine.State, int]:
    """Return a match up to a moment at which the seat to play holds an illegal card, and that card."""
    state = game.new_match(seed=seed)
    rng = random.Random(seed)
    while (card := illegal_card(state)) is None:
        state.apply(rng.choice([a for a in state.legal_actions() if a < act.PLAY_END] or list(state.legal_actions())))
    return state, card


REVOKE_TABLES = [
    table
    for table in tables.once()
    if table.options[0][0] == "illegal_move" and table.options[0][1] not in ("reject", "accuse")
]


@pytest.mark.parametrize("table", REVOKE_TABLES, ids=str)
def test_an_illegal_card_costs_what_the_option_says(table: tables.Table) -> None:
    game = table.load()
    for seed in range(3):
        state, card = played_to_a_revoke(game, seed)
        seat, deal = state.turn, state.deal_no
        state.apply(card)
        penalties = [
            event for event in state.events if event["e"] in ("revoke", "score") and event.get("deal", deal) == deal
        ]
        revoke, score = penalties[-2:] if penalties[-1]["e"] == "score" else penalties[-3:-1]
        assert (revoke["seat"], revoke["card"]) == (seat, game.pack.text(card))
        assert score["why"] == "revoke"
        if game.rules.illegal_move == "lose_game":
            assert score["winner"] not in (None, game.side[seat])
            assert score["value"] == 1
        else:
            assert score["losers"] == [seat]
            if game.players == 2:
                assert score["scores"][seat] < score["scores"][1 - seat]
            assert score["marks"][seat] == (2 if game.rules.illegal_move == "two_marks" else 1)
            assert sum(score["marks"]) == score["marks"][seat] + 0
        engine.replay.verify(json.loads(json.dumps(engine.replay.make(state))))


def first_card(state: engine.State) -> int:
    """Return the first legal card; where no card is asked for, the first legal action."""
    return state.legal_actions()[0]


ACCUSED = ["cabrero", "chancho", "a_dos"]  # the games with accusations


@pytest.mark.parametrize("key", ACCUSED)
def test_a_revoke_is_found_by_accusation_only(key: str) -> None:
    game = engine.load(key, illegal_move="accuse")
    state, card = played_to_a_revoke(game, 1)
    offender = state.turn
    state.apply(card)
    assert state.deal_no == 1
    assert card not in state.hand_of(offender)
    assert not any(event["e"] == "revoke" for event in state.events)
    while state.turn == offender:
        state.apply(first_card(state))
    accuser = state.turn
    state.apply(act.ACCUSE + offender)
    assert state.events[-1]["e"] != "accuse"
    score = scores(state)[-1]
    assert score["losers"] == [offender]
    assert score["marks"][offender] == 2
    assert score["marks"][accuser] == 0
    engine.replay.verify(json.loads(json.dumps(engine.replay.make(state))))


@pytest.mark.parametrize("key", ["cabrero", "chancho"])
def test_a_seat_that_has_revoked_itself_accuses_another_one(key: str) -> None:
    """The tricks of everybody are looked through (001 25d), so the accuser's own revoke hides no other."""
    game = engine.load(key, illegal_move="accuse")
    for seed in range(60):
        state = game.new_match(seed=seed)
        while state.deal_no == 1 and len(state.revokers) < 2 and not state.is_over:
            cards = [card for card in state.hand_of(state.turn) if card not in state.legal_actions()]
            revokes = cards and state.phase is None and state.turn not in state.revokers
            state.apply(cards[0] if revokes else first_card(state))
        if state.deal_no == 1 and len(state.revokers) == 2:
            break
    first, second = state.revokers
    while state.turn != first:
        state.apply(first_card(state))
    assert state.deal_no == 1
    state.apply(act.ACCUSE + second)
    score = scores(state)[-1]
    assert (score["losers"], score["marks"][second], score["marks"][first]) == ([second], 2, 0)
    engine.replay.verify(json.loads(json.dumps(engine.replay.make(state))))


@pytest.mark.parametrize("deals", [1, 3, 8])
def test_remate_for_marks_and_a_number_of_deals_ranks_by_its_marks(deals: int) -> None:
    for seed in range(12):
        state = playing.finished(
            engine.load("remate", settlement="loss_marks", match_end="deals", match_deals=deals), seed
        )
        fewest = min(state.marks)
        assert state.deal_no == deals
        assert state.winners == tuple(seat for seat, marks in enumerate(state.marks) if marks == fewest)
        ranks = [sum(2 * (own < other) + (own == other) for other in state.marks) - 1 for own in state.marks]
        assert list(state.score) == ranks


@pytest.mark.parametrize("key", ACCUSED)
def test_every_seat_may_accuse_any_other_after_the_last_card(key: str) -> None:
    """001:75: whoever notices a revoke accuses, so the deal is counted only when nobody does. The last trick may be the one with the revoke."""
    game = engine.load(key, illegal_move="accuse")
    for seed in range(40):
        state = game.new_match(seed=seed)
        while state.phase is not claims.ACCUSING:
            card = illegal_card(state) if state.left <= 2 * state.size else None
            state.apply(first_card(state) if card is None else card)
        if state.revokers:
            break
    offender = state.revokers[0]
    questions = []
    while state.phase is claims.ACCUSING and state.turn != state.active[-1]:
        questions.append(state.turn)
        others = [act.ACCUSE + seat for seat in sorted(state.active) if seat != state.turn]
        assert state.legal_actions() == (act.PASS, *others)
        state.apply(act.PASS)
    assert [*questions, state.turn] == list(state.active)
    counted = state.clone()
    counted.apply(act.PASS)
    assert counted.verdict.why == "points"
    last = state.turn
    state.apply(act.ACCUSE + (offender if offender != last else questions[0]))
    score = scores(state)[-1]
    proven = offender != last or questions[0] in state.revokers
    assert (score["why"], sum(score["marks"])) == (("revoke", 2) if proven else ("accusation", 1))
    engine.replay.verify(json.loads(json.dumps(engine.replay.make(state))))


def test_an_accusation_proves_nothing_about_another_seat() -> None:
    state, card = played_to_a_revoke(engine.load("cabrero", illegal_move="accuse"), 1)
    offender = state.turn
    state.apply(card)
    accuser = state.turn
    innocent = next(seat for seat in state.active if seat not in (offender, accuser))
    state.apply(act.ACCUSE + innocent)
    score = scores(state)[-1]
    assert (score["losers"], score["why"]) == ([accuser], "accusation")


@pytest.mark.parametrize("order", ["13RCS76542", "13RSC76542"])
@pytest.mark.parametrize("penalty", ["reject", "two_marks", "accuse"])
def test_the_duel_keeps_ranks_duties_and_penalties(order: str, penalty: str) -> None:
    options = {"illegal_move": penalty, "no_load": True, "rank_order": order}
    duel = engine.load("cabrero", final_duel=True, **options).for_seats(2)
    assert duel.key == "a_dos"
    assert {name: duel.options_all[name] for name in options} == options
    assert duel.origin.revision == 3


def test_an_accusation_without_proof_costs_the_accuser_a_mark() -> None:
    state = engine.load("cabrero", illegal_move="accuse").new_match(seed=4)
    accuser = state.turn
    state.apply(act.ACCUSE + (accuser + 1) % 4)
    score = scores(state)[-1]
    assert score["losers"] == [accuser]
    assert score["marks"][accuser] == 1
    assert score["why"] == "accusation"


# ---- declarations in play


@tables.on_games(tables.of_a_deal())
def test_songs_are_sung_once_and_from_the_hand(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            check_songs(table)


def check_songs(table: tables.Table) -> None:
    """Check every deal: each pair at most once, both cards in hand, after a trick, 40 for trumps, never too many after one trick."""
    game = table.load()
    rules = game.rules
    state = game.new_match(seed=f"songs {table}", deals=2)
    rng = random.Random(str(table))
    sung: set[str] = set()
    since_trick: list[int] = []
    tricks = 0
    for _ in range(500):
        if state.is_over:
            break
        legal = state.legal_actions()
        announced = [action for action in legal if act.SING <= action < act.TUTE]
        action = rng.choice(announced) if announced else playing.choose(state, rng)
        if action in announced:
            seat, suit, trump = state.turn, action - act.SING, state.trump
            hand = {game.pack.text(card) for card in state.hand_of(seat)}
            letter = game.pack.suits[suit]
            assert {rank + letter for rank in rules.pair_ranks} <= hand
            assert letter not in sung
            assert tricks > 0
            assert state.n >= rules.song_min_stock
            since_trick.append(seat)
            if rules.songs_per_trick != "many":
                assert since_trick.count(seat) <= int(rules.songs_per_trick)
        start = len(state.events)
        state.apply(action)
        for event in state.events[start:]:
            if event["e"] == "deal":
                sung, since_trick, tricks = set(), [], 0
            elif event["e"] == "trick":
                since_trick, tricks = [], tricks + 1
            elif event["e"] == "song":
                assert event["suit"] not in sung
                sung.add(event["suit"])
                if not event.get("table"):
                    assert event["points"] == rules.song_values["trump" if suit == trump else "other"]
