// A bot for games with an auction, such as subastado: it bids what its hand
// promises, less a margin of safety.
import { run } from "./tute.mjs";

const SAFETY = 5; // Points that the hand must promise beyond the bid.
const TRUMP_WORTH = { 1: 16, 3: 14, R: 9, C: 8, S: 7 };
const PLAIN_WORTH = { 1: 13, 3: 7, R: 3, C: 2, S: 1 };

// The points that the hand promises with a suit as trump.
function promise(view, trump) {
  let total = 0;
  for (const card of view.hand) {
    const [rank, suit] = view.name[card];
    total += suit === trump ? (TRUMP_WORTH[rank] ?? 5) : (PLAIN_WORTH[rank] ?? 0);
  }
  return total;
}

// The lowest bid if the best suit promises enough, else "pass"; null outside the auction.
function bid(view) {
  const amount = (action) => Number(action.split(" ")[1]);
  const bids = view.legal.filter((action) => action.startsWith("bid ")).sort((a, b) => amount(a) - amount(b));
  if (!bids.length || !view.legal.includes("pass")) return bids[0] ?? null;
  return Math.max(...[..."oceb"].map((suit) => promise(view, suit))) >= amount(bids[0]) + SAFETY ? bids[0] : "pass";
}

// The suit that promises most, when the trump is named.
function nameTrump(view) {
  const suits = view.legal.filter((action) => action.startsWith("trump "));
  return suits.sort((a, b) => promise(view, b.at(-1)) - promise(view, a.at(-1)))[0] ?? null;
}

// The cheapest card that wins, otherwise the cheapest card.
function chooseCard(view, cards) {
  const winners = cards.filter((card) => view.best < 0 || view.beats(card, view.table[view.best]));
  return (winners.length ? winners : cards).sort((a, b) => view.value[a] - view.value[b] || b - a)[0];
}

run("my bot", (view) => {
  const cards = view.legal.map((action) => view.plays(action)).filter((card) => card >= 0);
  const announced = view.legal.find((action) => /^(tute|sing|exchange)\b/.test(action));
  const said = bid(view) ?? nameTrump(view) ?? announced;
  if (said) return said;
  if (cards.length) return `play ${view.name[chooseCard(view, cards)]}`;
  return view.legal.includes("pass") ? "pass" : view.legal[0];
});
