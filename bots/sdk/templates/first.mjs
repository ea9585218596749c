// A bot for the Tute League. Change `chooseCard`.
// A card is its place in the pack: the lower of two of a suit is stronger.
import { run } from "./tute.mjs";

// The cheapest card that wins, otherwise the cheapest card.
function chooseCard(view, cards) {
  const wins = (card) => view.best < 0 || view.beats(card, view.table[view.best]);
  const winners = cards.filter(wins);
  return cheapest(view, winners.length ? winners : cards);
}

// The card of least value, of equal ones the weakest.
function cheapest(view, cards) {
  return [...cards].sort((a, b) => view.value[a] - view.value[b] || b - a)[0];
}

// Announce what can be announced; without a card to play, pass.
function announce(view, cards) {
  const found = view.legal.find((action) => /^(tute|sing|exchange)\b/.test(action));
  if (found || cards.length) return found;
  return view.legal.includes("pass") ? "pass" : view.legal[0];
}

run("my bot", (view) => {
  const cards = view.legal.map((action) => view.plays(action)).filter((card) => card >= 0);
  return announce(view, cards) ?? `play ${view.name[chooseCard(view, cards)]}`;
});
