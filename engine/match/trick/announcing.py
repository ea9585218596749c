"""Songs, tutes, claims and capotes, and the windows in which they are made.

Where only the winner of the trick may act in window B, the window and its lead are one turn: announcements, then a card. Where another
seat may act too, the window asks each in turn, and a seat that wants nothing passes. Whether a seat is asked depends only on its own hand
and on public facts, so it learns nothing from being asked; and no event tells the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.match.phase import Phase
from engine.match.scoring import claims as counting
from engine.match.trick import exchanges, legality, tricks

if TYPE_CHECKING:
    from engine.match.state import State
    from engine.rules.parameters import Rules


def merged(rules: Rules) -> bool:
    """Whether window B and the lead of the trick's winner are one turn."""
    return not (
        rules.hand_songs == "winning_side"
        or (rules.exchange == "immediate" and rules.exchange_trigger == "side_just_won")
        or rules.song_trigger == "has_won_any"
        or rules.singing_mandatory
    )


CLAIM = (act.CLAIM,)
SUITS = (0, 1, 2, 3)


# ---- what may be announced


def declarations(state: State, seat: int) -> tuple[int, ...]:
    """Songs and tutes that a seat may declare in window B, as actions."""
    game, hand, sung = state.game, state.hands[seat], state.sung
    suits = [suit for suit in SUITS if game.paired[hand[suit]] and not sung >> suit & 1]
    four = hand[0] & hand[1] & hand[2] & hand[3] & game.tute_mask
    if not suits and not four:  # what most questions come to, so that the rest is for the few
        return ()
    rules, winner = state.rules, state.last_trick
    if winner < 0 or rules.hand_songs == "none" or state.n < rules.song_min_stock or state.capote_by >= 0:
        return ()
    if not _is_singer(state, seat, winner):
        return ()
    if state.notes.get("table_song") and not rules.hand_song_after_table_song:
        return ()
    mine = [points for singer, points in state.window_songs if singer == seat]
    limit = rules.songs_per_trick
    if mine and limit != "many" and len(mine) >= int(limit):
        return ()
    if rules.sing_first_trick_only and _side_tricks(state, seat) != 1:
        return ()
    if rules.song_timing == "before_draw" and state.drawn is not None and (card := state.drawn[seat]) >= 0:
        hand = hand[:]
        hand[state.suit_of[card]] &= ~state.bit_of[card]
        suits = [suit for suit in suits if game.paired[hand[suit]]]
        four = hand[0] & hand[1] & hand[2] & hand[3] & game.tute_mask
    found = [act.SING + suit for suit in suits if _in_order(state, seat, suit, mine)]
    if four and not (rules.tute_first_trick_only and _side_tricks(state, seat) != 1):
        found += [act.TUTE + act.TUTE_RANKS.index(rank) for rank in rules.tute_ranks if four & game.pack.mask(rank)]
    return tuple(found)


def _side_tricks(state: State, seat: int) -> int:
    """Tricks won by the side of a seat."""
    return sum(state.tricks[s] for s in state.active if state.side[s] == state.side[seat])


def _is_singer(state: State, seat: int, winner: int) -> bool:
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


def song_value(state: State, suit: int) -> int:
    """Points of the pair of a suit."""
    return state.rules.song_values["trump" if suit == state.trump else "other"]


def _in_order(state: State, seat: int, suit: int, window: list[int]) -> bool:
    """Whether the order of songs admits this one: it only ever bars the 40."""
    order = state.rules.song_order
    if order == "any" or suit != state.trump or state.rules.song_values["trump"] == state.rules.song_values["other"]:
        return True
    if order == "forty_first":
        return not state.twenties >> seat & 1
    if order == "forty_first_side":
        return not any(state.twenties >> s & 1 for s in range(state.seats) if state.side[s] == state.side[seat])
    return state.rules.song_values["other"] not in window


def may_claim(state: State, seat: int, window: str) -> bool:
    """Whether a seat may claim now that it has the target; `window` is own_turn or post_trick."""
    rules = state.rules
    return (
        rules.claim_mode == "claim"
        and rules.claim_window == window
        and state.game_deal >= rules.claim_from_deal
        and state.capote_by < 0
        and (window == "own_turn" or (state.last_trick >= 0 and state.side[seat] == state.side[state.last_trick]))
    )


def before_card(state: State) -> tuple[int, ...]:
    """What the seat on turn may announce before its card: window B where it is one turn with the lead, and its own turn."""
    game = state.game
    seat, swap = state.turn, state.swap
    found: tuple[int, ...] = ()
    if game.merged and state.best_suit == NO_SUIT and state.last_trick >= 0:
        found = declarations(state, seat)
        swap = state.lead_swap
        if game.window_b_swaps and state.hand[state.trump] & swap:
            found += exchanges.exchanges(state, seat, "after_draw")
        if game.claims_after_trick and may_claim(state, seat, "post_trick"):
            found += CLAIM
    if state.own_turn:
        if state.hand[state.trump] & swap:
            found += tuple([a for a in exchanges.exchanges(state, seat, "own_turn") if a not in found])
        found += state.own_extra
    return found


