// A minimal bot in JavaScript: protocol 1 of the Tute League, one JSON object a line (docs/protocol.md).
// It keeps its hand from the events, announces what it can and plays the cheapest card, sparing pairs of king and horse.
import { createInterface } from "node:readline";

const VALUE = { 1: 11, 3: 10, R: 4, C: 3, S: 2 };
let seat = 0;
let hand = [];

function see(event) {
  if (event.e === "deal") hand = event.hand;
  if (event.e === "draw" && event.seat === seat) hand.push(event.card);
  if (event.e === "exchange" && event.seat === seat) hand.push(event.takes);
  if (event.e === "play" && event.seat === seat) hand = hand.filter((card) => card !== event.card);
}

function choose(legal) {
  const word = legal.find((action) => /^(tute|sing|exchange) /.test(action));
  if (word) return word;
  if (legal.includes("pass")) return "pass";
  const cost = (action) => {
    const [rank, suit] = action.slice(5); // "play 1o"
    const isPair = "RC".includes(rank) && hand.includes("R" + suit) && hand.includes("C" + suit);
    return (VALUE[rank] ?? 0) + (isPair ? 20 : 0);
  };
  const cards = legal.filter((action) => action.startsWith("play "));
  return cards.sort((a, b) => cost(a) - cost(b))[0] ?? legal[0];
}

function say(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    seat = message.seat;
    say({ type: "ready", name: "kit javascript" });
  } else if (message.type === "act") {
    message.events.forEach(see);
    say({ id: message.id, do: choose(message.legal) });
  }
}
