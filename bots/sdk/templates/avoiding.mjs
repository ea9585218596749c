// A bot for games in which points may hurt, such as cabrero: it loses its
// dearest card under a higher one.
import { run } from "./tute.mjs";

// The dearest card that loses, otherwise the cheapest card.
function chooseCard(view, cards) {
  const wins = (card) => view.best < 0 || view.beats(card, view.table[view.best]);
  const losers = cards.filter((card) => !wins(card)).sort((a, b) => view.value[b] - view.value[a] || a - b);
  return losers[0] ?? [...cards].sort((a, b) => view.value[a] - view.value[b] || b - a)[0];
}

run("my bot", (view) => {
  const cards = view.legal.map((action) => view.plays(action)).filter((card) => card >= 0);
  if (cards.length) return `play ${view.name[chooseCard(view, cards)]}`;
  return view.legal.includes("pass") ? "pass" : view.legal[0];
});
