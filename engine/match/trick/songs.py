"""Songs and tutes: which seat may declare which, and the value of a song."""

from __future__ import annotations

from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.match.data import Data
from engine.match.scoring import claims
from engine.match.trick import legality

SUITS = (0, 1, 2, 3)


def declarations(state: Data, seat: int) -> tuple[int, ...]:
    """Return the songs and tutes that a seat may declare in window B, as actions."""
    game, hand, sung = state.game, state.hands[seat], state.sung
    suits = [suit for suit in SUITS if game.paired[hand[suit]] and not sung >> suit & 1]
    four = hand[0] & hand[1] & hand[2] & hand[3] & game.tute_mask
    if not suits and not four:  # the usual case, so it comes first
        return ()
    rules, winner = state.rules, state.last_trick
    if winner < 0 or rules.hand_songs == "none" or state.n < rules.song_min_stock or state.capote_by >= 0:
        return ()
    if not _is_singer(state, seat, winner):
        return ()
    if state.notes.get("table_song") and not rules.hand_song_after_table_song:
        return ()
    own_songs = [points for singer, points in state.window_songs if singer == seat]
    limit = rules.songs_per_trick
    if own_songs and limit != "many" and len(own_songs) >= int(limit):
        return ()
    if rules.sing_first_trick_only and _side_tricks(state, seat) != 1:
        return ()
    if rules.song_timing == "before_draw" and state.drawn is not None and (card := state.drawn[seat]) >= 0:
        hand = hand[:]
        hand[state.suit_of[card]] &= ~state.bit_of[card]
        suits = [suit for suit in suits if game.paired[hand[suit]]]
        four = hand[0] & hand[1] & hand[2] & hand[3] & game.tute_mask
    actions = [act.SING + suit for suit in suits if _in_order(state, seat, suit, own_songs)]
    if four and not (rules.tute_first_trick_only and _side_tricks(state, seat) != 1):
        actions += [act.TUTE + act.TUTE_RANKS.index(rank) for rank in rules.tute_ranks if four & game.pack.mask(rank)]
    return tuple(actions)


def _side_tricks(state: Data, seat: int) -> int:
    """Return the tricks won by the side of a seat."""
    return sum(state.tricks[s] for s in state.active if state.side[s] == state.side[seat])


def _is_singer(state: Data, seat: int, winner: int) -> bool:
    rules = state.rules
    if rules.song_trigger == "has_won_any":
        return state.tricks[seat] > 0
    who = rules.hand_songs
    if who == "winning_side":
        return state.side[seat] == state.side[winner]
    if seat != winner:
        return False
    if who == "soloist":
        return seat == state.notes.get("soloist")
    if who == "soloist_side":
        return seat in (state.notes.get("soloist"), state.notes.get("partner"))
    return True


def song_value(state: Data, suit: int) -> int:
    """Return the points of the pair of a suit."""
    return state.rules.song_values["trump" if suit == state.trump else "other"]


def _in_order(state: Data, seat: int, suit: int, window: list[int]) -> bool:
    """Return True if the order of songs allows this one. An order never forbids anything but the 40."""
    order = state.rules.song_order
    if order == "any" or suit != state.trump or state.rules.song_values["trump"] == state.rules.song_values["other"]:
        return True
    if order == "forty_first":
        return not state.twenties >> seat & 1
    if order == "forty_first_side":
        return not any(state.twenties >> s & 1 for s in range(state.seats) if state.side[s] == state.side[seat])
    return state.rules.song_values["other"] not in window


def may_claim(state: Data, seat: int, window: str) -> bool:
    """Return True if a seat may claim now that it has the target; `window` is own_turn or post_trick."""
    rules = state.rules
    return (
        rules.claim_mode == "claim"
        and rules.claim_window == window
        and state.game_deal >= rules.claim_from_deal
        and state.capote_by < 0
        and (window == "own_turn" or (state.last_trick >= 0 and state.side[seat] == state.side[state.last_trick]))
    )


def sing(state: Data, seat: int, suit: int) -> int:
    """Score a song from the hand, which may end the game."""
    points = song_value(state, suit)
    state.songs[seat] += points
    state.songs_made += ((seat, suit, points, False),)
    state.sung |= 1 << suit
    state.window_songs += ((seat, points),)
    if suit != state.trump:
        state.twenties |= 1 << seat
    hidden = state.rules.hide_arrastre_twenty and state.n == 0 and suit != state.trump
    if hidden:
        state.notes = state.notes | {"hidden_songs": (*state.notes.get("hidden_songs", ()), suit)}
    if state.log is not None:
        cards = [rank + state.game.pack.suits[suit] for rank in state.rules.pair_ranks]
        secret = {"secret": {"suit": [seat], "cards": [seat]}} if hidden else {}
        state.emit("song", seat=seat, suit=state.game.pack.suits[suit], points=points, cards=cards, **secret)
    return claims.reached_by(state, seat)


def table_songs(state: Data) -> None:
    """Score the pairs that lie in the completed trick for its winner, without asking."""
    winner = state.winner
    pairs = table_pairs(state)
    if not pairs:
        if state.notes.get("table_song"):
            state.notes = state.notes | {"table_song": False}
        return
    rules = state.rules
    if rules.two_table_songs == "best_only" and len(pairs) > 1:
        pairs = [max(pairs, key=lambda suit: song_value(state, suit))]
    state.notes = state.notes | {"table_song": True}
    for suit in pairs:
        if rules.table_songs == "forced_first_40":
            points = 20 if state.notes.get("table_pairs") else 40
        else:
            points = song_value(state, suit)
        state.notes = state.notes | {"table_pairs": state.notes.get("table_pairs", 0) + 1}
        state.songs[winner] += points
        state.songs_made += ((winner, suit, points, True),)
        state.sung |= 1 << suit
        letter = state.game.pack.suits[suit]
        state.emit(
            "song", seat=winner, suit=letter, points=points, cards=[r + letter for r in rules.pair_ranks], table=True
        )
        if rules.trump_source == "first_table_pair" and state.trump == NO_SUIT:
            legality.set_trump(state, suit)
            state.emit("trump", suit=letter)


def table_pairs(state: Data) -> list[int]:
    """Return the suits whose pair lies in the trick on the table."""
    pack, pair = state.game.pack, state.game.pair
    low, high = (pair & -pair).bit_length() - 1, pair.bit_length() - 1  # strengths of the two ranks
    table, size = state.table, pack.size
    return [card // size for card in sorted(table) if card % size == low and card - low + high in table]
