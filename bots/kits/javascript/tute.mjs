// The Tute League for bots in JavaScript: the protocol, and the view of a seat. One file; it needs only node.
//
//     import { run } from "./tute.mjs";
//     run("my bot", (view) => view.legal[0]);
//
// A card is its index in the pack of the game, suit by suit and strongest first: `view.name[card]` is its text, `view.card_of("1o")` the
// inverse; -1 is no card. A set of cards is a Set. The kits in C and Rust use the same names and deal the same cards for a seed.
//
// Proofs by plays: a seat that breaks a duty holds no card that it would have had to play instead. The duties are to follow suit, to beat, to trump
// and not to load a lost trick (`no_load`). After a hidden draw a seat may hold as many of those cards as it has drawn since. A seat that had to
// sing and did not held no pair; a soloist calls a card of another seat; a seat that sings a hidden suit holds some pair. Calls in an auction prove
// nothing.
import { createInterface } from "node:readline";

const NEVER = 99; // no play proved that a seat lacks a card
const TRIES = 10000; // rejected deals before giving up; at the league's tables at least one deal in six agreed

// >>> written by `make texts` from engine/games; do not edit
const RULES = {"demands":{"free":"00000000000000000","trump_follow":"00000000101010100","follow":"10101010101010100","follow_or_trump":"11111111101010100","strict none false false":"21211313202010101","strict none false true":"21212323202010101","strict none true false":"21211212202010101","strict none true true":"21212222202010101","strict trump_only false false":"21201310202010101","strict trump_only false true":"21202320202010101","strict trump_only true false":"21201210202010101","strict trump_only true true":"21202220202010101","strict all false false":"21101310201010101","strict all false true":"21102310201010101","strict all true false":"21101210201010101","strict all true true":"21102210201010101"},"tute":{"sides":"single","deck":"es40","rank_order":"13RCS76542","rank_points":{"1":11,"3":10,"R":4,"C":3,"S":2},"auction":"none","passed_may_join":null,"call_own_card":"forbidden","obligation_stock_open":"free","obligation_stock_empty":"strict","partner_exempt":"none","undertrump":false,"beat_after_trumped":false,"no_load":false,"hand_songs":"trick_winner","pair_ranks":"RC","songs_per_trick":1,"song_order":"any","song_values":{"trump":40,"other":20},"table_songs":"none","sing_first_trick_only":false,"singing_mandatory":false,"tute":"wins","tute_ranks":"RC","tute_first_trick_only":false,"last_trick_bonus":10,"result":"most_points_wins","target":null,"settlement":"games","illegal_move":"reject"},"games":{
  "a_dos":{"result":"fewest_points_loses","settlement":"loss_marks"},
  "americano":{"obligation_stock_open":"trump_follow","tute":"none","result":"to_target","target":121},
  "arrastrado":{"song_order":"forty_first","settlement":"chips"},
  "bato":{"rank_points":{},"auction":"play_then_join","passed_may_join":true,"hand_songs":"none","tute":"none","last_trick_bonus":0,"result":"trick_commitments","settlement":"chips"},
  "brisca":{"sides":{"2p":"single","3p":"single","4p":"pairs"},"deck":{"2p":"es40","3p":"es36","4p":"es40"},"obligation_stock_empty":"free","hand_songs":"none","tute":"none","last_trick_bonus":0},
  "cabrero":{"result":"middle_loses","settlement":"loss_marks"},
  "chancho":{"table_songs":"forced","result":"middle_loses","settlement":"loss_marks"},
  "codillo":{"sides":"soloist_pair_vs_rest","auction":"play_or_pass","no_load":true,"result":"soloist_side_more_points","settlement":"chips"},
  "corriente":{"result":"to_target","target":101},
  "gana_pierde_3":{"deck":"es36","rank_order":"13RCS7654","hand_songs":"none","table_songs":"forced_first_40","tute":"none","result":"middle_of_three_loses","settlement":"loss_marks"},
  "gana_pierde_4_5":{"song_order":"forty_first","table_songs":"forced","tute":"none","result":"most_points_loses_unless_101","settlement":"loss_marks"},
  "guinote":{"sides":{"2p":"single","3p":"single","4p":"pairs"},"rank_order":"13RSC76542","rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"partner_exempt":"all","hand_songs":"winning_side","pair_ranks":"RS","tute_ranks":"RS","result":"to_target","target":101},
  "habanero":{"result":"to_target","target":101},
  "havanian":{"obligation_stock_open":"trump_follow","tute":"none","result":"to_target","target":101},
  "individual":{"obligation_stock_open":"strict","song_order":"forty_first"},
  "partnership":{"sides":"pairs","song_order":"forty_first"},
  "podrida":{"rank_points":{},"auction":"trick_prediction","obligation_stock_empty":"follow","hand_songs":"none","tute":"none","last_trick_bonus":0,"result":"exact_prediction","settlement":"points"},
  "remate":{"sides":"soloist_vs_rest","deck":{"3p":"es36","4p":"es40","5p":"es40"},"auction":"points","no_load":true,"hand_songs":"soloist","result":"soloist_reaches_bid","settlement":"chips"},
  "subastado":{"sides":"soloist_vs_rest","deck":"es36","rank_order":"13RCS7654","auction":"points","hand_songs":"soloist","song_order":"forty_first","tute":"none","result":"soloist_reaches_bid","settlement":"chips"},
  "two_player":{"obligation_stock_open":"strict","songs_per_trick":"many","song_order":"forty_first_in_window"},
  "variable_trump":{"sides":"pairs","hand_songs":"winning_side","song_values":{"trump":20,"other":20},"tute_first_trick_only":true}
  },"implied":{"a_dos":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"americano":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"arrastrado":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"bato":{"no_load=true":{"rank_points":{"1":11,"3":10,"R":4,"C":3,"S":2}},"match_end=losses":{"settlement":"loss_marks"}},"brisca":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"cabrero":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"chancho":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"codillo":{"match_end=losses":{"settlement":"loss_marks"},"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"corriente":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"gana_pierde_3":{"rank_order=13RSC7654":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"gana_pierde_4_5":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"habanero":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"havanian":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"individual":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"partnership":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"podrida":{"preset=podrida52":{"deck":"fr52","rank_order":"AKQJT98765432"}},"remate":{"match_end=elimination":{"settlement":"loss_marks"},"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"subastado":{"rank_order=13RSC7654":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"two_player":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}}}};
// <<< written by `make texts`

// A parameter of the table by its name in the rules book: from the options, or else from the game.
function rule(hello, name) {
  let found = RULES.games[hello.game]?.[name] ?? RULES.tute[name];
  for (const [option, value] of Object.entries(hello.options ?? {})) found = RULES.implied[hello.game]?.[`${option}=${value}`]?.[name] ?? found;
  found = hello.options?.[name] ?? found;
  return found?.[`${hello.seats}p`] ?? found;
}

// The demands of a duty on a follower's cards of one suit: none; one of them; a higher one, else one of them; a higher one, else any card.
const [ANY, ALL, HIGHER_OR_ALL] = "012";

// The demands of an obligation of the table, two digits per situation: on cards of the suit led, and on trumps if the hand has none of that suit. A
// situation is a number: 4 if trumps were led, plus 2 if a trump is winning another suit, plus 1 if the partner is winning.
function demands_of(hello, name) {
  const words = [name, "partner_exempt", "undertrump", "beat_after_trumped"].map((one) => rule(hello, one));
  return RULES.demands[words.join(" ")] ?? RULES.demands[words[0]];
}

// The knowledge of a seat. To ask: `plays`, `suit`, `card_of`, `beats`, `points`, `together`, `lacks`, `is_void`, `deal`, `chance`, `shuffle`.
// Known: `legal` (the actions to choose from, as texts), `hand` (your cards), `table` (the cards of the trick, in order), `by`
// (the seats that played them), `best` (place on the table of the winning card, -1 before a lead), `led` (suit, or ""), `trump` (suit, or ""),
// `name` (text of each card), `value` (points of each card), `game` (its key), `seats` (how many), `seat` (yours), `side` (of each seat), `parameters`
// (the values of those in your bot.toml), `seed` (for your own chance), `shown` (the card that fixed the trump, or -1), `stock` (cards to be drawn, the shown one included), `played` (cards in order),
// `unseen` (cards whose place you do not know), `known` (by seat, the cards that it certainly holds; not your own), `counts` (cards left in each
// hand), `not_all` (by seat, sets of which it does not hold every card: a suit or a rank each, or nothing there), `songs` (whose suit is hidden:
// the `seat`, and by suit the `pairs` that it may be), `tricks` (won in this deal, by seat), `scored` (points of this deal, by seat), `winner` (of
// the last trick, or -1), `soloist` (from an auction, or -1), `partner` (of the soloist, or -1), `out` (by seat, true if it is not in this deal),
// `call` (by seat, its last call in an auction, or ""), `predicted` (by seat, the tricks that it says it will take), `totals` (points carried into
// this deal, by side), `strength` (of each card within its suit, 0 for the weakest), `barred` (by seat, cards that it did not hold at its last play, by
// the duties; a hidden draw ends this knowledge), `target` (points that win the match, or null), `result` (what decides a deal, a word of the rules
// book), `settlement` (what a deal is worth, a word), `table_songs` (pairs in a trick, a word), `stock_duty` (obligation_stock_open, a word),
// `song_trump` (points of a song of trumps), `song_other` (points of another song).
export class View {
  constructor(hello) {
    const deck = rule(hello, "deck");
    const values = rule(hello, "rank_points") ?? {};
    const illegal = rule(hello, "illegal_move");
    Object.assign(this, { game: hello.game, seats: hello.seats, seat: hello.seat, seed: hello.seed ?? 0, legal: [] });
    this.parameters = hello.parameters ?? {};
    this.side = Array(this.seats).fill(0);
    hello.sides.forEach((seats, side) => seats.forEach((seat) => (this.side[seat] = side)));
    this.name = [];
    for (const suit of deck === "fr52" ? "shdc" : "oceb")
      for (const rank of rule(hello, "rank_order"))
        if (rank !== "2" || !(deck === "es36" || (deck === "es39" && suit === "c"))) this.name.push(rank + suit);
    this.size = this.name.length;
    this.value = this.name.map((card) => values[card[0]] ?? 0);
    this.strength = this.name.map((card) => rule(hello, "rank_order").length - 1 - rule(hello, "rank_order").indexOf(card[0]));
    this.place = new Map(this.name.map((card, place) => [card, place]));
    this.demands_open = demands_of(hello, "obligation_stock_open");
    this.demands_empty = demands_of(hello, "obligation_stock_empty");
    for (const name of ["no_load", "pair_ranks", "call_own_card", "singing_mandatory", "hand_songs", "songs_per_trick", "song_order", "sing_first_trick_only", "tute_first_trick_only", "auction", "passed_may_join"])
      this[name] = rule(hello, name);
    this.tutes = rule(hello, "tute") === "wins" ? rule(hello, "tute_ranks") : "";
    this.proves = illegal !== "accuse"; // if others must accuse, a seat may play an illegal card
    this.by_auction = rule(hello, "sides").startsWith("soloist");
    this.bonus = rule(hello, "last_trick_bonus");
    this.target = rule(hello, "target");
    this.result = rule(hello, "result");
    this.settlement = rule(hello, "settlement");
    this.table_songs = rule(hello, "table_songs");
    this.stock_duty = rule(hello, "obligation_stock_open");
    this.song_trump = rule(hello, "song_values").trump;
    this.song_other = rule(hello, "song_values").other;
    this.totals = hello.sides.map(() => 0);
    this.begin_deal({ hand: [], counts: Array(this.seats).fill(0) });
  }

  // The card of a text such as "1o", or -1.
  card_of(text) {
    return this.place.get(text) ?? -1;
  }

  // The suit of a card: o coins, c cups, e swords, b batons.
  suit(card) {
    return this.name[card][1];
  }

  // The card that a legal text plays, or -1.
  plays(action) {
    return action.startsWith("play ") ? this.card_of(action.slice(5)) : -1;
  }

  // True if two seats are on one side.
  together(a, b) {
    const solo = (seat) => seat === this.soloist || seat === this.partner;
    return this.by_auction && this.soloist >= 0 ? solo(a) === solo(b) : this.side[a] === this.side[b];
  }

  // The points of a side in this deal.
  points(side) {
    return this.scored.reduce((sum, points, seat) => sum + (this.side[seat] === side ? points : 0), 0);
  }

  // True if a card, played later, beats another one of this trick.
  beats(card, other) {
    if (this.suit(card) === this.suit(other)) return card < other;
    if (this.suit(card) === this.trump) return true;
    return this.suit(card) === this.led && this.suit(other) !== this.trump;
  }

  // True if a seat certainly does not hold a card.
  lacks(seat, card) {
    if (seat === this.seat) return !this.hand.has(card);
    if (this.known[seat].has(card)) return false;
    return !this.unseen.has(card) || this.age[seat][card] === 0;
  }

  // True if a seat certainly holds no card of a suit.
  is_void(seat, suit) {
    return this.name.every((text, card) => text[1] !== suit || this.lacks(seat, card));
  }

  // Update the view by an event. Kinds that change nothing here are ignored.
  see(event) {
    const { seat } = event;
    const card = this.card_of(event.card);
    switch (event.e) {
      case "deal":
        this.begin_deal(event);
        break;
      case "play":
        this.before_lead();
        this.goes(seat, card);
        this.counts[seat]--;
        if (!this.table.length) {
          this.led = this.suit(card);
          this.open = this.stock > 0;
        } else if (seat !== this.seat) {
          this.learn(seat, card);
        }
        this.played.push(card);
        this.by.push(seat);
        this.table.push(card);
        this.judge_table();
        break;
      case "trick":
        this.scored[seat] += event.points + (event.last ? this.bonus : 0);
        this.tricks[seat]++;
        this.winner = seat;
        this.said = this.side.map(() => 0);
        [this.table, this.by, this.led, this.best] = [[], [], "", -1];
        break;
      case "draw":
        this.counts[seat]++;
        this.stock = Math.max(0, this.stock - 1);
        if (seat !== this.seat || card >= 0) this.comes(seat, card);
        break;
      case "take":
        this.counts[seat]++;
        this.comes(seat, card);
        this.shown = -1;
        break;
      case "notice":
        this.notice = card;
        this.goes(seat, card);
        this.counts[seat]--;
        break;
      case "return":
        this.notice = -1;
        this.comes(seat, card);
        this.counts[seat]++;
        break;
      case "exchange": {
        const gives = this.card_of(event.gives);
        if (this.notice === gives) {
          this.notice = -1;
          this.counts[seat]++;
        }
        this.goes(seat, gives);
        this.comes(seat, this.card_of(event.takes));
        this.shown = gives;
        break;
      }
      case "discard":
        this.counts[seat] -= event.count;
        for (const text of event.cards ?? []) this.goes(seat, this.card_of(text));
        if (!event.cards) {
          // the seat may have put away cards that it had shown
          for (const held of this.known[seat]) this.unseen.add(held);
          this.known[seat] = new Set();
        }
        break;
      case "song":
      case "tute":
        this.scored[seat] += event.points ?? 0;
        if (event.suit) this.sung += event.suit;
        if (event.table) break;
        this.said[seat]++;
        if (event.suit !== this.trump) this.twenty[seat] = true;
        if (event.e === "song" && !event.suit) this.hidden_song(seat);
        this.shows(seat, event.cards ?? []);
        break;
      case "look":
        this.shows(event.of, event.cards ?? []);
        break;
      case "reveal":
        this.shows(seat, [event.card]);
        if (event.shown) this.shown = this.card_of(event.shown);
        this.unseen.delete(this.shown);
        break;
      case "last_ten":
        if (!event.taken) this.scored[seat] -= this.bonus;
        break;
      case "trump":
        this.trump = event.suit ?? "";
        this.soloist = seat ?? this.soloist;
        this.led = event.lead ?? this.led;
        this.judge_table();
        break;
      case "call":
        this.call[seat] = event.call;
        if (event.call.startsWith("bid") || (event.call === "play" && this.soloist < 0)) this.soloist = seat;
        if (this.auction === "play_then_join" && this.soloist >= 0) this.decide();
        break;
      case "predict":
        this.predicted[seat] = event.tricks;
        break;
      case "score":
        this.totals = event.totals ?? this.totals;
        break;
      case "called":
        if (this.hand.has(card)) this.partner = this.seat;
        else if (this.call_own_card !== "solo") this.age[seat][card] = 0;
        break;
      case "partner":
        this.partner = seat;
        break;
      case "takeover": {
        const { of } = event;
        const mine = seat === this.seat ? this.known[of] : of === this.seat ? new Set() : this.hand;
        this.known[seat] = of === this.seat ? this.hand : new Set();
        this.known[of] = new Set();
        this.hand = mine;
        [this.counts[seat], this.counts[of]] = [this.counts[of], this.counts[seat]];
        this.soloist = seat;
        [this.out[of], this.out[seat]] = [true, false];
        break;
      }
    }
  }

  begin_deal(event) {
    this.unseen = new Set(this.name.keys());
    this.hand = new Set();
    this.known = this.side.map(() => new Set());
    this.age = this.side.map(() => Array(this.size).fill(NEVER));
    this.barred = this.side.map(() => new Set());
    this.not_all = this.side.map(() => []);
    this.scored = this.side.map(() => 0);
    this.tricks = this.side.map(() => 0);
    this.said = this.side.map(() => 0); // songs since the last trick
    this.twenty = this.side.map(() => false);
    this.counts = [...event.counts];
    this.out = this.side.map((_, seat) => (event.out ?? []).includes(seat));
    this.call = this.side.map(() => "");
    this.predicted = this.side.map(() => 0);
    if (event.deal === 1) this.totals = this.totals.map(() => 0);
    this.totals = event.totals ?? this.totals;
    for (const text of event.hand) this.comes(this.seat, this.card_of(text));
    this.trump = event.trump ?? "";
    this.stock = event.stock ?? 0;
    this.shown = this.card_of(event.shown);
    this.unseen.delete(this.shown);
    if (this.shown >= 0 && event.holder != null && event.holder !== this.seat) this.known[event.holder].add(this.shown);
    Object.assign(this, { table: [], by: [], played: [], led: "", best: -1, soloist: -1, partner: -1, notice: -1 });
    Object.assign(this, { winner: -1, songs: [], sung: "" }); // `sung`: suits
    // In a game without a stock the shown card lies on the table until the first lead.
  }

  // Record, in a game where seats join a soloist, who stays out once every seat has decided.
  decide() {
    const wavers = (call, seat) => !this.out[seat] && (!call || (call === "pass" && this.passed_may_join !== false));
    if (!this.call.some(wavers)) this.out = this.call.map((call) => call !== "play" && call !== "join");
  }

  // Record that a card turned up that the seat was proved to lack: the seat has drawn it since.
  uncover(seat, card) {
    if (!this.unseen.delete(card)) return;
    const ages = this.age[seat];
    const age = ages[card];
    if (age !== NEVER) this.age[seat] = ages.map((other) => (other !== NEVER && other >= age && other > 0 ? other - 1 : other));
  }

  // Put a card into a hand; -1 if it is hidden.
  comes(seat, card) {
    if (card < 0) {
      this.barred[seat] = new Set();
      this.age[seat] = this.age[seat].map((age) => (age === NEVER ? age : age + 1));
      return;
    }
    this.unseen.delete(card);
    (seat === this.seat ? this.hand : this.known[seat]).add(card);
  }

  goes(seat, card) {
    this.uncover(seat, card);
    (seat === this.seat ? this.hand : this.known[seat]).delete(card);
    // The singer need not hold a pair any longer once a card of it is played; a pair of which another seat had a card was not sung.
    for (const song of this.songs) {
      if (song.seat === seat) song.pairs.forEach((pair) => pair?.delete(card));
      else song.pairs = song.pairs.map((pair) => (pair?.has(card) ? null : pair));
    }
  }

  shows(seat, cards) {
    for (const card of cards.map((text) => this.card_of(text))) {
      this.uncover(seat, card);
      if (seat !== this.seat) this.known[seat].add(card);
    }
  }

  judge_table() {
    this.best = this.table.length ? 0 : -1;
    for (let one = 1; one < this.table.length; one++) if (this.beats(this.table[one], this.table[this.best])) this.best = one;
  }

  // The best card of a suit on the table, or -1.
  best_of(suit) {
    const found = this.table.filter((card) => this.suit(card) === suit);
    return found.length ? Math.min(...found) : -1;
  }

  // The class of a card under the duties of a seat: the seat must play a card of a lower class before one of a higher.
  duty(seat, card) {
    const demands = this.open ? this.demands_open : this.demands_empty;
    const { led, trump } = this;
    const suit = this.suit(card);
    const followed = suit === led;
    const place = followed ? 0 : 200;
    const winning = this.together(this.by[this.best], seat) ? 1 : 0;
    const situation = winning + (led === trump ? 4 : this.best_of(trump) >= 0 ? 2 : 0);
    const demand = followed || suit === trump ? demands[2 * situation + (followed ? 0 : 1)] : ANY;
    // if no card can win, the cards of least value come first
    const load = demands[16] === "1" && this.no_load && !this.beats(card, this.table[this.best]) ? this.value[card] : 0;
    if (demand === ALL || (demand !== ANY && card < this.best_of(suit))) return load + place;
    return load + (demand === HIGHER_OR_ALL ? place + 100 : 400);
  }

  // The cards of a suit that beat one of them; all if it is -1.
  above(suit, best) {
    return [...this.name.keys()].filter((card) => this.suit(card) === suit && (best < 0 || card < best));
  }

  // Record which cards of the suit led and of trumps a seat lacks now.
  bar(seat, card) {
    const demands = this.open ? this.demands_open : this.demands_empty;
    const trumped = this.led === this.trump ? 4 : this.best_of(this.trump) >= 0 ? 2 : 0;
    const situation = trumped + (this.together(this.by[this.best], seat) ? 1 : 0);
    for (const [trumps, suit] of [this.led, this.trump].entries()) {
      const demand = demands[2 * situation + trumps];
      const best = this.best_of(suit);
      if (this.suit(card) === suit) {
        if (demand >= HIGHER_OR_ALL && best >= 0 && card > best) for (const other of this.above(suit, best)) this.barred[seat].add(other);
        return;
      }
      if (demand !== ANY) for (const other of this.above(suit, demand > HIGHER_OR_ALL ? best : -1)) this.barred[seat].add(other);
    }
  }

  // Record what a card proves about the hand that it comes from.
  learn(seat, card) {
    if (!this.proves || !this.led) return;
    this.bar(seat, card);
    const duty = this.duty(seat, card);
    for (const other of this.unseen) if (this.duty(seat, other) < duty) this.age[seat][other] = 0;
  }

  // The cards of some ranks, in one suit or in all ("").
  of_ranks(ranks, suit) {
    return new Set([...this.name.keys()].filter((card) => ranks.includes(this.name[card][0]) && (!suit || this.suit(card) === suit)));
  }

  // Record, once nobody can sing any more before the next lead, that a seat that had to sing and did not held no pair.
  before_lead() {
    if (this.table.length) return;
    for (let seat = 0; seat < this.seats; seat++) {
      if (seat !== this.seat && this.winner >= 0 && this.singing_mandatory) this.unsung(seat);
    }
  }

  // Games with this duty have no stock, so what was not sung cannot be drawn later.
  unsung(seat) {
    const mates = [...this.side.keys()].filter((other) => this.together(other, seat));
    const tricks = mates.reduce((sum, other) => sum + this.tricks[other], 0);
    if (this.hand_songs === "winning_side" ? !mates.includes(this.winner) : seat !== this.winner) return;
    if (this.said[seat] >= this.songs_per_trick || (this.sing_first_trick_only && tricks !== 1)) return;
    const late = this.song_order === "any" ? [] : this.song_order === "forty_first" ? [seat] : mates; // seats whose twenty forbids the forty
    [..."oceb"].forEach((suit, place) => {
      if (this.sung.includes(suit) || (suit === this.trump && late.some((other) => this.twenty[other]))) return;
      this.not_all[seat][place] = this.of_ranks(this.pair_ranks, suit);
    });
    if (this.tute_first_trick_only && tricks !== 1) return;
    [...this.tutes].forEach((rank, place) => (this.not_all[seat][4 + place] = this.of_ranks(rank, "")));
  }

  hidden_song(seat) {
    const held = (card) => this.unseen.has(card) || this.known[seat].has(card);
    const pairs = [..."oceb"].map((suit) => (suit === this.trump || this.sung.includes(suit) ? null : this.of_ranks(this.pair_ranks, suit)));
    this.songs.push({ seat, pairs: pairs.map((pair) => (pair && [...pair].every(held) ? pair : null)) });
  }

  // True if each song, from this one on, can have had a different suit.
  sung_from(hands, number, used) {
    if (number === this.songs.length) return true;
    const { seat, pairs } = this.songs[number];
    return pairs.some((pair, suit) => pair && !used.includes(suit) && [...pair].every((card) => hands[seat].has(card)) && this.sung_from(hands, number + 1, [...used, suit]));
  }

  // True if hands agree with the facts about more than one card.
  agrees(hands) {
    for (let seat = 0; seat < this.seats; seat++) {
      if (seat === this.seat) continue;
      if (this.not_all[seat].some((cards) => [...cards].every((card) => hands[seat].has(card)))) return false;
      // each card that the seat was proved to lack needs a draw of its own since the proof
      const ages = [...hands[seat]].filter((card) => this.unseen.has(card)).map((card) => this.age[seat][card]);
      if (ages.sort((a, b) => a - b).some((age, drawn) => age <= drawn)) return false;
    }
    return this.sung_from(hands, 0, []);
  }

  // A random number, at least 0 and below 1. It advances the seed (mulberry32, as in the other kits).
  chance() {
    this.seed = (this.seed + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.seed ^ (this.seed >>> 15), this.seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  // Shuffle an array in place.
  shuffle(cards) {
    for (let left = cards.length; left > 1; left--) {
      const place = Math.floor(this.chance() * left);
      [cards[left - 1], cards[place]] = [cards[place], cards[left - 1]];
    }
  }

  // A deal of the hidden cards that agrees with all facts; null if none does, or if none was found in TRIES draws. Every placement has the same
  // chance, except for the rounding of doubles, because the placements left after each choice are counted. Hand sizes, known cards and lacking
  // cards never cause a rejection; with one hidden hand, cards drawn since a proof do not either. A deal that contradicts a fact about several
  // cards is rejected. `hands` by seat, your own among them; `rest` holds the cards in no hand: the stock, face down, and cards that others put
  // away.
  deal() {
    const need = this.counts.map((count, seat) => (seat === this.seat ? 0 : count - this.known[seat].size));
    if (need.some((count) => count < 0)) return null;
    const one_hand = need.filter((count) => count > 0).length === 1;
    const unseen = [...this.unseen].sort((a, b) => a - b);
    const is_bound = (seat, card) => need[seat] > 0 && this.age[seat][card] < (one_hand ? need[seat] : 1);
    // hands that may hold every card count as part of the rest
    const who = [...this.side.keys()].filter((seat) => unseen.some((card) => is_bound(seat, card)));
    const bound = unseen.filter((card) => who.some((seat) => is_bound(seat, card)));
    // The last proof comes first, so that all cards taken so far count against the next one.
    if (one_hand && who.length) bound.sort((a, b) => this.age[who[0]][a] - this.age[who[0]][b] || a - b);
    let room = who.map((seat) => need[seat]);
    const fits = (place, hand) => {
      const age = this.age[who[hand]][bound[place]];
      return room[hand] > 0 && (one_hand ? need[who[hand]] - room[hand] < age : age > 0);
    };
    const counted = new Map();
    // The number of ways to place the cards from `place` on into the room of the hands; free cards are counted at the end.
    const ways = (place) => {
      let left = unseen.length - place;
      const rest = room.reduce((sum, size) => sum - size, left);
      if (rest < 0) return 0;
      const key = room.reduce((sum, size, hand) => sum * (need[who[hand]] + 1) + size, place);
      let found = counted.get(key);
      if (found !== undefined) return found;
      if (place === bound.length) {
        found = 1;
        for (const size of room) for (let card = 1; card <= size; card++) found = (found * left--) / card;
      } else {
        found = rest > 0 ? ways(place + 1) : 0;
        for (let hand = 0; hand < who.length; hand++) if (fits(place, hand)) found += into(place, hand);
      }
      counted.set(key, found);
      return found;
    };
    const into = (place, hand) => {
      room[hand]--;
      const found = ways(place + 1);
      room[hand]++;
      return found;
    };
    const once = () => {
      const left = [...need];
      const hands = this.known.map((known, seat) => new Set(seat === this.seat ? this.hand : known));
      room = who.map((seat) => need[seat]);
      const pool = [];
      bound.forEach((card, place) => {
        let mark = this.chance() * ways(place);
        let goes_to = -1;
        for (let hand = 0; hand < who.length && mark >= 0; hand++) {
          if (!fits(place, hand)) continue;
          const there = into(place, hand);
          if (there > 0 && (mark -= there) < 0) goes_to = hand;
        }
        if (goes_to < 0) {
          pool.push(card);
        } else {
          room[goes_to]--;
          hands[who[goes_to]].add(card);
        }
      });
      const loose = unseen.filter((card) => !bound.includes(card));
      this.shuffle(loose);
      who.forEach((seat, hand) => {
        left[seat] = 0;
        while (room[hand]-- > 0) hands[seat].add(loose.pop());
      });
      while (loose.length) pool.push(loose.pop());
      this.shuffle(pool);
      left.forEach((count, seat) => {
        while (count-- > 0 && pool.length) hands[seat].add(pool.pop());
      });
      return { hands, rest: pool };
    };
    for (let tries = ways(0) > 0 ? TRIES : 0; tries > 0; tries--) {
      const found = once();
      if (this.agrees(found.hands)) return found;
    }
    return null;
  }
}

// Talk to the referee until it closes the connection; `choose` returns one of view.legal.
export async function run(name, choose) {
  let view;
  const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.type === "hello") {
      view = new View(message);
      say({ type: "ready", name });
    } else if (message.type === "act") {
      for (const event of message.events) view.see(event);
      view.legal = message.legal;
      if (view.legal.some((action) => view.plays(action) >= 0)) view.before_lead();
      say({ id: message.id, do: choose(view) });
    }
  }
}
