"""The rules of a `Game` as plain numbers, worked out once: the kernel reads these instead of words, mappings and functions.

A word of the rules book becomes a number of `codes`. Rules with any other word are not covered (NotCoveredError), and `State.apply` plays their
games. Card masks have one bit a card.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, final

from engine.rules.sizes import deal_sizes
from engine.rules.terms import CARDS_PER_MINUTE
from engine.search.kernel import codes
from engine.search.kernel.codes import number
from engine.search.masks import places, words

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.cards.pack import Pack
    from engine.rules.parameters import Rules
    from engine.rules.terms import Terms

TUTE_RANKS: Final = ("R", "C", "S")


@final
class Cards:
    """The pack: masks and tables by card number or suit."""

    def __init__(self, pack: Pack, points: list[int], suit_map: tuple[int, ...]) -> None:
        numbers = range(len(pack.texts))
        # The order of the shuffle, in the suits that are played with.
        deck = [suit_map[card // pack.size] * pack.size + card % pack.size for card in pack.cards]
        self.size: i64 = len(deck)
        self.deck: vec[i64] = words(deck)
        self.place: vec[i64] = words(places())
        self.bit: vec[i64] = words([2**card for card in numbers])
        self.byte: vec[i64] = words([256**place for place in range(8)])
        self.suit_of: vec[i64] = words([*pack.suit, *(0 for _ in range(52 - len(pack.suit)))])
        self.points: vec[i64] = words(points)
        self.suit: vec[i64] = words([sum(2**c for c in numbers if pack.suit[c] == suit) for suit in range(5)])
        self.all: i64 = sum(2**card for card in pack.cards)
        # Masks of the cards of each point value, the least first.
        self.least: i64 = sum(2**card for card in numbers if points[card] == min(points))
        self.worth = [sum(2**card for card in numbers if points[card] == value) for value in sorted(set(points))]
        self.two: i64 = pack.card("2", 0)  # The numbers of 2o and 4o; -1 if the pack lacks the card.
        self.four: i64 = pack.card("4", 0)


@final
class Duties:
    """The duties of followers, and trumps that move."""

    def __init__(self, game: Terms) -> None:
        rules = game.rules
        if rules.on_trump is not None and number(rules.on_trump, {"vtt_cycle": 0}) == 0:
            cycle = dict(rules.trump_cycle or {})
            self.cycles: bool = True
            self.cycle: vec[i64] = words([game.pack.suits.index(cycle[suit]) for suit in game.pack.suits])
        else:
            self.cycles = False
            self.cycle = words([0] * 4)
        # numbers of `engine.rules.following`
        self.open: i64 = game.open_rule.duty
        self.empty: i64 = game.empty_rule.duty


@final
class Songs:
    """Songs from hands and on the table."""

    def __init__(self, game: Terms) -> None:
        rules, pack = game.rules, game.pack
        low = (game.pair & -game.pair).bit_length() - 1
        self.low: i64 = sum(2 ** (suit * pack.size + low) for suit in range(4)) if game.pair else 0
        self.shift: i64 = game.pair.bit_length() - 1 - low if game.pair else 1
        ranks = rules.tute_ranks if rules.tute == "wins" else ""
        self.tutes: vec[i64] = words(
            [sum(2 ** pack.card(rank, suit) for suit in range(4)) if rank in ranks else 0 for rank in TUTE_RANKS]
        )
        self.tute: bool = bool(ranks)
        self.who: i64 = number(rules.hand_songs, codes.HAND_SONGS)
        self.order: i64 = number(rules.song_order, codes.SONG_ORDER)
        self.limit: i64 = 99 if rules.songs_per_trick == "many" else int(rules.songs_per_trick)
        self.trump: i64 = rules.song_values["trump"]
        self.other: i64 = rules.song_values["other"]
        self.min_stock: i64 = rules.song_min_stock
        self.before_draw: bool = rules.song_timing == "before_draw"
        self.any_winner: bool = game.all_may_sing
        self.first_trick_only: bool = rules.sing_first_trick_only
        self.tute_first_trick_only: bool = rules.tute_first_trick_only
        self.mandatory: bool = rules.singing_mandatory
        self.after_table_song: bool = rules.hand_song_after_table_song
        self.table: i64 = number(rules.table_songs, codes.TABLE_SONGS)
        self.best_only: bool = rules.two_table_songs == "best_only"
        self.makes_trump: bool = rules.trump_source == "first_table_pair"
        self.capote: bool = rules.capote == "announced"
        # For games that a side may win in the middle of a deal.
        self.target: i64 = (rules.target or 0) if rules.result.__name__ == "to_target" else -1
        self.has_target: bool = rules.target is not None
        self.tracks: bool = game.tracks_target
        self.auto: bool = rules.claim_mode == "auto"
        self.claim_from: i64 = rules.claim_from_deal
        self.hides: bool = rules.hide_arrastre_twenty


@final
class Swaps:
    """Exchanges of the shown card."""

    def __init__(self, game: Terms) -> None:
        rules = game.rules
        seven, two, barred = [0] * 52, [0] * 52, [0] * 52
        for card, allowed in enumerate(game.swaps):
            suit = game.pack.suit[card]
            for bit, code, after_exchange in allowed:
                giver = bit << suit * game.pack.size
                barred[card] = int(after_exchange)
                if code < 64:
                    seven[card] = giver
                else:
                    two[card] = giver
        self.seven: vec[i64] = words(seven)  # For each shown card, the card to give for it.
        self.two: vec[i64] = words(two)
        self.barred: vec[i64] = words(barred)  # 1 if the card cannot be taken once it lies there by an exchange
        moments = game.exchange_moments
        self.before_lead: bool = "before_first_lead" in moments
        self.before_draw: bool = "before_draw" in moments
        self.after_draw: bool = "after_draw" in moments
        self.own_turn: bool = "own_turn" in moments
        self.deferred: bool = rules.exchange == "deferred"
        self.trigger: i64 = number(rules.exchange_trigger, codes.TRIGGERS)
        self.min_stock: i64 = max(1, rules.exchange_min_stock)
        self.must: bool = rules.exchange_duty == "must"


def _by_size(number: int) -> list[int]:
    """Return the subsets of a hand of this many cards, small subsets first, padded to 32."""
    subsets = [
        sum(2**place for place in some) for size in range(number + 1) for some in combinations(range(number), size)
    ]
    return subsets + [0] * (32 - len(subsets))


@final
class DealRules:
    """Dealing, auctions and the other stages before the first lead."""

    def __init__(self, game: Terms) -> None:
        rules = game.rules
        self.by_number: bool = rules.hand_size == "deal_no"
        sizes = deal_sizes(rules, game.players) if self.by_number else [int(rules.hand_size)]
        self.sizes: vec[i64] = words(sizes)
        self.length: i64 = len(sizes)
        self.source: i64 = number(rules.trump_source, codes.TRUMP_SOURCES)
        self.full_last: bool = rules.full_deal_trump == "last_card_of_dealer"
        self.coins_start: bool = rules.coins_start
        self.coins_first: bool = rules.first_deal == "coins_2o"
        self.draws: bool = rules.draw != "none"
        self.uses_stock: bool = self.draws or rules.discard_draw_max > 0
        self.batches: bool = rules.supply == "batches"
        self.shown_drawn: bool = bool(rules.shown_card_drawn)
        self.dealer_plays: bool = rules.dealer_plays
        self.next_dealer: i64 = number(rules.next_dealer, codes.NEXT_DEALER)
        self.stages: vec[i64] = words([number(stage, codes.STAGES) for stage in game.stages])
        self.n_stages: i64 = len(game.stages)
        self.min_bid: i64 = rules.min_bid or 0
        self.max_bid: i64 = rules.max_bid or 0
        self.bid_step: i64 = rules.bid_step
        self.single_round: bool = rules.auction_rounds == "single"
        self.passed_is_ordinary: bool = rules.all_pass == "ordinary_deal"
        self.same_dealer: bool = rules.all_pass == "same_dealer"
        self.soloist_leads: bool = rules.first_leader == "soloist"
        self.calls_own: bool = rules.call_own_card == "solo"
        self.passed_may_join: bool = rules.passed_may_join is not False
        self.discard_max: i64 = rules.discard_draw_max
        # Subsets of a hand of up to five cards are numbers below 32. First a mask of the subsets of each size; then a
        # mask of the subsets of each hand size; then, for each hand size, 32 subsets in order: small ones first,
        # equal sizes as in `itertools.combinations`.
        self.subsets: vec[i64] = words([sum(2**s for s in range(32) if s.bit_count() == n) for n in range(6)])
        self.subsets_of: vec[i64] = words([2 ** (2**cards) - 1 for cards in range(6)])
        self.by_size: vec[i64] = words([subset for cards in range(6) for subset in _by_size(cards)])
        self.reshuffles: bool = rules.stock_exhausted == "reshuffle_out_hands"
        self.takes_shown: bool = rules.dealer_takes_shown
        self.hook: bool = bool(rules.hook)


@final
class Counts:
    """The result of a deal."""

    def __init__(self, rules: Rules) -> None:
        self.result: i64 = number(rules.result, codes.RESULTS)
        self.tie: i64 = number(rules.tie, codes.TIES)
        self.middle: i64 = number(rules.middle_rule, codes.MIDDLE)
        self.both_reach: i64 = number(rules.both_reach, codes.BOTH_REACH)
        self.soloists: bool = rules.sides.startswith("soloist")
        self.last_bonus: i64 = rules.last_trick_bonus
        self.last_optional: bool = rules.last_trick_optional
        self.target: i64 = rules.target or 0
        self.min_card_points: i64 = rules.min_card_points
        self.spoiled: bool = rules.capote_spoiled_by_song
        self.table_spoiled: bool = rules.capote_spoiled_by_song and rules.capote_spoiled_by_table_song
        self.by_soloist: i64 = rules.tricks_soloist or 0
        self.by_joiner: i64 = rules.tricks_joiner or 0
        self.hit_or_miss: bool = rules.prediction_score == "hit_or_miss"


@final
class Stakes:
    """The value of a decided deal, and the end of the match."""

    def __init__(self, game: Terms) -> None:
        rules = game.rules
        self.settlement: i64 = number(rules.settlement, codes.SETTLEMENTS)
        self.payments: i64 = number(rules.payments, codes.PAYMENTS)
        self.unit: i64 = number(rules.score_unit, codes.SCORE_UNITS)
        self.doubles: bool = rules.double_at_101
        self.double_with_song: i64 = rules.double_threshold_with_song
        self.has_target: bool = rules.target is not None
        self.drawn: bool = rules.tie == "drawn"
        self.match_end: i64 = number(rules.match_end, codes.MATCH_ENDS)
        self.match_games: i64 = rules.match_games
        self.win_by: i64 = rules.win_by
        self.match_cards: i64 = CARDS_PER_MINUTE * (rules.match_minutes or 0)
        self.games_per_coto: i64 = rules.games_per_coto or 1
        self.cotos_to_win: i64 = rules.cotos_to_win or 1
        self.match_deals: i64 = rules.match_deals or 1
        self.max_losses: i64 = rules.max_losses or 1
        self.final_duel: bool = rules.final_duel
        self.in_duel: bool = rules.key == rules.duel_game and rules.final_duel
        self.chips_unit: i64 = rules.unit or 0
        self.double_from: i64 = 9999 if rules.double_from is None else rules.double_from
        self.stake: i64 = rules.stake or 0
        self.ante: i64 = rules.ante
        self.contract_pot: bool = rules.auction == "pot_contract"
        self.win: i64 = rules.win_payment or 0
        self.win_101: i64 = rules.win_101_payment or 0
        self.threshold_counts_songs: bool = rules.double_threshold_counts_songs
        self.tute: i64 = rules.tute_payment or 0
        self.contract: i64 = rules.contract_payment or 0


@final
class Program:
    """The rules of one game with one naming of the suits. Raises NotCoveredError."""

    def __init__(self, game: Terms, suit_map: tuple[int, ...]) -> None:
        self.game = game
        self.suit_map = suit_map
        self.spare: list[Any] = []  # States of finished playouts, for use in the next playouts.
        self.pack_size: i64 = game.pack.size
        self.players: i64 = game.players
        self.sides: i64 = len(game.sides)
        self.side: vec[i64] = words(game.side)
        self.simple: bool = game.simple
        self.merged: bool = game.merged
        self.speaks: bool = game.speaks
        self.own_turn: bool = game.has_own_turn
        self.claims_own: bool = game.claims == "own_turn"
        self.claims_after: bool = game.claims_after_trick
        self.accuses: bool = game.accuses
        self.cards: Cards = Cards(game.pack, game.card_points, suit_map)
        self.duties: Duties = Duties(game)
        self.songs: Songs = Songs(game)
        self.swaps: Swaps = Swaps(game)
        self.deals: DealRules = DealRules(game)
        self.counts: Counts = Counts(game.rules)
        self.stakes: Stakes = Stakes(game)
