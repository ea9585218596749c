// Answers with the first legal action, and tells on standard error what the library of the kit in JavaScript knows, a JSON object a request.
// Its arguments are the library and the number of deals.
const [library, deals = "4"] = process.argv.slice(2);
const { run } = await import(library);

run("view", (view) => {
  const texts = (cards) => [...cards].map((card) => view.name[card]);
  const set = (cards) => texts(cards).join(" ");
  const told = {
    led: view.led,
    trump: view.trump,
    table: texts(view.table),
    played: texts(view.played),
    shown: view.shown < 0 ? [] : texts([view.shown]),
    own: [set(view.hand), set(view.unseen)],
    known: view.known.map(set),
    lacks: view.known.map((_, seat) => set([...view.unseen].filter((card) => view.lacks(seat, card)))),
    not_all: view.not_all.map((sets) => sets.filter((cards) => cards).map(set)),
    plays: texts(view.legal.map((action) => view.plays(action)).filter((card) => card >= 0)),
    numbers: [view.stock, view.best, ...view.counts.flatMap((count, seat) => [count, view.points(view.side[seat])])],
  };
  for (let one = 0; one < Number(deals); one++) {
    const deal = view.deal();
    if (!deal) told.none = 1;
    told[`deal${one}`] = deal?.hands.map((cards) => set([...cards].sort((a, b) => a - b)));
    told[`rest${one}`] = deal && texts(deal.rest);
  }
  process.stderr.write(JSON.stringify(told) + "\n");
  return view.legal[0];
});
