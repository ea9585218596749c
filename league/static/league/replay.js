// <tute-replay src="/m/<id>/replay.json?b=1&s=0" deck="/static/league/cards.svg">: shows a recorded sitting, step by step.
// It folds over the events of the record (docs/protocol.md) and knows no rules. The page already contains the sitting in words, an
// <ol class="steps"> with one <li id="d<deal>p<step>"> per event; this element adds the table, shows the hidden buttons, and handles
// keys and the address. In a frame of another site it has page="...": the page to which links lead; it then asks as nobody in particular.
import { fold, QUIET } from "./replay-fold.js";
import { arrange } from "./replay-list.js";

const SVG = "http://www.w3.org/2000/svg";
const NOTABLE = new Set(["song", "tute", "claim", "exchange", "notice", "return", "capote", "fault", "trump", "partner", "called", "takeover", "score", "over"]);
const SUITS = "oceb♠♥♦♣", RANKS = "A13KRQCJST98765420"; // Only the display order of a hand.
const SPEEDS = [0.5, 1, 2, 4, 8]; // Steps per second.
const MOST_BEHIND = 24; // Animate at most this many steps when the record grows; skip earlier ones.
const TRAVEL_MS = 280, SHARE = 0.7; // The time that a card travels, and its largest share of a step.
const still = matchMedia("(prefers-reduced-motion: reduce)");

export const make = (tag, attributes = {}, ...inside) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== false) node.setAttribute(name, value);
  node.append(...inside);
  return node;
};
export const tidy = (cards) => [...cards].sort((a, b) => SUITS.indexOf(a.at(-1)) - SUITS.indexOf(b.at(-1)) || RANKS.indexOf(a[0]) - RANKS.indexOf(b[0]));

export class TuteReplay extends HTMLElement {
  gone = new AbortController(); // Removes the listeners on the window when the element leaves the page.
  async connectedCallback() {
    this.list = this.querySelector("ol.steps");
    this.status = this.querySelector(".say");
    try {
      const credentials = this.hasAttribute("page") ? "omit" : "same-origin";
      const answer = await fetch(this.getAttribute("src"), { headers: { Accept: "application/json" }, credentials });
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
      this.data = await answer.json();
    } catch (error) {
      this.status.textContent = `${this.dataset.failed} (${error.message})`;
      return; // The list of steps remains as the record in words.
    }
    this.events = this.data.events;
    this.index();
    if (!this.steps.length) return; // Nothing was played; the page gives the reason.
    this.build(); this.listen(); this.arrange();
    this.classList.add("ready");
    if (this.hasAttribute("at-end")) this.go(this.steps.length - 1, false); else this.fromAddress(true);
  }
  async renew(items) { // The record has grown or changed: animate the new steps.
    const answer = await fetch(this.getAttribute("src"), { headers: { Accept: "application/json" }, cache: "no-store" }).catch(() => null);
    if (!answer?.ok || !this.classList.contains("ready")) return;
    const before = this.events, { now, as, turned } = this;
    this.data = await answer.json(); this.events = this.data.events;
    this.list.replaceChildren(...items);
    this.index(); this.arrange();
    const same = before.length <= this.events.length && JSON.stringify(before[1]) === JSON.stringify(this.events[1]);
    Object.assign(this, { as, turned, speed: 4, now: same ? Math.max(now, this.steps.length - MOST_BEHIND) : 0 });
    delete this.querySelector(".strip").dataset.deal;
    this.querySelector("input[type=range]").max = this.steps.length - 1;
    this.draw();
    this.play(true);
  }

  disconnectedCallback() { this.play(false); this.gone.abort(); }

