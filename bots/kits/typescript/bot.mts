// The house bot `greedy` in TypeScript: it announces whatever pays, and plays the card with the best trick, less what the card is worth later.
// tute.mjs beside it has the dialogue, the view and deals of the hidden cards; sense.mjs has announcements and rough chances.
import { aim, announce, chance_to_hold, is_master, loose_cards, songs_on_table, to_follow, trick_points } from "./sense.mjs";
import { type Card, type View, run } from "./tute.mjs";

const COMING = 3; // points that each seat still to play adds to a trick, on average
const TRICK = 10; // worth of a trick in games that count tricks, not points

// The points that the trick is expected to bring our side (minus: theirs) if we play the card.
function trick_value(view: View, card: Card): number {
  const counts_tricks = ["trick_commitments", "exact_prediction"].includes(view.result);
  const points = trick_points(view) + view.value[card] + songs_on_table(view, card) + COMING * to_follow(view).length;
  const worth = (counts_tricks ? TRICK : points) + (view.hand.size === 1 ? view.bonus : 0);
  const winning = view.table[view.best];
  if (view.best < 0 || view.beats(card, winning)) return worth * (2 * chance_to_hold(view, view.seat, card) - 1);
  const winner = view.by[view.best];
  if (view.together(winner, view.seat)) return worth * (2 * chance_to_hold(view, winner, winning) - 1);
  const has_partner = view.side.some((_, seat) => seat !== view.seat && !view.out[seat] && view.together(seat, view.seat));
  return worth * (1 - 2 * (has_partner ? chance_to_hold(view, winner, winning) : 1));
}

// The later worth of the card, in points.
function price(view: View, card: Card): number {
  if (view.suit(card) === view.trump) return 3 + 1.2 * view.strength[card];
  return is_master(view, card) && view.value[card] ? 4 : 0.5 * view.strength[card];
}

run("kit typescript", (view) => {
  const word = announce(view);
  if (word !== undefined) return word;
  const way = aim(view);
  const cards = loose_cards(view);
  const gains = cards.map((card) => way * (trick_value(view, card) - price(view, card)));
  return "play " + view.name[cards[gains.indexOf(Math.max(...gains))]];
});
