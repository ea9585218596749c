// Table sense for bots in JavaScript: announcements, auctions and rough probabilities, for every game of the rules book.
//
// It gives the advice of `tute_sense` for Python, to the same numbers. All of it follows rules of thumb, meant to be beaten: use it for the parts
// that your bot does not care about. `announce` answers every question that is not about a card.

// --- actions

// The verb of an action; codillo's call "play" has the verb "enter".
const verb_of = (action) => (action === "play" ? "enter" : action.split(" ")[0]);

const object = (action) => action.split(" ").slice(1).join(" ");

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

// The legal action with a verb whose object is liked most, the first of equals; undefined if there is none.
function liked(view, verb, liking = () => 0) {
  let best;
  let most;
  for (const action of view.legal) {
    if (verb_of(action) !== verb) continue;
    const here = liking(object(action));
    if (best === undefined || here > most) [best, most] = [action, here];
  }
  return best;
}

// --- the value of a hand

const TRUMP_WORTH = { 1: 16, 3: 14, R: 9, C: 8, S: 7 };
const PLAIN_WORTH = { 1: 13, 3: 7, R: 3, C: 2, S: 1 };

// Your cards, in the order of the pack.
const in_order = (view) => [...view.hand].sort((a, b) => a - b);

// The suits of which your hand holds a pair that can still be sung.
function pairs(view) {
  if (view.hand_songs === "none") return [];
  const holds = (suit) => [...view.pair_ranks].every((rank) => view.hand.has(view.card_of(rank + suit)));
  return [..."oceb"].filter((suit) => !view.sung.includes(suit) && holds(suit));
}

// The points that your hand promises with a suit as trump, songs included. An average hand of three has 43.
export function promise(view, trump) {
  const worth = (text) => (text[1] === trump ? (TRUMP_WORTH[text[0]] ?? 5) : (PLAIN_WORTH[text[0]] ?? 0));
  const cards = total([...view.hand].map((card) => worth(view.name[card])));
  const songs = pairs(view).map((suit) => (suit === trump ? view.song_trump : view.song_other) * 0.8);
  return ((cards + total(songs)) * 130) / 152;
}

const best_promise = (view) => Math.max(...[..."oceb"].map((suit) => promise(view, suit)));

const power = (base, times) => (times > 0 ? base * power(base, times - 1) : 1);

// The unseen cards that beat a card of yours within its suit.
const higher = (view, card) => view.above(view.suit(card), card).filter((other) => view.unseen.has(other)).length;

// The tricks that your hand can expect, by the probability that nobody holds anything better.
export function likely_tricks(view) {
  const others = Math.max(1, view.out.filter((is_out) => !is_out).length - 1);
  const size = Math.max(1, view.hand.size);
  const in_play = Math.min(1, (others * size) / Math.max(1, view.size - size)); // the probability that a given card is in play at all
  let expected = 0;
  for (const card of in_order(view)) {
    let chance = higher(view, card) < 4 ? power(1 - in_play, higher(view, card)) : 0;
    if (view.trump && view.suit(card) !== view.trump) {
      const length = view.above(view.suit(card), -1).filter((other) => view.hand.has(other)).length;
      chance *= Math.max(0.3, 0.9 - (0.12 * length * others) / 2);
    } else if (view.trump) {
      chance = Math.max(chance, size > 2 ? 0.35 * in_play : 0.2);
    }
    expected += chance;
  }
  return expected;
}

// The tricks that your hand can expect in bato, with poor cards exchanged before play (a new card is worth about 0.2).
export function tricks_in_sight(view) {
  const plain = (above) => [0.6, 0.35][above] ?? 0.2;
  const worth = (card) => (view.suit(card) === view.trump ? Math.max(0.3, 0.95 - 0.12 * higher(view, card)) : plain(higher(view, card)));
  return total(in_order(view).map(worth));
}

// --- the goal

// The cards in other hands or the stock.
const hidden_cards = (view) => [...view.unseen, ...view.known.flatMap((cards) => [...cards])];

// The strength of your hand relative to an average hand of the cards that you cannot see. Trumps count double.
export function strength_ratio(view) {
  const worth = (card) => (view.suit(card) === view.trump ? 2 : 1) * (view.value[card] + view.strength[card] / 2);
  const others = hidden_cards(view);
  const average = total(others.map(worth)) / Math.max(1, others.length);
  return view.hand.size && average ? total([...view.hand].map(worth)) / view.hand.size / average : 1;
}

// 1 to take points, -1 to avoid them, by the result of the game, the hand and what has been won so far.
export function aim(view) {
  const { result, seat } = view;
  const own = view.scored[seat];
  const size = view.hand.size;
  if (result === "exact_prediction") return view.tricks[seat] < view.predicted[seat] ? 1 : -1;
  if (!["middle_loses", "middle_of_three_loses", "cabron_loses", "most_points_loses_unless_101"].includes(result)) return 1;
  if (result === "most_points_loses_unless_101") return own + (25 * strength_ratio(view) * size) / 4 >= 101 ? 1 : -1;
  if (result === "cabron_loses" && !view.tricks[seat]) return 1; // a seat without a trick loses
  if (result === "cabron_loses" && own > 60) return -1; // a seat with more than a hundred loses, too
  const best_other = Math.max(0, ...view.scored.filter((_, other) => other !== seat && !view.out[other]));
  const still = size / Math.max(1, size + total(view.tricks));
  return (own - best_other) / 40 + (strength_ratio(view) - 1) * still > 0.25 ? 1 : -1;
}

// --- announcements