  // --- where we are -------------------------------------------------------------------------------------------------
  index() {
    this.steps = []; // one per event but the header: {at: index of the event, deal, ply}
    let deal = 0, ply = 0;
    this.events.forEach((e, at) => {
      if (QUIET.has(e.e)) return;
      if (e.e === "deal") { deal = e.deal; ply = 0; }
      this.steps.push({ at, deal, ply, id: `d${deal}p${ply++}` });
    });
    this.items = this.steps.map(({ id }) => this.list.querySelector(`#${id}`));
    this.now = 0; this.as = null; this.turned = +(this.getAttribute("seat") ?? 0); this.speed = 2;
  }
  arrange() { arrange(this.list, this.querySelector(".heads"), { steps: this.steps, items: this.items, events: this.events, seats: this.data.seats, sign: (suit) => this.sign(suit) }); }
  event(step) { return this.events[this.steps[step].at]; }
  find(from, way, wanted) {
    for (let k = from + way; k >= 0 && k < this.steps.length; k += way) if (wanted(this.event(k), this.steps[k])) return k;
    return way > 0 ? this.steps.length - 1 : 0;
  }
  fromAddress(first = false) {
    const [, deal, ply] = `${location.hash}${new URL(location).searchParams.get("step")}`.match(/d(\d+)p(\d+)/) ?? [];
    const seat = location.hash.match(/&as=(\d)/)?.[1];
    this.as = seat !== undefined && +seat < this.data.seats.length ? +seat : null;
    let step = this.steps.findIndex((s) => s.deal === +deal && s.ply === +ply);
    if (step < 0 && location.hash === "#fault") step = this.steps.findLastIndex((s) => this.events[s.at].e === "fault");
    this.go(Math.max(step, 0), !first || step > 0);
    if (first && step > 0) { scrollTo(0, 0); this.felt.scrollIntoView({ block: "nearest" }); } // The browser has scrolled to the line of the step.
  }
  go(step, write = true) {
    const onwards = step === this.now + 1;
    this.now = Math.min(Math.max(step, 0), this.steps.length - 1);
    if (this.now === this.steps.length - 1) this.play(false);
    if (write && !this.hasAttribute("at-end")) history.replaceState(null, "", this.address());
    const before = onwards && !still.matches ? this.whereCardsAre() : null;
    this.draw();
    if (before) this.travel(before);
  }
  step() { return `#${this.steps[this.now].id}${this.as === null ? "" : `&as=${this.as}`}`; }
  address() { const here = new URL(location); here.searchParams.delete("step"); return `${here.search}${this.step()}`; }
  link() { // To this step, for others. A preview of it shows the step, which the part behind # would not tell the server.
    const link = new URL(this.getAttribute("page") ?? this.address(), location);
    if (this.hasAttribute("at-end")) return link.href;
    link.searchParams.set("step", this.steps[this.now].id);
    link.hash = this.step();
    return link.href;
  }

