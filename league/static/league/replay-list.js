// Sets the list of steps as a table: one row for a trick, one column for a seat, the winner at the end. The list itself, its order and
// its words stay as the page wrote them; each card is drawn in front of its sentence, which screen readers still read.
import { bonusOf, lastTen } from "./replay-fold.js";

const RANKS = { S: "10", C: "11", R: "12" }; // The numbers that are printed on the court cards.
const IN_A_COLUMN = new Set(["play", "draw"]);

const span = (name, ...inside) => {
  const node = document.createElement("span");
  node.className = name;
  node.append(...inside);
  return node;
};

/** The rank as it is printed on the card. */
export const rank = (card) => RANKS[card.slice(0, -1)] ?? card.slice(0, -1);

function cell(item, event, sign) { // The drawn card, in front of the sentence.
  const link = item.querySelector("a"), words = span("unseen");
  words.append(...link.childNodes);
  const hidden = event.e === "draw" && !event.shown ? " secret" : "";
  const drawn = event.card ? [rank(event.card), sign(event.card.at(-1))] : ["+1"];
  const shown = span(`cell${hidden}`, ...(event.e === "draw" && event.card ? ["+", ...drawn] : drawn));
  shown.setAttribute("aria-hidden", "true");
  link.append(shown, words);
}

/** steps: {at: number of the event}; items: the list items of the steps; seats: [{name, side}]; sign: draws a suit. */
export function arrange(list, heads, { steps, items, events, seats, sign }) {
  list.dataset.seats = heads.dataset.seats = seats.length;
  heads.replaceChildren(...seats.map((seat, number) => { const head = span(`side-${seat.side}`, seat.name); head.style.gridColumn = number + 2; return head; }));
  let row = 0, trick = 0, open = 0, draws = 0, inTrick = new Map();
  steps.forEach(({ at }, number) => {
    const event = events[at], item = items[number];
    if (!item) return;
    if (event.e === "deal") trick = 0;
    if (event.e !== "draw") draws = 0;
    if (IN_A_COLUMN.has(event.e)) {
      if (event.e === "play") {
        if (!open || inTrick.has(event.seat)) { open = ++row; inTrick = new Map(); item.classList.add("leads"); }
        inTrick.set(event.seat, item);
      } else draws ||= ++row;
      item.style.gridRow = event.e === "play" ? open : draws;
      item.style.gridColumn = event.seat + 2;
      if (!item.querySelector(".cell")) cell(item, event, sign);
    } else if (event.e === "trick" && open) {
      item.style.gridRow = open;
      item.dataset.number = ++trick;
      inTrick.get(event.seat)?.classList.add("takes", `side-${seats[event.seat].side}`);
      if (!item.querySelector(".cell")) {
        const link = item.querySelector("a"), words = span("unseen");
        words.append(...link.childNodes);
        const won = span("cell", span("name", seats[event.seat].name), ` +${event.points + lastTen(bonusOf(events, at), event)}`);
        won.setAttribute("aria-hidden", "true");
        link.append(won, words);
      }
      item.classList.add(`side-${seats[event.seat].side}`);
      open = 0; inTrick = new Map();
    } else {
      item.style.gridRow = ++row;
      if (event.e === "deal" || event.e === "score" || event.e === "fault") { open = 0; inTrick = new Map(); }
    }
  });
  list.classList.add("set");
}
