// Computes the state of the table after some events of a record. Counts and moves cards; decides nothing.

export const QUIET = new Set(["match"]); // Events that are not steps: the header of the record.

const fresh = (seats) => ({
  deal: 0, dealer: null, mano: null, out: [], trump: null, lead: null, shown: null, holder: null, stock: 0,
  hands: Array(seats).fill(null), counts: Array(seats).fill(0), table: [], winner: null, gain: null, last: null, taken: null,
  bonus: null, tricks: Array(seats).fill(0), points: Array(seats).fill(0), badges: Array.from({ length: seats }, () => []), marks: null,
});

function lose(state, seat, cards) {
  state.counts[seat] -= cards.length;
  if (state.hands[seat]) state.hands[seat] = state.hands[seat].filter((card) => !cards.includes(card));
}
function gain(state, seat, card) {
  state.counts[seat] += 1;
  if (state.hands[seat] && card) state.hands[seat].push(card);
  else if (!card) state.hands[seat] = null; // From here on this hand is unknown.
}

const on = {
  deal(state, e, seats) {
    const marks = e.marks?.some(Boolean) ? e.marks : state.marks;
    Object.assign(state, fresh(seats), {
      deal: e.deal, dealer: e.dealer, mano: e.mano, out: e.out ?? [], trump: e.trump ?? null, lead: e.lead ?? null,
      shown: e.shown && (e.holder ?? null) === null ? e.shown : null, holder: e.holder ?? null, stock: e.stock ?? 0, marks,
    });
    for (let seat = 0; seat < seats; seat++) {
      const hand = e.hands?.[seat] ?? (e.to?.[0] === seat ? e.hand : null);
      state.hands[seat] = hand ? [...hand] : null;
      state.counts[seat] = hand ? hand.length : e.counts?.[seat] ?? 0;
    }
  },
  play(state, e) {
    if (state.winner !== null) { state.last = state.table.map((laid) => laid.card); state.taken = { laid: state.table, winner: state.winner, gain: state.gain }; state.table = []; state.winner = null; state.gain = null; }
    state.table.push({ seat: e.seat, card: e.card });
    lose(state, e.seat, [e.card]);
  },
  trick(state, e) {
    const ten = lastTen(state.bonus, e);
    state.winner = e.seat; state.gain = e.points + ten; state.tricks[e.seat] += 1; state.points[e.seat] += e.points + ten;
  },
  draw(state, e) {
    gain(state, e.seat, e.card ?? null);
    state.stock = Math.max(state.stock - 1, 0);
    if (e.card && e.card === state.shown) state.shown = null;
  },
  notice(state, e) { lose(state, e.seat, [e.card]); state.badges[e.seat].push({ kind: "notice", text: e.card }); },
  exchange(state, e) {
    const takes = e.takes ?? state.shown;
    const laid = state.badges[e.seat].some((badge) => badge.kind === "notice" && badge.text === e.gives); // The card has already left the hand.
    if (!laid) lose(state, e.seat, [e.gives]);
    gain(state, e.seat, takes);
    if (state.shown !== null) state.shown = e.gives;
    state.badges[e.seat] = state.badges[e.seat].filter((badge) => badge.kind !== "notice");
    state.badges[e.seat].push({ kind: "exchange", text: e.gives });
  },
  return(state, e) { gain(state, e.seat, e.card); state.badges[e.seat] = state.badges[e.seat].filter((badge) => badge.kind !== "notice"); },
  song(state, e) { state.points[e.seat] += e.points; state.badges[e.seat].push({ kind: "song", suit: e.suit, text: e.points }); },
  tute(state, e) { state.badges[e.seat].push({ kind: "tute", text: e.rank }); },
  claim(state, e) { state.badges[e.seat].push({ kind: "claim", text: e.total ?? "" }); },
  capote(state, e) { state.badges[e.seat].push({ kind: "capote", text: "" }); },
  call(state, e) { state.badges[e.seat] = [...state.badges[e.seat].filter((badge) => badge.kind !== "call"), { kind: "call", text: e.call }]; },
  predict(state, e) { state.badges[e.seat].push({ kind: "predict", text: e.tricks }); },
  partner(state, e) { if (e.seat !== undefined) state.badges[e.seat].push({ kind: "partner", text: e.card ?? "" }); },
  called(state, e) { state.badges[e.seat].push({ kind: "called", text: e.card }); },
  take(state, e) { gain(state, e.seat, e.card); state.shown = null; },
  takeover(state, e) {
    [state.hands[e.seat], state.hands[e.of]] = [state.hands[e.of], []];
    [state.counts[e.seat], state.counts[e.of]] = [state.counts[e.of], 0];
    state.out = [...state.out.filter((seat) => seat !== e.seat), e.of];
  },
  reshuffle(state, e) { state.stock += e.count; },
  reveal(state, e) { state.shown = e.shown ?? state.shown; },
  trump(state, e) { state.trump = e.suit ?? state.trump; state.lead = e.lead ?? state.lead; },
  discard(state, e) { if (e.cards) lose(state, e.seat, e.cards); else state.counts[e.seat] -= e.count ?? 0; },
  score(state, e) { state.marks = e.marks ?? state.marks; state.points = [...(e.points ?? state.points)]; },
  fault(state, e) { state.badges[e.seat].push({ kind: "fault", text: e.fault }); },
};

function score(events, from) {
  for (let k = from + 1; k < events.length && events[k].e !== "deal"; k++) if (events[k].e === "score") return events[k];
  return null;
}

/** What a deal reports at its end of the bonus of its last trick: a number per seat, or null. */
export const bonusOf = (events, from) => score(events, from)?.bonus ?? null;
/** What the last trick is worth beyond its cards. */
export const lastTen = (bonus, e) => (e.last && bonus?.every((points, seat) => points === 0 || seat === e.seat) ? bonus[e.seat] : 0);

/** The table after events[0..last]; starts at the last deal before it, so a long match costs no more than a short one. */
export function fold(events, last, seats) {
  const state = fresh(seats);
  let from = last;
  while (from > 0 && events[from].e !== "deal") from -= 1;
  for (let k = from - 1; k >= 0 && state.marks === null; k--) if (events[k].e === "score" && events[k].marks) state.marks = events[k].marks;
  const bonus = bonusOf(events, from);
  for (let k = from; k <= last; k++) { on[events[k].e]?.(state, events[k], seats); state.bonus = bonus; }
  return state;
}
