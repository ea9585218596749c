// <tute-table src seat deck>: the table as the person at a seat sees it. It shares the record and its folding with <tute-replay>, but draws no hand:
// that of the person is the form below (seat.js), those of the others are numbers. New events are shown one by one, at a pace that eyes can follow.
import { fold } from "./replay-fold.js";
import { TuteReplay, make } from "./replay.js";

const CARD_MS = 200, NEXT_MS = 600, SWEEP_MS = 300, DRAW_MS = 250, DEAL_MS = 700, BANNER_MS = 1200, SCORE_MS = 2500, END_MS = 1500;
const MOST_BEHIND = 24; // Events that are shown one by one; earlier ones are skipped.
const BANNERS = new Set(["song", "tute", "claim", "exchange", "notice", "capote", "partner", "called", "takeover", "fault", "accuse", "last_ten"]);
const NUMBERS = { S: "10", C: "11", R: "12" };
// The place of each seat around the table, from the person's own to the right: n north, r and l in rows from above.
const PLACES = { 2: "s n0", 3: "s r0 l0", 4: "s r1 n0 l1", 5: "s r1 r0 l0 l1", 6: "s r2 r1 n0 l1 l2", 7: "s r2 r1 r0 l0 l1 l2" };
const still = matchMedia("(prefers-reduced-motion: reduce)");
const fill = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);

class TuteTable extends TuteReplay {
  near = Number(this.getAttribute("seat")); // The seat at the bottom: the person's own, or that of somebody who is watched.
  own = this.hasAttribute("watches") ? -1 : this.near;
  swept = false; // The finished trick has gone to its winner.
  showing = null; // Resolved once the present is on the table.
  get game() { return this.closest(".game"); }
  get rest() { return Number(this.game.dataset.rest); }

  arrange() { /* The tricks stand beside the table instead of the steps. */ }
  build() {
    this.felt = this.querySelector(".felt");
    const { seats } = this.data, places = PLACES[seats.length].split(" ");
    this.felt.classList.add(`of-${seats.length}`);
    this.spots = seats.map((_, seat) => places[(seat - this.near + seats.length) % seats.length]);
    this.plates = seats.map((seat, number) => make("div", { class: `who at-${this.spots[number]} side-${seat.side}` }));
    this.middle = make("div", { class: "trick" });
    this.pile = make("div", { class: "pile" });
    this.banner = make("p", { class: "sung", "aria-hidden": "true" });
    this.lastButton = make("button", { type: "button", class: "lastbtn", "data-open": "tricks" });
    this.flying = make("div", { class: "flying", "aria-hidden": "true" });
    this.felt.append(...this.plates, this.middle, this.pile, this.lastButton, this.banner, this.flying);
    this.felt.hidden = false;
    this.querySelector(".log").hidden = true;
    this.swept = true;
  }
  listen() {
    this.felt.addEventListener("click", (click) => { if (!click.target.closest("button")) this.hurry?.(); });
  }

  go(step) { // Opens at the present, or at the deal if the table has just begun before the eyes of the person.
    this.now = this.hasAttribute("new") ? this.find(step + 1, -1, (e) => e.e === "deal") : step;
    this.draw();
    if (this.now < step) this.start();
  }
  start() { return this.showing ??= this.show().finally(() => { this.showing = null; }); }