def fix_turns(state: State) -> None:
    """Notes for the turns to come what every seat may announce and which trumps may be exchanged, so that no turn need ask anew.

    To be called when any of what it looks at changes.
    """
    game = state.game
    lead: tuple[int, ...] = ()
    own: tuple[int, ...] = ()
    if game.claims and state.capote_by < 0 and state.game_deal >= state.rules.claim_from_deal:
        if game.claims_after_trick:
            lead = CLAIM
        else:
            own = CLAIM
    if game.accuses:
        own += (act.ACCUSE,)
    state.own_extra = own
    state.lead_extra = lead + own
    state.swap = state.lead_swap = state.window_swap = 0
    if game.swaps and state.n > 0 and state.shown >= 0:
        state.window_swap = game.swap_masks[state.shown]
        if state.pending < 0:
            state.swap = game.own_swaps[state.shown]
            state.lead_swap = game.lead_swaps[state.shown]


def has_own_turn(rules: Rules) -> bool:
    """Whether seats may announce things at their own turn, following too."""
    return (
        rules.exchange == "deferred"
        or (rules.exchange == "immediate" and rules.exchange_trigger == "own_turn")
        or (rules.claim_mode == "claim" and rules.claim_window == "own_turn")
        or rules.illegal_move == "accuse"
    )


# ---- carrying out


def carry_out(state: State, action: int) -> None:
    """An announcement of the seat on turn. May end the deal."""
    seat = state.turn
    if action < act.TUTE:
        sing(state, seat, action - act.SING)
    elif action < act.EXCHANGE_SEVEN:
        state.tute_by = seat
        rank = act.TUTE_RANKS[action - act.TUTE]
        state.emit("tute", seat=seat, rank=rank, cards=[rank + suit for suit in state.game.pack.suits])
        counting.end_deal(state)
    elif action < act.PASS:
        exchanges.exchange(state, action)
    elif action == act.CLAIM:
        counting.claim(state)
    elif action == act.ACCUSE:
        counting.accuse(state)


def sing(state: State, seat: int, suit: int) -> None:
    """Scores a song from the hand."""
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
    counting.reached_by(state, seat)


def table_songs(state: State) -> None:
    """Pairs that lie in the completed trick score for its winner, without asking."""
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


def table_pairs(state: State) -> list[int]:
    """Suits whose pair lies in the trick on the table."""
    pack, pair = state.game.pack, state.game.pair
    low, high = (pair & -pair).bit_length() - 1, pair.bit_length() - 1  # strengths of the two ranks
    table, size = state.table, pack.size
    return [card // size for card in sorted(table) if card % size == low and card - low + high in table]


# ---- windows


def open_window(state: State, moment: str) -> None:
    """Window A (`before_draw`) or B (`after_draw`): asks the seats that may do something in it, winner of the trick first."""
    game, winner = state.game, state.winner
    state.window = moment
    if game.all_may_sing:
        place = state.active.index(winner)
        state.queue = state.active[place:] + state.active[:place]
    else:
        state.queue = game.side_from[winner]
    next_in_window(state)


def window_options(state: State, seat: int) -> tuple[int, ...]:
    """What a seat may announce in the open window."""
    options = exchanges.exchanges(state, seat, state.window)
    if state.window == "after_draw":
        options = declarations(state, seat) + options
        if state.game.claims_after_trick and may_claim(state, seat, "post_trick"):
            options += CLAIM
    return options


def next_in_window(state: State) -> None:
    """Asks the next seat of the open window that has anything to announce; after the last one the deal goes on."""
    game = state.game
    draws_next = state.window == "before_draw"
    swap, claims, queue = state.window_swap, game.claims_after_trick, state.queue
    hands, trump, paired, tute = state.hands, state.trump, game.paired, game.tute_mask
    for place, seat in enumerate(queue):
        # most seats hold nothing to announce, and that is quickly seen: no exchange, no pair, no four of a rank
        hand = hands[seat]
        if not (claims or hand[trump] & swap):
            if draws_next:
                continue
            a, b, c, d, _ = hand
            if not (paired[a] or paired[b] or paired[c] or paired[d] or a & b & c & d & tute):
                continue
        if window_options(state, seat):
            state.queue = queue[place:]
            state.ask(seat, WINDOW)
            return
    state.queue = ()
    state.window = ""
    state.phase = None
    state.turn = state.winner
    if draws_next:
        tricks.after_window_a(state)
    else:
        tricks.next_lead(state)


def _window_legal(state: State) -> tuple[int, ...]:
    options = window_options(state, state.turn)
    if state.rules.singing_mandatory and any(a < act.EXCHANGE_SEVEN for a in options):
        return options
    return (*options, act.PASS)


def _window_act(state: State, action: int) -> None:
    if action == act.PASS:
        state.queue = state.queue[1:]
    else:
        deal = state.deal_no
        carry_out(state, action)
        if state.is_over or state.deal_no != deal:
            return
    next_in_window(state)


WINDOW = Phase("window", _window_legal, _window_act)


# ---- capote


def ask_capote(state: State) -> None:
    """The stock has just run out: the winner of the trick, then the others, may promise to win all remaining tricks."""
    place = state.active.index(state.winner)
    state.queue = state.active[place:] + state.active[:place]
    state.ask(state.winner, CAPOTE)


def _capote_act(state: State, action: int) -> None:
    if action == act.CAPOTE:
        state.capote_by = state.turn
        fix_turns(state)
        state.emit("capote", seat=state.turn)
        state.queue = ()
    else:
        state.queue = state.queue[1:]
        if state.queue:
            state.ask(state.queue[0], CAPOTE)
            return
    state.turn = state.winner
    state.phase = None
    tricks.window_b(state)


CAPOTE = Phase("capote", lambda state: (act.CAPOTE, act.PASS), _capote_act)
