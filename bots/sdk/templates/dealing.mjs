// A bot that deals the hidden cards: it announces whatever it can, and plays the card that gains most in this trick on average over some deals of the
// hidden cards. tute.mjs beside it has the dialogue, the view and the deals.
import { run } from "./tute.mjs";

const DEALS = 30;

// True if no opponent who plays after us holds a card that beats ours in this deal.
function stands(view, card, { hands }) {
  for (let step = 1; step < view.seats - view.table.length; step++) {
    const seat = (view.seat + step) % view.seats;
    if (view.together(seat, view.seat)) continue;
    for (const other of hands[seat])
      if (view.suit(other) === view.suit(card) ? other < card : view.suit(other) === view.trump) return false;
  }
  return true;
}

// The worth of a card in this trick: the points on the table if it wins, minus its own if it loses.
function worth(view, card, deals) {
  const own = view.value[card];
  const pot = view.table.reduce((sum, other) => sum + view.value[other], own);
  const leads = view.best < 0 || view.beats(card, view.table[view.best]);
  const won = leads ? deals.filter((deal) => stands(view, card, deal)).length : 0;
  const share = deals.length ? won / deals.length : 0;
  return share * pot - (1 - share) * own - own / 4;
}

run("my bot", (view) => {
  const deals = Array.from({ length: DEALS }, () => view.deal()).filter(Boolean);
  const liked = (action) => {
    if (/^(tute|sing|exchange) /.test(action)) return 300;
    if (action === "pass") return 200;
    if (/^(claim|capote|accuse)/.test(action)) return -500;
    const card = view.plays(action);
    return card < 0 ? 0 : worth(view, card, deals);
  };
  const likings = view.legal.map(liked);
  return view.legal[likings.indexOf(Math.max(...likings))];
});