  // --- time ---------------------------------------------------------------------------------------------------------
  async renew(list, record) { // The record has grown: show what is new, from event `first` on. Resolves when all of it has been shown.
    const before = this.events, now = this.now, first = Number(list.dataset.first);
    const kept = this.steps.filter(({ at }) => at < first).length;
    Object.assign(this.data, record); // The seats and sides, too, if somebody has come or gone.
    this.events = [...before.slice(0, first), ...record.events];
    this.list.replaceChildren(...[...this.list.children].slice(0, kept), ...list.children);
    this.list.dataset.steps = list.dataset.steps;
    this.index();
    const same = this.sameDeal(before), end = this.steps.length - 1;
    this.now = same ? Math.min(now, end) : this.find(end + 1, -1, (e) => e.e === "deal");
    if (this.now < end - MOST_BEHIND) { this.now = end - MOST_BEHIND; this.swept = false; }
    if (!same || now > end) { this.swept = false; this.draw(); }
    await this.start();
  }
  sameDeal(before) { // A finished record has open hands, so only the own hand is compared.
    const hand = (events) => { const deal = events.findLast((e) => e.e === "deal"); return JSON.stringify([deal?.deal, deal?.hand ?? deal?.hands?.[this.own]]); };
    return hand(before) === hand(this.events);
  }
  foresee(event) { // The own card moves at once; the record follows.
    this.events = [...this.events, event];
    const { deal, ply } = this.steps.at(-1);
    this.steps.push({ at: this.events.length - 1, deal, ply: ply + 1, id: "" });
    this.items.push(undefined);
    this.step();
  }
  async show() {
    while (this.now < this.steps.length - 1) {
      const last = this.event(this.now), next = this.event(this.now + 1);
      await this.settle(last, next);
      if (this.now < this.steps.length - 1) this.step();
    }
    const last = this.event(this.now);
    if (last.e === "score" || last.e === "over" || last.e === "fault") return;
    await this.settle(last, null);
  }
  async settle(last, next) { // Waits as long as `last` is to be seen, and before `next`.
    let before = 0;
    if (last.e === "trick") before = next?.e === "score" ? Math.max(END_MS, this.rest) : this.rest;
    else if (BANNERS.has(last.e)) before = BANNER_MS;
    else if (last.e === "deal") before = next ? DEAL_MS : 0;
    else if (last.e === "score" && next?.e === "deal") before = SCORE_MS;
    const after = { trick: CARD_MS + 150, draw: DRAW_MS, play: next?.seat === this.own ? 0 : NEXT_MS, call: NEXT_MS, predict: NEXT_MS, discard: NEXT_MS }[next?.e] ?? (next ? DRAW_MS : 0);
    await this.pause(Math.max(before, last.e === "trick" ? 0 : after));
    if (last.e === "trick" && !this.swept) {
      const from = this.boxes();
      this.swept = true;
      this.draw();
      await this.sweep(from);
      if (next && this.rest < NEXT_MS) await this.pause(NEXT_MS - this.rest);
    }
  }
  pause(ms) {
    if (!ms) return null;
    return new Promise((done) => {
      const timer = setTimeout(done, ms);
      this.hurry = () => { clearTimeout(timer); done(); };
    }).finally(() => { this.hurry = null; });
  }
  step() {
    const from = this.boxes();
    this.now += 1;
    if (this.event(this.now).e === "play" || this.event(this.now).e === "deal") this.swept = false;
    this.draw();
    this.travel(from);
  }

