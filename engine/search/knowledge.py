"""The knowledge of one seat, gathered from the events that it receives. It turns a seat's view into deals and a `State`.

    knowledge = Knowledge(game, seat)
    knowledge.follow(events)                 # redacted events, from the deal on, in any number of parts
    knowledge.asked(legal)                   # the legal answers of the seat, now that it is asked
    state = knowledge.state(knowledge.deals().deal(dice))

It keeps a `State` in which the others hold only cards that they have shown. The rules carry out each event in it, so points, duties, totals and
questions are the engine's own. The rules also say what a play proves: the hand held no card that would have made the played one illegal. Each card
can be tested alone, because an obligation is a list of classes of cards, of which the first that is not empty is legal.

Each part should end where the seat is asked: an exchange before a draw is recognised by the events that follow it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.errors import EngineError
from engine.match import flow, steps
from engine.match.hands import give
from engine.match.opening import dealing
from engine.match.scoring import claims
from engine.match.trick import exchanges, legality, songs, tricks, windows
from engine.rules.following import FREE
from engine.search.deals import BITS, AtMost, Deal, Deals, Facts, suits_sung

if TYPE_CHECKING:
    from engine.game import Game
    from engine.match.redaction import EventRecord
    from engine.match.state import State

FILLER = "4"  # Rank of the cards that stand for unseen cards: no song, tute or exchange needs it.
SILENT = ("window", "exchange", "capote", "accusing")  # questions that may be declined without an event


class Knowledge:
    """The knowledge of a seat. Give it every event of a board that the seat receives, in order."""

    def __init__(self, game: Game, seat: int, deals: int | None = None) -> None:
        """deals: number of deals of a board; None: the game's own number."""
        self.game = game
        self.seat = seat
        self.deals_of_board = game.board_deals if deals is None else deals
        self.table: State | None = None  # The match as this seat knows it; other hands hold only cards that were shown.
        self.known: list[int] = []  # The cards that each seat, this one included, certainly holds.
        self.counts: list[int] = []
        self.unseen = 0
        self.away = 0
        self.proofs: list[
            list[list[int]]
        ] = []  # Proofs about each seat, the earliest first: [cards, how many of them the seat may hold by now].
        self.not_all: list[tuple[int, int]] = []
        self.sung: list[
            tuple[int, int, dict[int, int]]
        ] = []  # Hidden songs: index in songs_made, seat, cards that it must hold by suit.
        self._upcoming: list[EventRecord] = []  # the events after the present one

    # ---- deals and states

    def deals(self) -> Deals:
        """Return the deals that agree with everything known, equally likely. Raises EngineError if no deal agrees, or before the first deal."""
        _ = self._require_table()
        need = [count - certain.bit_count() for count, certain in zip(self.counts, self.known, strict=True)]
        barred = [0] * len(need)
        at_most = []
        for seat, layers in enumerate(self.proofs):
            for cards, number in layers:
                if number <= 0:
                    barred[seat] |= cards
                elif number < need[seat]:
                    at_most.append(AtMost(seat, cards & self.unseen, number))
        sung = [(seat, cards) for _, seat, cards in self.sung]
        return Deals(Facts(self.known, need, self.unseen, barred, at_most, self.not_all, sung, self.away))

    def state(self, deal: Deal) -> State:
        """Return the present state of the match, with the hidden cards as in a deal. Later deals are random."""
        state = self._require_table().clone()
        if self.deals_of_board is not None:
            state.deals = max(self.deals_of_board, state.deal_no)
        self._pass_over_others(state)
        pack = state.game.pack
        state.hands = [pack.hand(cards) for cards in deal.hands]
        state.hand = state.hands[state.turn]
        state.stock = deal.stock[:]
        notes = state.notes
        if "put_away" in notes and deal.away:
            own = tuple([card for card in notes["put_away"] if not self.unseen & BITS[card] and card >= 0])
            state.notes = notes | {"put_away": own + tuple(deal.away)}
        called = notes.get("called", -1)
        if called >= 0:
            for seat, cards in enumerate(deal.hands):
                if called in cards:
                    state.notes = state.notes | {"partner": seat}
        if state.drawn is not None:
            # The card drawn last may be any card that the seat did not have before.
            state.drawn = [
                card if seat == self.seat or card < 0 else _last(deal.hands[seat], self.known[seat])
                for seat, card in enumerate(state.drawn)
            ]
        if self.sung:
            whole = [sum([BITS[card] for card in cards]) for cards in deal.hands]
            suits = suits_sung([(seat, cards) for _, seat, cards in self.sung], whole) or ()
            songs = list(state.songs_made)
            for (place, seat, _), suit in zip(self.sung, suits, strict=False):
                songs[place] = (seat, suit, songs[place][2], False)
                state.sung |= 1 << suit
            state.songs_made = tuple(songs)
            state.notes = state.notes | {"hidden_songs": tuple(suits)}
        state.legal = None
        if state.phase is None and not state.is_over:
            state.extra = windows.before_card(state) if state.game.speaks else ()
        return state

    # ---- the course of the match

    def follow(self, events: Iterable[EventRecord]) -> None:
        """Take in events. Raises EngineError for an event that is impossible after the earlier ones."""
        waiting = list(events)
        self._upcoming = waiting
        if self.table is not None:
            self.table.stock = self._stock(len(self.table.stock))
        for place, event in enumerate(waiting):
            self._upcoming = waiting[place + 1 :]
            kind = event["e"]
            if kind == "deal":
                self._deal(event)
            elif self.table is not None:
                handler = _HANDLERS.get(kind)
                if handler is not None:
                    handler(self, event)
        self._upcoming = []

    def asked(self, legal: Sequence[str]) -> None:
        """Take in that this seat is asked now, with these legal answers: so all silent questions before have been declined."""
        state = self._require_table()
        for _ in range(4 * state.seats):
            self._pass_over_others(state)
            here = state.game
            if state.phase is None or state.turn != self.seat or state.phase.name not in SILENT:
                if not state.in_trick:
                    self._unsung(state)
                return
            if {here.action_text(action) for action in state.legal_actions()} == set(legal):
                return
            self._pass(state)

    def _require_table(self) -> State:
        if self.table is None:
            raise EngineError("nothing is known before the first deal")
        return self.table

    def _deal(self, event: EventRecord) -> None:
        state = self.table
        if state is None or event["deal"] == 1:
            state = self.game.new_match(seed=0, record=False)
            state.dealer = event["dealer"]
            dealing.seat_the_deal(state)
            self.table = state
        pot = state.pot
        state.is_over = False
        state.begin_deal()
        state.pot = pot
        state.chips = tuple(event["chips"])
        game, rules, pack = state.game, state.rules, state.game.pack
        hand = [pack.parse(text) for text in event["hand"]]
        self.counts = list(event["counts"])
        self.known = [0] * state.seats
        self.known[self.seat] = _mask(hand)
        self.unseen = _mask(pack.cards) & ~_mask(hand)
        self.away = 0
        self.proofs = [[] for _ in range(state.seats)]
        self.not_all, self.sung = [], []
        state.hands = [[0] * (NO_SUIT + 1) for _ in range(state.seats)]
        state.hands[self.seat] = pack.hand(hand)
        state.shown = self._shown_card(state, event)
        state.holder = -1 if event["holder"] is None else event["holder"]
        state.trump = NO_SUIT if event["trump"] is None else pack.parse_suit(event["trump"])
        state.n = event["stock"]
        lies = rules.trump_source in ("turned_stock", "centre_card") and sum(self.counts) < len(pack.cards)
        state.stock = self._stock(len(pack.cards) - sum(self.counts) - (1 if lies else 0))
        state.left = sum(self.counts) + state.n
        state.size = len(state.active)
        if state.shown >= 0:
            if state.holder < 0 or state.holder == self.seat:
                self.unseen &= ~BITS[state.shown]
            else:
                self._has(state.holder, state.shown)
        state.own_turn = game.has_own_turn
        if rules.first_deal == "coins_2o" and event["deal"] == 1:
            state.mano = event["mano"]
            place = state.active.index(state.mano)
            state.active = state.active[place:] + state.active[:place]
        if rules.coins_start:
            state.notes = {"leader": self._leader()}
        state.stage = 0
        state.turn = state.mano
        state.hand = state.hands[state.turn]
        state.phase = None
        flow.run(state, steps.STAGE)

    def _shown_card(self, state: State, event: EventRecord) -> int:
        """Return the shown card. In the first deal of cabrero the first event after the deal names it."""
        if event["shown"] is not None:
            return state.game.pack.parse(event["shown"])
        following = self._upcoming[0] if self._upcoming else {}
        if state.rules.first_deal == "coins_2o" and event["deal"] == 1 and following.get("e") in ("reveal", "exchange"):
            text = following.get("shown") or (following.get("gives") if following["e"] == "exchange" else None)
            return -1 if text is None else state.game.pack.parse(text)
        return -1

    def _leader(self) -> int:
        """Return the seat that leads because it holds 2o: this seat, or the seat that plays the first card."""
        pack = self.game.pack
        if self.known[self.seat] & BITS[pack.parse("2o")]:
            return self.seat
        for event in self._upcoming:
            if event["e"] == "play":
                self._has(event["seat"], pack.parse("2o"))
                return int(event["seat"])
        return (self.seat + 1) % self.game.players

    def _stock(self, size: int) -> list[int]:
        """Return a face-down stock of unseen cards, except for the cards that this seat draws in the events at hand."""
        pack = self._require_table().game.pack
        filler = pack.card(FILLER, 0) if FILLER in pack.ranks else pack.cards[0]
        stock = [filler] * size
        place = size
        for event in self._upcoming:
            if event["e"] == "deal":
                break
            if event["e"] == "draw" and not event.get("shown"):
                place -= 1
                if event.get("card") is not None and place >= 0:
                    stock[place] = pack.parse(event["card"])
        return stock

    # ---- cards come to light

    def _has(self, seat: int, card: int) -> None:
        """Record that a card was seen in a hand."""
        self._leaves_the_dark(seat, card)
        self.known[seat] |= BITS[card]

    def _leaves_the_dark(self, seat: int, card: int) -> None:
        bit = BITS[card]
        if not self.unseen & bit:
            return
        self.unseen &= ~bit
        for layer in self.proofs[seat]:
            if layer[0] & bit:
                layer[1] -= 1  # The card was drawn after the proof.

    def _gives(self, seat: int, card: int) -> None:
        """Record that a card leaves a hand and everybody sees it."""
        self._leaves_the_dark(seat, card)
        self.known[seat] &= ~BITS[card]
        self.counts[seat] -= 1
        self._no_longer_sung(seat, card)

    def _no_longer_sung(self, seat: int, card: int) -> None:
        """Drop a card from hidden songs: the singer need not hold it any longer; if another seat had it, it was not part of the song."""
        for number, (place, singer, cards) in enumerate(self.sung):
            bit = BITS[card]
            if singer == seat:
                remaining = {suit: mask & ~bit for suit, mask in cards.items()}
            else:
                remaining = {suit: mask for suit, mask in cards.items() if not mask & bit}
            self.sung[number] = (place, singer, remaining)

    def _rule_out(self, seat: int, cards: int) -> None:
        """Record that a seat holds none of these hidden cards now. Later it may draw any of them."""
        if not cards:
            return
        layers = self.proofs[seat]
        for layer in layers:
            layer[0] |= cards
        if not layers or layers[-1][1]:
            layers.append([cards, 0])

    # ---- events

    def _answer(self, seat: int, action: int) -> None:
        """Carry out an action of a seat; questions before it were declined in silence."""
        state = self._require_table()
        self._decline(seat)
        state.legal = (action,)
        state.apply(action)

    def _decline(self, seat: int = -1) -> None:
        """Decline the open questions that nobody answered by an event, up to the question to a seat."""
        state = self._require_table()
        while state.phase is not None and state.phase.name in SILENT and (state.turn != seat):
            self._pass(state)

    def _draws_next(self, seat: int = -1) -> None:
        """Close the window before the draw, up to the question to a seat."""
        state = self._require_table()
        while state.phase is windows.WINDOW and state.window == "before_draw" and state.turn != seat:
            self._pass(state)

    def _pass(self, state: State) -> None:
        state.legal = (act.PASS,)
        if state.phase is exchanges.PHASE or state.phase is not windows.WINDOW:
            state.apply(act.PASS)
            return
        state.queue = state.queue[1:]
        flow.run(state, windows.next_in_window(state))

    def _pass_over_others(self, state: State) -> None:
        while state.phase is not None and state.phase.name in SILENT and state.turn != self.seat:
            self._pass(state)

    def _play(self, event: EventRecord) -> None:
        state = self._require_table()
        seat, card = event["seat"], state.game.pack.parse(event["card"])
        self._decline()
        if not state.in_trick:
            self._unsung(state)
            if state.turn != seat:  # only the leader knew that it leads
                state.turn = seat
                tricks.next_lead(state)
        if state.turn != seat or state.phase is not None:
            raise EngineError(
                f"seat {seat} plays {event['card']} at the turn of seat {state.turn}: an event is missing"
            )
        if seat != self.seat:
            if state.in_trick:
                self._learn(state, seat, card)
            give(state, seat, card)
        self._gives(seat, card)
        if card == state.notes.get("called", -1):
            state.notes = state.notes | {"partner": seat}
        if state.game.batches:
            self._count_hands(state)
            give(state, seat, card)
            state.hand = state.hands[seat]
        if state.game.window_a and state.n > 0 and state.in_trick == state.size - 1:
            self._foresee_exchange(state)
        state.legal = (card,)
        state.apply(card)

    def _count_hands(self, state: State) -> None:
        """Put a card into each hand that still has cards: the rules deal again when all hands are empty."""
        pack = state.game.pack
        for seat, count in enumerate(self.counts):
            if seat != self.seat and seat in state.active:
                state.hands[seat] = pack.hand(pack.cards[: min(count, 1)])

    def _learn(self, state: State, seat: int, card: int) -> None:
        """Record the hidden cards that a seat cannot hold because it plays this card."""
        rule = state.in_force
        if rule is None or rule.duty == FREE or state.rules.illegal_move == "accuse":
            return
        suit_of, bit_of = state.suit_of, state.bit_of
        lacking = 0
        hand = state.hand
        rest = self.unseen
        other = 0
        while rest:
            if rest & 1 and other != card:
                probe = [0] * (NO_SUIT + 1)
                probe[suit_of[card]] |= bit_of[card]
                probe[suit_of[other]] |= bit_of[other]
                state.hand = probe
                if card not in legality.cards(state):
                    lacking |= BITS[other]
            rest >>= 1
            other += 1
        state.hand = hand
        self._rule_out(seat, lacking)

    def _unsung(self, state: State) -> None:
        """Record, before a lead, the cards that seats lack because they had to sing or to exchange and did not."""
        rules, pack = state.rules, state.game.pack
        if state.last_trick < 0:
            if (
                rules.exchange_duty == "must"
                and "before_first_lead" in state.game.exchange_moments
                and state.shown >= 0
            ):
                self._without_exchange(state)
            return
        if not rules.singing_mandatory:
            return
        for seat in state.active:
            if seat == self.seat:
                continue
            sets = [
                (act.SING + suit, pack.hand([suit * pack.size + place for place in _places(state.game.pair)]))
                for suit in range(4)
            ]
            for number, rank in enumerate(act.TUTE_RANKS):
                if rank in pack.ranks:
                    sets.append((act.TUTE + number, pack.hand([pack.card(rank, suit) for suit in range(4)])))
            hand = state.hands[seat]
            for action, cards in sets:
                state.hands[seat] = cards
                bar = (seat, _mask(pack.in_hand(cards)))
                if bar not in self.not_all and action in songs.declarations(state, seat):
                    self.not_all.append(bar)
            state.hands[seat] = hand

    def _without_exchange(self, state: State) -> None:
        pack = state.game.pack
        for seat in state.active:
            if seat == self.seat:
                continue
            hand = state.hands[seat]
            for rank in "72":
                card = pack.card(rank, state.trump)
                if card >= 0 and self.unseen & BITS[card]:
                    state.hands[seat] = pack.hand([card])
                    if exchanges.exchanges(state, seat, "before_first_lead"):
                        self._rule_out(seat, BITS[card])
            state.hands[seat] = hand

    def _foresee_exchange(self, state: State) -> None:
        """Give a seat the card of its exchange between this trick and the draw ahead of time, so that the rules ask it."""
        for event in self._upcoming:
            kind = event["e"]
            if kind == "exchange" and event["seat"] != self.seat:
                give(state, event["seat"], state.game.pack.parse(event["gives"]))
            elif kind not in ("trick", "song", "exchange"):
                return

    def _draw(self, event: EventRecord) -> None:
        state = self._require_table()
        seat, text = event["seat"], event.get("card")
        self._draws_next()
        self.counts[seat] += 1
        if text is None:
            for layer in self.proofs[seat]:
                layer[1] += 1
            self.not_all = [proof for proof in self.not_all if proof[0] != seat]
            return
        card = state.game.pack.parse(text)
        self.unseen &= ~BITS[card]
        self.known[seat] |= BITS[card]
        state.hands[seat][state.suit_of[card]] |= state.bit_of[card]

    def _song(self, event: EventRecord) -> None:
        if event.get("table"):
            return
        state, seat = self._require_table(), event["seat"]
        pack = state.game.pack
        if event.get("suit") is None:
            self._hidden_song(state, seat, event["points"])
            return
        suit = pack.parse_suit(event["suit"])
        for text in event["cards"]:
            if seat != self.seat:
                self._has(seat, pack.parse(text))
        if state.turn == seat and state.phase is windows.WINDOW and seat == self.seat:
            state.legal = (act.SING + suit,)
            state.apply(act.SING + suit)
            return
        self._go_on(songs.sing(state, seat, suit))

    def _hidden_song(self, state: State, seat: int, points: int) -> None:
        """Record a twenty whose suit stays hidden from the others."""
        pack = state.game.pack
        possible = self.unseen | self.known[seat]
        cards = {}
        for suit in range(4):
            pair = _mask([suit * pack.size + place for place in _places(state.game.pair)])
            if suit != state.trump and not state.sung >> suit & 1 and possible & pair == pair:
                cards[suit] = pair
        self.sung.append((len(state.songs_made), seat, cards))
        state.songs[seat] += points
        state.songs_made += ((seat, NO_SUIT, points, False),)
        state.window_songs += ((seat, points),)
        state.twenties |= 1 << seat
        self._go_on(claims.reached_by(state, seat))

    def _go_on(self, step: int) -> None:
        """Carry out the step after an announcement; if there is none, offer the seat on turn its actions."""
        state = self._require_table()
        if step:
            flow.run(state, step)
        elif state.phase is None:
            if not state.in_trick or state.own_turn:
                tricks.offer(state)
        else:
            state.legal = None

    def _tute(self, event: EventRecord) -> None:
        state = self._require_table()
        state.tute_by = event["seat"]
        flow.run(state, steps.COUNT)

    def _exchange(self, event: EventRecord) -> None:
        state = self._require_table()
        pack, seat = state.game.pack, event["seat"]
        card = pack.parse(event["gives"])
        taken = event.get("takes")
        deferred = state.rules.exchange == "deferred"
        if deferred:
            self.counts[seat] += 1  # The card was laid out of the hand before.
        else:
            self._gives(seat, card)
            self.counts[seat] += 1
        self.unseen &= ~BITS[card]
        if taken is not None:
            self.unseen &= ~BITS[pack.parse(taken)]
            self.known[seat] |= BITS[pack.parse(taken)]
        if state.shown == card or deferred:
            if seat == self.seat:
                state.hands[seat] = pack.hand(_cards(self.known[seat]))
                state.hand = state.hands[state.turn]
            return  # The rules have carried the exchange out.
        code = (act.EXCHANGE_SEVEN if event["gives"][0] == "7" else act.EXCHANGE_TWO) + pack.suit[card]
        give(state, seat, card)
        self._draws_next(seat)
        if (state.phase is windows.WINDOW or state.phase is exchanges.PHASE) and state.turn == seat:
            state.legal = (code,)
            state.apply(code)
            return
        turn, state.turn = state.turn, seat
        exchanges.exchange(state, code)
        state.turn = turn
        if "before_first_lead" in state.game.exchange_moments:
            # The shown card is a different one now, so other seats may be asked first.
            state.stage = 1
            state.notes = {name: value for name, value in state.notes.items() if name == "declined"}  # no auction yet
            flow.run(state, exchanges.stage(state) or steps.WAIT)
        else:
            self._go_on(steps.WAIT)

    def _notice(self, event: EventRecord) -> None:
        state = self._require_table()
        seat, card = event["seat"], state.game.pack.parse(event["card"])
        give(state, seat, card)
        self._gives(seat, card)
        turn, state.turn = state.turn, seat
        exchanges.exchange(
            state, (act.EXCHANGE_SEVEN if event["card"][0] == "7" else act.EXCHANGE_TWO) + state.suit_of[card]
        )
        state.turn = turn
        self._go_on(steps.WAIT)

    def _return(self, event: EventRecord) -> None:
        seat = event["seat"]
        self.known[seat] |= BITS[self._require_table().game.pack.parse(event["card"])]
        self.counts[seat] += 1

    def _reveal(self, event: EventRecord) -> None:
        self._has(event["seat"], self._require_table().game.pack.parse(event["card"]))

    def _call(self, event: EventRecord) -> None:
        state = self._require_table()
        self._answer(event["seat"], state.game.parse_action(event["call"]))
        if state.phase is not None and state.rules.auction == "play_then_join":
            self._fill_thrown(state)

    def _fill_thrown(self, state: State) -> None:
        """Set the number of cards in the hands of seats that are out: they may be shuffled in."""
        cards = state.game.pack.cards
        for seat in state.notes.get("thrown", ()):
            state.hands[seat] = state.game.pack.hand(cards[: self.counts[seat]])

    def _look(self, event: EventRecord) -> None:
        for text in event.get("cards") or []:
            self._has(event["of"], self._require_table().game.pack.parse(text))

    def _takeover(self, event: EventRecord) -> None:
        seat, other = event["seat"], event["of"]
        for by_seat in (self.known, self.counts):
            by_seat[seat], by_seat[other] = by_seat[other], by_seat[seat]
        self.proofs[seat], self.proofs[other] = self.proofs[other], self.proofs[seat]

    def _trump(self, event: EventRecord) -> None:
        if event.get("seat") is not None:
            self._answer(event["seat"], act.TRUMP + self._require_table().game.pack.parse_suit(event["suit"]))

    def _called(self, event: EventRecord) -> None:
        state, seat = self._require_table(), event["seat"]
        card = state.game.pack.parse(event["card"])
        is_own = bool(self.known[self.seat] & BITS[card])
        if state.rules.call_own_card != "solo" and seat != self.seat:
            self._rule_out(seat, BITS[card] & self.unseen)
        holder = self.seat if is_own else next(s for s in state.active if s not in (seat, self.seat))
        give(state, holder, card)
        self._answer(seat, act.CALL + card)
        if not is_own:
            state.hands[holder][state.suit_of[card]] &= ~state.bit_of[card]

    def _partner(self, event: EventRecord) -> None:
        state = self._require_table()
        state.notes = state.notes | {"partner": event["seat"]}

    def _predict(self, event: EventRecord) -> None:
        self._answer(event["seat"], act.PREDICT + event["tricks"])

    def _take(self, event: EventRecord) -> None:
        state, seat = self._require_table(), event["seat"]
        card = state.game.pack.parse(event["card"])
        self.unseen &= ~BITS[card]
        self.known[seat] |= BITS[card]
        self.counts[seat] += 1
        self._answer(seat, act.TAKE)

    def _discard(self, event: EventRecord) -> None:
        state, seat, count = self._require_table(), event["seat"], event["count"]
        pack = state.game.pack
        if "cards" in event:
            cards = [pack.parse(text) for text in event["cards"]]
            self.known[seat] &= ~_mask(cards)
        else:
            cards = [card for card in pack.cards if self.unseen & BITS[card]][:count]
            self.away += count
            # Cards that were shown may have been put away since, so they count as hidden again.
            self.unseen |= self.known[seat]
            self.known[seat] = 0
        self.counts[seat] -= count
        state.hands[seat] = pack.hand([*pack.in_hand(state.hands[seat]), *cards])
        state.stock = self._stock(len(state.stock))
        self._fill_thrown(state)
        self._answer(seat, act.discard(tuple(cards)))

    def _reshuffle(self, event: EventRecord) -> None:
        for seat in event["seats"]:
            self.unseen |= self.known[seat]
            self.known[seat] = self.counts[seat] = 0

    def _capote(self, event: EventRecord) -> None:
        state = self._require_table()
        while state.phase is windows.CAPOTE and state.turn != event["seat"]:
            self._pass(state)
        self._answer(event["seat"], act.CAPOTE)

    def _claim(self, event: EventRecord) -> None:
        state, seat = self._require_table(), event["seat"]
        self._decline(seat)
        turn, state.turn = state.turn, seat
        step = claims.claim(state)
        state.turn = turn
        flow.run(state, step)

    def _accuse(self, event: EventRecord) -> None:
        state, seat = self._require_table(), event["seat"]
        flow.run(
            state, claims.decided(state, claims.accusation_verdict(state, seat, event["accused"], event["proven"]))
        )

    def _score(self, event: EventRecord) -> None:
        state = self._require_table()
        while state.phase is claims.ACCUSING:
            self._pass(state)

    def _revoke(self, event: EventRecord) -> None:
        state, seat = self._require_table(), event["seat"]
        self._decline()
        flow.run(state, claims.decided(state, claims.revoke_verdict(state, seat)))

    def _last_ten(self, event: EventRecord) -> None:
        self._answer(event["seat"], act.TAKE if event["taken"] else act.DECLINE)

    def _ante(self, event: EventRecord) -> None:
        state = self._require_table()
        state.pot = event["pot"]


