"""Chips: the gain or loss of each seat when a deal is settled (parameter `payments` of the rules book), one function per value."""

from __future__ import annotations

from engine.match.data import Data
from engine.rules.parameters import Rules
from engine.rules.verdict import Verdict

Chips = list[int]


def ante_up(state: Data) -> None:
    """Put chips into the pot before the deal: every seat at the table when a contract pot is empty, or all before each deal."""
    rules = state.rules
    if not rules.ante or rules.settlement != "chips":
        return
    if rules.payments is winner_and_songs and (rules.auction != "pot_contract" or state.pot):
        return
    ante = rules.ante
    state.chips = tuple([chips - ante for chips in state.chips])
    state.pot += ante * state.seats
    if state.log is not None:
        state.emit("ante", chips=ante, pot=state.pot)


def share_pot(state: Data) -> None:
    """Share the pot equally among all seats when the match ends.

    The shares are whole numbers: all seats have paid equal antes, and the loser of a pot pays in a whole pot.
    """
    each = state.pot // state.seats
    state.chips = tuple(chips + each for chips in state.chips)
    state.pot = 0


def transfer(chips: Chips, payers: list[int], receiver: int, amount: int) -> None:
    """Let each payer give the receiver this many chips."""
    for seat in payers:
        chips[seat] -= amount
        chips[receiver] += amount


def winner_and_songs(state: Data, verdict: Verdict) -> Chips:
    """Settle arrastrado, C1 to C6: the winner is paid according to the points, songs by everybody, contracts from the pot."""
    rules = state.rules
    chips = [0] * state.seats
    active = list(state.active)
    for seat, _, worth, _ in state.songs_made:
        transfer(chips, [s for s in active if s != seat], seat, worth)
    soloist = state.notes.get("soloist")
    if soloist is not None:
        _pot_deal(state, chips, soloist)
        return chips
    if state.tute_by >= 0:
        transfer(chips, [s for s in active if s != state.tute_by], state.tute_by, rules.tute_payment or 0)
    elif verdict.why == "split":
        points = state.seat_points()
        top = max(points[seat] for seat in active)
        tied = [seat for seat in active if points[seat] == top]
        payers = [seat for seat in active if seat not in tied]
        each = len(payers) * _win_payment(state, tied[0]) // len(tied) if payers else 0
        for seat in tied:
            chips[seat] += each
        rest = each * len(tied)
        for place, seat in enumerate(payers):
            part = rest // len(payers) + (1 if place < rest % len(payers) else 0)
            chips[seat] -= part
    elif verdict.winner is not None:
        seat = verdict.winner
        transfer(chips, [s for s in active if s != seat], seat, _win_payment(state, seat))
    return chips


def _win_payment(state: Data, seat: int) -> int:
    rules = state.rules
    points = state.seat_points()[seat]
    if not rules.double_threshold_counts_songs:
        points -= state.songs[seat]
    return (rules.win_101_payment if points >= 101 else rules.win_payment) or 0


def _pot_deal(state: Data, chips: Chips, soloist: int) -> None:
    others = [seat for seat in state.active if seat != soloist]
    fulfilled = state.tute_by == soloist or (state.tute_by < 0 and state.seat_points()[soloist] >= state.notes["bid"])
    payment = state.rules.contract_payment or 0
    if fulfilled:
        transfer(chips, others, soloist, payment)
        chips[soloist] += state.pot
        state.pot = 0
    else:
        for seat in others:
            transfer(chips, [soloist], seat, payment)
        chips[soloist] -= state.pot
        state.pot *= 2


def lost_contract(rules: Rules, seats: int) -> int:
    """Return the worst score of `winner_and_songs`: all songs and a tute or 101 points of an opponent, or a failed contract for the pot."""
    songs = rules.song_values["trump"] + 3 * rules.song_values["other"]
    lost = max(rules.win_101_payment or 0, rules.tute_payment or 0)
    if rules.auction == "pot_contract":
        others = seats - 1 if rules.dealer_plays else seats - 2
        lost = rules.ante + max(lost, others * (rules.contract_payment or 0) + rules.ante * seats)
    return -songs - lost


def per_five(state: Data, verdict: Verdict) -> Chips:
    """Settle subastado and remate: `unit` chips per five points of the bid, doubled from `double_from`, between soloist and each opponent."""
    rules = state.rules
    chips = [0] * state.seats
    soloist = state.notes.get("soloist")
    if soloist is None:
        return chips
    bid = state.notes["bid"]
    stake = bid // 5 * (rules.unit or 0)
    if rules.double_from is not None and bid >= rules.double_from:
        stake *= 2
    for seat in state.active:
        if seat != soloist:
            gain = stake if verdict.winner == soloist else -stake
            transfer(chips, [seat], soloist, gain)
    return chips


def lost_bid(rules: Rules, seats: int) -> int:
    """Return the worst score of `per_five`: the highest bid, lost to all opponents."""
    bid = rules.max_bid or 0
    doubled = rules.double_from is not None and bid >= rules.double_from
    opponents = seats - 1 if rules.dealer_plays else seats - 2
    return -(bid // 5) * (rules.unit or 0) * (2 if doubled else 1) * opponents


def each_loser_to_each_winner(state: Data, verdict: Verdict) -> Chips:
    """Settle codillo: every seat of the losing side pays `stake` to every seat of the winning one; a soloist alone counts for two."""
    stake = state.rules.stake or 0
    chips = [0] * state.seats
    soloist, partner = state.notes.get("soloist"), state.notes.get("partner")
    if soloist is None:
        return chips
    pair = [soloist] if partner == soloist else [soloist, partner]
    won = soloist not in verdict.losers
    amount = stake * (2 if len(pair) == 1 else 1)
    for seat in state.active:
        if seat not in pair:
            for member in pair:
                transfer(chips, [seat], member, amount if won else -amount)
    return chips


def lost_alone(rules: Rules, seats: int) -> int:
    """Return the worst score of `each_loser_to_each_winner`: a soloist alone, against all others."""
    return -2 * (rules.stake or 0) * (seats - 1)


def pot_per_trick(state: Data, verdict: Verdict) -> Chips:
    """Settle bato: a quarter of the pot for each trick; a seat that fails its commitment pays the pot into the next one."""
    if verdict.why == "passed":
        return [0] * state.seats
    pot = state.pot
    quarter = pot // 4
    chips = [won * quarter for won in state.tricks]
    if verdict.why == "alone":
        chips[state.notes["soloist"]] = pot
    state.pot = pot * len(verdict.losers)
    for seat in verdict.losers:
        chips[seat] -= pot
    return chips


def lost_pot(rules: Rules, seats: int) -> int:
    """Return the worst score of `pot_per_trick`: the ante, and a pot of all antes for no trick."""
    return -rules.ante * (1 + seats)