  // --- drawing ------------------------------------------------------------------------------------------------------
  draw() {
    const { at } = this.steps[this.now], event = this.events[at], state = fold(this.events, at, this.data.seats.length);
    state.gone = state.taken;
    if (this.swept && state.winner !== null) {
      state.gone = { laid: state.table, winner: state.winner, gain: state.gain };
      Object.assign(state, { table: [], winner: null, gain: null });
    }
    this.state = state;
    this.drawSeats(state, event); this.drawMiddle(state); this.drawPile(state); this.drawHead(state); this.drawBanner(event); this.drawTricks(state);
    this.status.textContent = this.words(this.now);
    this.dispatchEvent(new CustomEvent("step", { detail: { event, state }, bubbles: true }));
  }
  words(step) {
    const event = this.event(step), own = event.seat === this.own;
    if (own && event.e === "play") return fill(this.dataset.play, { card: this.data.cards[event.card] ?? event.card });
    if (own && event.e === "trick") return fill(this.dataset.tookYou, { points: event.points });
    return this.items[step]?.firstElementChild.textContent.trim() ?? "";
  }
  name(seat) { return seat === this.own ? this.dataset.you : this.data.seats[seat].name; }
  drawSeats(state, event) {
    const { labels, seats } = this.data, lone = this.game.querySelectorAll("[data-side]").length < 2;
    this.plates.forEach((plate, seat) => {
      const partner = seat !== this.own && seats[seat].side === seats[this.own]?.side;
      const tags = [partner && this.dataset.partner, seat === state.mano && this.dataset.leads, seat === state.dealer && this.dataset.dealer, state.marks?.[seat] && labels.marks.replace("%s", state.marks[seat])].filter(Boolean);
      const badges = state.badges[seat].map((badge) => this.badge(badge));
      plate.classList.toggle("out", state.out.includes(seat));
      const count = state.counts[seat];
      const pill = seat === this.own ? [] : [make("span", { class: `pl${event.seat === seat && event.e !== "trick" ? " acts" : ""}` },
        make("span", { class: "back-n", "aria-hidden": "true" }, String(count)), make("span", { class: "name" }, seats[seat].name), make("span", { class: "unseen" }, this.dataset.left.replace("%s", count)),
        ...(lone && state.points[seat] ? [make("b", {}, String(state.points[seat]))] : []))];
      const said = this.game.querySelector(`.spoken [data-seat="${seat}"]`)?.textContent;
      if (said) badges.push(make("span", { class: "badge words" }, said));
      plate.replaceChildren(...pill, ...(tags.length && seat !== this.own ? [make("span", { class: "n" }, tags.join(" · "))] : []), ...badges);
    });
  }
  badge({ kind, suit, text }) {
    const { labels, cards } = this.data;
    const node = make("span", { class: `badge ${kind}` }, kind === "fault" || kind === "call" ? "" : `${labels[kind] ?? kind} `);
    if (suit) node.append(this.sign(suit));
    if ((text ?? "") !== "") node.append(kind === "fault" ? labels.faults[text] ?? text : kind === "call" ? text.replace(/^\w+/, (word) => labels.calls[word] ?? word) : cards[text] ?? String(text));
    return node;
  }
  drawMiddle(state) {
    const laid = state.table.map(({ seat, card }) => make("div", { class: `laid at-${this.spots[seat]}${state.winner === seat ? " best" : ""}` },
      this.card(card), ...(state.winner === seat ? [make("span", { class: "gain" }, `+${state.gain}`)] : [])));
    this.middle.replaceChildren(make("span", { class: "spot" }), ...laid);
  }
  drawPile(state) {
    const pile = [];
    if (state.shown) pile.push(make("span", { class: "shown" }, this.card(state.shown)));
    if (state.stock > 0) pile.push(make("span", { class: "stock" }, this.card(null), make("b", {}, String(state.stock))));
    this.pile.replaceChildren(...pile);
    this.pile.title = pile.length ? this.data.labels.stock : "";
  }
  drawHead(state) {
    for (const place of this.game.querySelectorAll("[data-side]")) {
      place.textContent = state.points.reduce((sum, points, seat) => sum + (this.data.seats[seat].side === Number(place.dataset.side) ? points : 0), 0);
    }
    const trump = this.game.querySelector(".trumpbig"), word = trump?.querySelector("[data-trump]");
    if (!word) return;
    word.textContent = state.trump ? this.data.labels.suits[state.trump] ?? state.trump : this.dataset.none;
    trump.querySelector(":scope > .suit")?.remove();
    if (state.trump && this.data.labels.suits[state.trump]) trump.prepend(this.sign(state.trump));
  }
  drawBanner(event) {
    const ends = event.e === "score" && this.steps[this.now + 1] && this.event(this.now + 1).e === "deal";
    this.banner.textContent = ends || BANNERS.has(event.e) ? this.words(this.now) : "";
  }
  drawTricks(state) {
    const side = document.getElementById("tricks"), gone = state.gone, { seats } = this.data;
    this.lastButton.hidden = !gone;
    side.querySelector("h2").hidden = side.querySelector(".lastbig").hidden = !gone;
    if (!gone) { side.querySelector(".lastwho").textContent = ""; side.querySelector(".trickrows").replaceChildren(); return; }
    this.lastButton.replaceChildren(this.dataset.last, make("span", { class: "mini4", "aria-hidden": "true" }, ...gone.laid.map(({ seat, card }) => this.card(card, seat === gone.winner ? "best" : ""))));
    side.querySelector(".lastbig").replaceChildren(...gone.laid.map(({ seat, card }) => make("span", {}, this.card(card, seat === gone.winner ? "best" : ""), make("small", {}, this.name(seat)))));
    side.querySelector(".lastwho").textContent = fill(gone.winner === this.own ? this.dataset.tookYou : this.dataset.took, { who: seats[gone.winner].name, points: gone.gain });
    const rows = this.tricks(), newest = rows.at(-1);
    if (newest?.winner === gone.winner) newest.points = gone.gain; // With the bonus of the last trick.
    const heads = seats.map((_, seat) => make("th", { scope: "col" }, this.name(seat)));
    side.querySelector(".trickrows").replaceChildren(make("table", {}, make("caption", {}, this.dataset.tricks), make("thead", {}, make("tr", {}, make("td"), ...heads, make("td"))),
      make("tbody", {}, ...rows.map(({ cards, winner, points }, number) => make("tr", {}, make("th", { scope: "row" }, String(number + 1)),
        ...seats.map((_, seat) => make("td", { class: seat === winner ? "won" : null }, ...(cards[seat] ? [this.small(cards[seat])] : []))), make("td", { class: `num side-${seats[winner].side}` }, `+${points}`))))));
  }
  tricks() { // The finished tricks of this deal, as far as they are shown.
    const rows = [];
    let cards = {};
    for (const { at } of this.steps.slice(0, this.now + 1)) {
      const e = this.events[at];
      if (e.e === "deal") { rows.length = 0; cards = {}; }
      else if (e.e === "play") cards[e.seat] = e.card;
      else if (e.e === "trick") { rows.push({ cards, winner: e.seat, points: e.points }); cards = {}; }
    }
    return rows;
  }
  small(card) {
    const rank = card.slice(0, -1);
    return make("span", { class: "mc", title: this.data.cards[card] ?? card }, make("span", { class: "unseen" }, this.data.cards[card] ?? card), make("span", { "aria-hidden": "true" }, NUMBERS[rank] ?? rank, this.sign(card.at(-1))));
  }