  // --- doing --------------------------------------------------------------------------------------------------------
  actions = {
    next: () => this.go(this.now + 1),
    back: () => this.go(this.now - 1),
    "next-trick": () => this.go(this.find(this.now, 1, (e) => e.e === "trick" || e.e === "score" || e.e === "fault")),
    "back-trick": () => this.go(this.find(this.now, -1, (e) => e.e === "trick" || e.e === "deal")),
    first: () => this.go(this.find(this.now, -1, (e) => e.e === "deal")),
    last: () => this.go(this.find(this.now, 1, (_, s) => this.steps[this.steps.indexOf(s) + 1]?.deal !== s.deal)),
    "next-deal": () => this.go(this.find(this.now, 1, (e) => e.e === "deal")),
    "back-deal": () => this.go(this.find(this.find(this.now + 1, -1, (e) => e.e === "deal"), -1, (e) => e.e === "deal")),
    "next-notable": () => this.go(this.find(this.now, 1, (e) => NOTABLE.has(e.e))),
    "back-notable": () => this.go(this.find(this.now, -1, (e) => NOTABLE.has(e.e))),
    play: () => this.play(!this.timer),
    faster: () => this.pace(1),
    slower: () => this.pace(-1),
    turn: () => { this.turned = (this.turned + 1) % this.data.seats.length; this.draw(); },
    share: async () => {
      try { await navigator.clipboard.writeText(this.link()); this.flash(this.dataset.copied); }
      catch { this.flash(this.link()); } // Without https there is no clipboard: show the address instead.
    },
    help: () => this.querySelector("dialog").showModal(),
  };
  keys = {
    ArrowRight: "next", j: "next", ArrowLeft: "back", k: "back", J: "next-trick", K: "back-trick", Home: "first", 0: "first", End: "last",
    $: "last", "]": "next-deal", "[": "back-deal", n: "next-notable", p: "back-notable", " ": "play", "+": "faster", "-": "slower",
    f: "turn", s: "share", "?": "help",
  };
  seeAs(seat) { this.as = this.as === seat ? null : seat; this.go(this.now); }
  play(on) {
    clearInterval(this.timer);
    this.timer = on && this.now < this.steps.length - 1 ? setInterval(() => this.go(this.now + 1), 1000 / this.speed) : null;
    this.button("play")?.setAttribute("aria-pressed", String(!!this.timer));
  }
  pace(way) {
    this.speed = SPEEDS[Math.min(Math.max(SPEEDS.indexOf(this.speed) + way, 0), SPEEDS.length - 1)];
    this.querySelector(".speed").textContent = `${this.speed}×`;
    if (this.timer) this.play(true);
  }
  flash(text) {
    const place = this.querySelector(".flash");
    place.textContent = text;
    clearTimeout(this.fading); this.fading = setTimeout(() => { place.textContent = ""; }, 4000);
  }
  button(name) { return this.querySelector(`[data-do="${name}"]`); }
  listen() {
    this.addEventListener("click", (click) => {
      const action = click.target.closest("[data-do]"), step = click.target.closest("a[href^='#d']"), seat = click.target.closest("[data-as]");
      if (action) this.actions[action.dataset.do]();
      else if (seat) this.seeAs(+seat.dataset.as);
      else if (step) { click.preventDefault(); this.go(this.steps.findIndex((s) => `#${s.id}` === step.getAttribute("href"))); }
    });
    this.querySelector("input[type=range]").addEventListener("input", (input) => this.go(+input.target.value));
    addEventListener("hashchange", () => this.fromAddress(), { signal: this.gone.signal });
    addEventListener("keydown", (press) => {
      if (this.hasAttribute("at-end") || press.ctrlKey || press.altKey || press.metaKey || this.querySelector("dialog").open) return;
      const inside = press.target.closest("input:not([type=range]), select, textarea, [contenteditable]");
      const own = press.key === " " && press.target.closest("button, a, summary"); // Space still presses a focused button.
      if (inside || own) return;
      const seat = /^[1-7]$/.test(press.key) ? +press.key - 1 : -1;
      const trick = press.shiftKey && { ArrowRight: "next-trick", ArrowLeft: "back-trick" }[press.key];
      const name = trick || this.keys[press.key];
      if (seat >= 0 && seat < this.data.seats.length) this.seeAs(seat);
      else if (name) this.actions[name]();
      else return;
      press.preventDefault();
    }, { signal: this.gone.signal });
    let start = null;
    this.felt.addEventListener("touchstart", (touch) => { start = touch.touches.length === 1 ? touch.touches[0] : null; }, { passive: true });
    this.felt.addEventListener("touchend", (touch) => {
      if (!start) return;
      const x = touch.changedTouches[0].clientX - start.clientX, y = touch.changedTouches[0].clientY - start.clientY;
      if (Math.abs(x) > 40 && Math.abs(x) > 2 * Math.abs(y)) this.go(this.now + (x < 0 ? 1 : -1));
    });
  }