// Codillo: with an ordinary hand, because the called card brings a partner. Bato: with two tricks in sight; with loss marks, tricks earn nothing.
function enters(view) {
  if (view.trump) return view.settlement === "chips" && tricks_in_sight(view) >= 1.6;
  return best_promise(view) >= 35;
}

// In bato one trick is enough, but each seat that has joined takes some of the four tricks.
function joins(view) {
  const joined = view.call.filter((call) => call === "join").length;
  return view.settlement === "chips" && tricks_in_sight(view) >= 0.8 + 0.25 * joined;
}

// The strongest card that you lack: trumps before plain suits, long plain suits before short ones.
function worth_of_call(view, text) {
  const length = [...view.hand].filter((card) => view.suit(card) === text[1]).length;
  return 100 * ((text[1] === view.trump ? 20 : 0) + view.strength[view.card_of(text)]) + length;
}

// Keep trumps and aces and exchange the rest.
function worth_of_discard(view, texts) {
  const is_poor = (text) => text[1] !== view.trump && view.strength[view.card_of(text)] < 8;
  return total((texts.match(/\S+/g) ?? []).map((text) => (is_poor(text) ? 1 : -3)));
}

// The announcement to make now, or undefined when it is time to play a card.
export function announce(view) {
  const is_legal = (action) => view.legal.includes(action);
  const side = view.side[view.seat];
  const either = (action, is_good, other) => (is_good || !is_legal(other) ? action : other);
  const verbs = new Set(view.legal.map(verb_of));
  if (verbs.has("claim") && view.target !== null && view.totals[side] + view.points(side) >= view.target) return "claim";
  for (const verb of ["tute", "exchange"]) if (verbs.has(verb)) return liked(view, verb);
  if (verbs.has("sing") && aim(view) > 0) return liked(view, "sing", (suit) => (suit === view.trump ? 1 : 0));
  if (verbs.has("bid")) {
    const lowest = liked(view, "bid", (points) => -points);
    return either(lowest, best_promise(view) >= object(lowest), "pass");
  }
  if (verbs.has("enter")) return either("play", enters(view), "pass");
  if (verbs.has("join")) return either("join", joins(view), "out");
  if (verbs.has("trump")) return liked(view, "trump", (suit) => promise(view, suit));
  if (verbs.has("call")) return liked(view, "call", (card) => worth_of_call(view, card));
  if (verbs.has("predict")) return liked(view, "predict", (tricks) => -Math.abs(tricks - likely_tricks(view)));
  if (verbs.has("discard")) return liked(view, "discard", (cards) => worth_of_discard(view, cards));
  if (verbs.has("take")) return aim(view) > 0 || view.scored[view.seat] >= 101 ? "take" : "decline";
  if (verbs.has("play")) return undefined;
  return is_legal("pass") ? "pass" : view.legal[0];
}

// --- chances in the trick on the table

export const trick_points = (view) => total(view.table.map((card) => view.value[card]));

// The seats that play to this trick after you, in order.
export function to_follow(view) {
  const order = view.side.map((_, step) => (view.seat + step) % view.seats).slice(1);
  return order.filter((seat) => !view.out[seat] && !view.by.includes(seat));
}

function chance_to_beat(view, seat, card, led) {
  const known = view.known[seat];
  const reach = Math.min(1, Math.max(0, view.counts[seat] - known.size) / Math.max(1, view.unseen.size)); // for one unseen card
  const may = (other) => known.has(other) || (view.unseen.has(other) && !view.barred[seat].has(other));
  const has = (cards) => (cards.some((other) => known.has(other)) ? 1 : 1 - power(1 - reach, cards.length));
  const beats = has(view.above(view.suit(card), card).filter(may));
  const follows = has(view.above(led, -1).filter(may));
  const trumps = has(view.above(view.trump, -1).filter(may));
  if (view.suit(card) === view.trump) return led === view.trump || view.stock ? beats : beats * (1 - follows);
  if (view.stock && view.stock_duty !== "strict") return Math.max(beats, trumps * Math.min(1, (trick_points(view) + view.value[card]) / 16));
  const ruff = (1 - follows) * trumps;
  return ruff + (view.suit(card) === led ? beats * (1 - ruff) : 0);
}

// A rough probability that a card, winning for a seat once played, is not beaten by the other side in this trick.
export function chance_to_hold(view, seat, card) {
  const rivals = to_follow(view).filter((other) => !view.together(other, seat));
  return rivals.reduce((chance, other) => chance * (1 - chance_to_beat(view, other, card, view.led || view.suit(card))), 1);
}

// The points of the pairs that the trick would contain with a card, if the rules let its winner score them.
export function songs_on_table(view, card) {
  if (view.table_songs === "none") return 0;
  const laid = [card, ...view.table];
  const suits = [..."oceb"].filter((suit) => [...view.pair_ranks].every((rank) => laid.includes(view.card_of(rank + suit))));
  if (view.table_songs === "forced_first_40") return suits.length ? (view.trump ? 20 : 40) : 0;
  return total(suits.map((suit) => (suit === view.trump ? view.song_trump : view.song_other)));
}

// True if no card of its suit that may be in another hand or in the stock is stronger.
export const is_master = (view, card) => !hidden_cards(view).some((other) => view.suit(other) === view.suit(card) && other < card);

// The cards that you may play, without those that would break a pair still to be sung, unless no others are left.
export function loose_cards(view) {
  const cards = view.legal.map((action) => view.plays(action)).filter((card) => card >= 0);
  const suits = pairs(view);
  const loose = cards.filter((card) => !suits.includes(view.suit(card)) || !view.pair_ranks.includes(view.name[card][0]));
  return loose.length ? loose : cards;
}