  // --- moving -------------------------------------------------------------------------------------------------------
  boxes() { // Where the cards are, in the hand and on the table.
    const places = new Map();
    for (const card of this.game.querySelectorAll(".hand [data-card], .laid [data-card]")) places.set(card.dataset.card, card.getBoundingClientRect());
    return { places, laid: [...this.middle.querySelectorAll(".laid .card")], winner: this.plates[this.state?.winner ?? -1] };
  }
  travel({ places }) {
    if (still.matches) return;
    for (const laid of this.middle.querySelectorAll(".laid")) {
      const card = laid.querySelector(".card"), seat = this.spots.findIndex((place) => laid.classList.contains(`at-${place}`));
      const from = places.get(card.dataset.card) ?? this.plates[seat].getBoundingClientRect(), to = card.getBoundingClientRect();
      const x = from.x + from.width / 2 - to.x - to.width / 2, y = from.y + from.height / 2 - to.y - to.height / 2;
      if (Math.hypot(x, y) > 1) card.animate([{ transform: `translate(${x}px, ${y}px) scale(${Math.min(Math.max(from.width / to.width, 0.4), 1.4)})` }, { transform: "none" }], { duration: CARD_MS, easing: "ease-out" });
    }
  }
  async sweep({ places, laid, winner }) { // The cards of a trick go to the seat that took it.
    if (still.matches || !winner) return;
    const home = this.felt.getBoundingClientRect(), to = winner.getBoundingClientRect();
    const moves = laid.map((card) => {
      const from = places.get(card.dataset.card);
      this.flying.append(card);
      const at = (box) => `translate(${box.x + box.width / 2 - home.x - from.width / 2}px, ${box.y + box.height / 2 - home.y - from.height / 2}px)`;
      return card.animate([{ transform: at(from) }, { transform: `${at(to)} scale(.35)`, opacity: 0.2 }], { duration: SWEEP_MS, easing: "ease-in", fill: "both" }).finished;
    });
    await Promise.allSettled(moves);
    this.flying.replaceChildren();
  }
}
customElements.define("tute-table", TuteTable);