  // --- drawing ------------------------------------------------------------------------------------------------------
  card(card, extra = "") {
    const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
    svg.setAttribute("class", `card ${extra}`); svg.setAttribute("viewBox", "0 0 124 190"); svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", card ? this.data.cards[card] ?? card : this.data.labels.back);
    if (card) svg.dataset.card = card;
    if (card && !this.data.cards[card]) return this.plain(svg, card);
    use.setAttribute("href", `${this.getAttribute("deck")}#card-${card ?? "back"}`);
    svg.append(use);
    return svg;
  }
  plain(svg, card) { // Draws a card that our deck lacks, such as a French one, as a sign on white.
    const ink = /[♥♦]/.test(card) ? "#b3261e" : "#22252a";
    for (const [tag, attributes, text] of [
      ["rect", { x: 1, y: 1, width: 122, height: 188, rx: 9, fill: "#fffdf7", stroke: "#b9b0a2" }],
      ["text", { x: 12, y: 42, "font-size": 38, "font-weight": 700, fill: ink }, card.slice(0, -1)],
      ["text", { x: 10, y: 80, "font-size": 36, fill: ink }, card.at(-1)],
      ["text", { x: 62, y: 150, "font-size": 84, "text-anchor": "middle", fill: ink }, card.at(-1)],
    ]) {
      const node = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      if (text) node.textContent = text;
      svg.append(node);
    }
    return svg;
  }
  sign(suit) {
    if ("♠♥♦♣".includes(suit)) return make("span", {}, suit);
    const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
    svg.setAttribute("class", "suit"); svg.setAttribute("aria-hidden", "true");
    use.setAttribute("href", `${this.getAttribute("deck")}#suit-${suit}`);
    svg.append(use);
    return svg;
  }
  build() {
    const { seats, labels } = this.data;
    this.felt = this.querySelector(".felt");
    this.felt.classList.add(`of-${seats.length}`);
    this.places = seats.map((seat, number) => {
      const who = make("button", { type: "button", class: "who", "data-as": number, title: labels.see_as.replace("%s", seat.name) }, seat.name);
      const place = make("section", { class: `seat side-${seat.side}`, "aria-label": seat.name },
        make("div", { class: "plate" }, who, make("span", { class: "tags" }), make("span", { class: "badges" }), make("b", { class: "points" })),
        make("div", { class: "hand" }));
      this.felt.append(place);
      return place;
    });
    this.middle = make("div", { class: "middle" });
    this.corner = make("div", { class: "corner" });
    this.tally = make("div", { class: "tally" });
    this.last = make("div", { class: "last" });
    this.flying = make("div", { class: "flying", "aria-hidden": "true" });
    this.felt.append(this.middle, this.corner, this.tally, this.last, this.flying);
    this.querySelectorAll("[hidden].js").forEach((node) => { node.hidden = false; });
    this.querySelector("input[type=range]").max = this.steps.length - 1;
  }
  draw() {
    const step = this.steps[this.now], item = this.items[this.now], event = this.event(this.now);
    const state = fold(this.events, step.at, this.data.seats.length);
    this.drawSeats(state, event); this.drawMiddle(state, event); this.drawCorner(state); this.drawStrip(step);
    this.list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    if (item) {
      item.setAttribute("aria-current", "step");
      const top = item.offsetTop - this.list.clientHeight / 2;
      this.list.scrollTop = top;
      const words = item.firstElementChild.cloneNode(true);
      words.querySelectorAll(".cell").forEach((node) => node.remove()); // The drawn card; the sentence names it.
      if (this.as !== null && +item.dataset.seat !== this.as) words.querySelectorAll(".secret").forEach((node) => node.remove());
      this.status.textContent = words.textContent.trim();
    }
    this.list.querySelectorAll(".secret").forEach((node) => { node.hidden = this.as !== null && +node.closest("li").dataset.seat !== this.as; });
    const ends = this.steps.filter((s) => s.deal === step.deal);
    this.querySelector(".where").textContent = this.data.labels.where.replace("%(deal)s", step.deal).replace("%(step)s", step.ply).replace("%(last)s", ends.length - 1);
    this.querySelector("input[type=range]").value = this.now;
    this.querySelector("input[type=range]").setAttribute("aria-valuetext", this.status.textContent);
    this.dispatchEvent(new CustomEvent("step", { detail: { ...step, number: this.now }, bubbles: true }));
  }
  drawSeats(state, event) {
    const { labels, seats } = this.data;
    this.places.forEach((place, seat) => {
      const hidden = this.as !== null && this.as !== seat;
      const at = (seat - this.turned + seats.length) % seats.length;
      place.className = `seat side-${seats[seat].side} at-${at}${event.seat === seat ? " acts" : ""}${state.out.includes(seat) ? " out" : ""}`;
      place.querySelector(".who").setAttribute("aria-pressed", String(this.as === seat));
      place.querySelector(".tags").textContent = [
        seat === state.mano && labels.mano, seat === state.dealer && labels.dealer,
        state.tricks[seat] && labels.tricks.replace("%s", state.tricks[seat]), state.marks?.[seat] && labels.marks.replace("%s", state.marks[seat]),
      ].filter(Boolean).join(" · ");
      place.querySelector(".points").textContent = state.points[seat] || "";
      place.querySelector(".badges").replaceChildren(...state.badges[seat].map((badge) => {
        const node = make("span", { class: `badge ${badge.kind}` }, badge.kind === "fault" ? "" : `${labels[badge.kind] ?? badge.kind} `);
        if (badge.suit) node.append(this.sign(badge.suit));
        if (badge.text) node.append(badge.kind === "fault" ? labels.faults[badge.text] ?? badge.text : badge.kind === "call" ? badge.text.replace(/^\w+/, (word) => labels.calls[word] ?? word) : this.data.cards[badge.text] ?? String(badge.text));
        return node;
      }));
      const known = hidden ? null : state.hands[seat];
      const cards = known ? tidy(known) : Array(state.counts[seat]).fill(null);
      place.querySelector(".hand").replaceChildren(...cards.map((card) => make("span", {}, this.card(card))));
    });
  }
  drawMiddle(state, event) {
    const { seats, labels } = this.data, n = seats.length;
    if (event.e === "score" || event.e === "over") return this.middle.replaceChildren(this.result(event, state));
    const trick = state.table.map(({ seat, card }) => make("figure", {
      class: `laid at-${(seat - this.turned + n) % n}${state.winner === seat ? " wins" : ""}`, "data-from": seat,
    }, this.card(card), ...(state.winner === seat ? [make("figcaption", { class: "gain" }, `+${state.gain}`)] : [])));
    return this.middle.replaceChildren(make("div", { class: "baize" }, ...trick), ...(state.table.length ? [] : [make("p", { class: "quiet" }, event.e === "deal" ? labels.dealt : "")]));
  }
  sides() { // [{name, side, seats}], each bot once
    const found = new Map();
    this.data.seats.forEach((seat, number) => {
      if (!found.has(seat.side)) found.set(seat.side, { name: seat.name, side: seat.side, seats: [] });
      const side = found.get(seat.side);
      side.seats.push(number);
      if (side.seats.length > 1) side.name = this.data.sides[seat.side];
    });
    return [...found.values()];
  }
  result(event, state) {
    const { labels, unit } = this.data, running = unit === "rank" || unit === "marks" ? event.marks : event.scores;
    const rows = this.sides().map(({ name, seats }) => {
      const points = event.points && seats.reduce((sum, seat) => sum + event.points[seat], 0);
      const cells = event.e === "over" ? [event.scores[seats[0]]] : [points, running?.[seats[0]]];
      return make("tr", {}, make("th", { scope: "row" }, name), ...cells.filter((c) => c !== undefined).map((c) => make("td", { class: "num" }, String(c))));
    });
    const heads = event.e === "over" ? [] : [make("thead", {}, make("tr", {}, make("td"), make("th", { scope: "col", class: "num" }, labels.deal_points), make("th", { scope: "col", class: "num" }, unit === "rank" || unit === "marks" ? labels.all_marks : labels.all_points)))];
    return make("table", { class: "result" }, make("caption", {}, event.e === "over" ? labels.over : labels.score.replace("%s", state.deal)), ...heads, make("tbody", {}, ...rows));
  }
  drawCorner(state) {
    const { labels } = this.data, inside = [];
    if (state.trump) inside.push(make("p", { class: "trump" }, this.sign(state.trump), " ", make("span", {}, labels.trumps.replace("%s", labels.suits[state.trump] ?? state.trump))));
    if (state.lead) inside.push(make("p", {}, this.sign(state.lead), " ", labels.lead.replace("%s", labels.suits[state.lead])));
    const pile = [];
    if (state.shown) pile.push(make("span", { class: "shown" }, this.card(state.shown)));
    if (state.stock > 0) pile.push(make("span", { class: "stock" }, this.card(null), make("b", {}, String(state.stock))));
    if (pile.length) inside.push(make("div", { class: "pile", title: labels.stock }, ...pile));
    this.corner.replaceChildren(...inside);
    this.last.replaceChildren(...(state.last ? [make("span", {}, labels.last), ...state.last.map((card) => this.card(card))] : []));
    const sides = this.sides();
    if (sides.length === state.points.length) return; // Without partners the plate of each seat shows its score.
    this.tally.replaceChildren(...sides.map(({ name, side, seats }) => make("p", { class: `side-${side}` }, name, " ", make("b", {}, String(seats.reduce((sum, seat) => sum + state.points[seat], 0))))));
  }
  // --- moving: cards travel from where they were to where they are, and a trick to who won it ------------------------------
  whereCardsAre() { // Positions of all visible cards, and of the seat about to take the trick.
    const found = new Map();
    for (const card of this.felt.querySelectorAll(".hand [data-card], .laid [data-card], .shown [data-card]")) found.set(card.dataset.card, card.getBoundingClientRect());
    const trick = [...this.middle.querySelectorAll(".laid .card")].map((card) => [card, card.getBoundingClientRect()]);
    const winner = this.middle.querySelector(".laid.wins");
    return { found, trick, winner: winner && +winner.dataset.from, hands: this.places.map((place) => place.querySelector(".hand").getBoundingClientRect()), stock: this.corner.querySelector(".stock")?.getBoundingClientRect() };
  }
  travel({ found, trick, winner, hands, stock }) {
    const duration = Math.min(TRAVEL_MS, SHARE * 1000 / this.speed), easing = "ease-out";
    const move = (card, from) => {
      const to = card.getBoundingClientRect(), x = from.x + from.width / 2 - to.x - to.width / 2, y = from.y + from.height / 2 - to.y - to.height / 2;
      if (Math.hypot(x, y) > 1) card.animate([{ transform: `translate(${x}px, ${y}px) scale(${Math.min(from.width / to.width, 1) || 1})` }, { transform: "none" }], { duration, easing });
    };
    for (const card of this.felt.querySelectorAll(".hand [data-card], .shown [data-card]")) {
      const from = found.get(card.dataset.card) ?? stock; // A card that appears comes from the stock.
      if (from) move(card, from);
    }
    for (const laid of this.middle.querySelectorAll(".laid")) {
      const card = laid.querySelector(".card"), from = found.get(card.dataset.card) ?? hands[+laid.dataset.from];
      move(card, from);
    }
    this.flying.replaceChildren();
    if (winner === null || this.middle.querySelector(".wins")) return;
    const home = this.felt.getBoundingClientRect(), to = this.places[winner].getBoundingClientRect();
    for (const [card, from] of trick) {
      this.flying.append(card);
      const at = (box) => `translate(${box.x + box.width / 2 - home.x - from.width / 2 - this.felt.clientLeft}px, ${box.y + box.height / 2 - home.y - from.height / 2 - this.felt.clientTop}px)`;
      card.animate([{ transform: at(from) }, { transform: `${at(to)} scale(.35)`, opacity: 0.2 }], { duration, easing: "ease-in", fill: "both" }).finished.then(() => card.remove(), () => {});
    }
  }
  drawStrip(step) {
    const strip = this.querySelector(".strip");
    if (strip.dataset.deal !== String(step.deal)) {
      strip.dataset.deal = step.deal;
      let number = 0, marks = [];
      const parts = [];
      for (const s of this.steps.filter((one) => one.deal === step.deal)) {
        const e = this.events[s.at];
        if (e.e === "trick") {
          const label = `${++number}. ${this.data.seats[e.seat].name} +${e.points}`;
          parts.push(make("a", { href: `#${s.id}`, class: `bit side-${this.data.seats[e.seat].side}`, title: [label, ...marks].join(" · "), "aria-label": label, "data-step": s.at, "data-marked": marks.length ? "" : null }));
          marks = [];
        } else if (e.e !== "score" && NOTABLE.has(e.e)) marks.push(this.data.labels[e.e] ?? e.e);
      }
      strip.replaceChildren(...parts);
    }
    let current = null;
    for (const bit of strip.children) { bit.classList.toggle("past", +bit.dataset.step <= step.at); bit.removeAttribute("aria-current"); if (!current && +bit.dataset.step >= step.at) current = bit; }
    current?.setAttribute("aria-current", "step");
  }
}
customElements.define("tute-replay", TuteReplay);