def _mask(cards: Iterable[int]) -> int:
    mask = 0
    for card in cards:
        mask |= BITS[card]
    return mask


def _cards(mask: int) -> list[int]:
    return [card for card in range(len(BITS)) if mask & BITS[card]]


def _places(mask: int) -> list[int]:
    return [place for place in range(16) if mask >> place & 1]


def _last(hand: list[int], certain: int) -> int:
    """Return a card that may have been drawn last: one that nobody had seen."""
    hidden = [card for card in hand if not certain & BITS[card]]
    return hidden[-1] if hidden else -1


_HANDLERS: dict[str, Any] = {
    "ante": Knowledge._ante,
    "reveal": Knowledge._reveal,
    "notice": Knowledge._notice,
    "exchange": Knowledge._exchange,
    "return": Knowledge._return,
    "call": Knowledge._call,
    "look": Knowledge._look,
    "takeover": Knowledge._takeover,
    "trump": Knowledge._trump,
    "called": Knowledge._called,
    "partner": Knowledge._partner,
    "predict": Knowledge._predict,
    "take": Knowledge._take,
    "discard": Knowledge._discard,
    "reshuffle": Knowledge._reshuffle,
    "play": Knowledge._play,
    "draw": Knowledge._draw,
    "song": Knowledge._song,
    "tute": Knowledge._tute,
    "capote": Knowledge._capote,
    "claim": Knowledge._claim,
    "accuse": Knowledge._accuse,
    "score": Knowledge._score,
    "revoke": Knowledge._revoke,
    "last_ten": Knowledge._last_ten,
}
