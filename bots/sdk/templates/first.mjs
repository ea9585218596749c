// A bot for the Tute League. Change `chooseCard`; a card is its place in the pack, so a lower number is the stronger card of a suit.
import { run } from "./tute.mjs";

// The cheapest card that wins, otherwise the cheapest card.
function chooseCard(view, cards) {
  const winners = cards.filter((card) => view.best < 0 || view.beats(card, view.table[view.best]));
  return cheapest(view, winners.length ? winners : cards);
}

// The card of least value, of equal ones the weakest.
function cheapest(view, cards) {
  return [...cards].sort((a, b) => view.value[a] - view.value[b] || b - a)[0];
}

// Announce what can be announced; without a card to play, pass.
function announce(view, cards) {
  const found = view.legal.find((action) => /^(tute|sing|exchange)\b/.test(action));
  return found ?? (cards.length ? null : view.legal.find((action) => action === "pass") ?? view.legal[0]);
}

run("my bot", (view) => {
  const cards = view.legal.map((action) => view.plays(action)).filter((card) => card >= 0);
  return announce(view, cards) ?? `play ${view.name[chooseCard(view, cards)]}`;
});
