// The seat of a person at a table: sends an answer and replaces the changed part of the page without loading all of it.
// Without this file each answer loads the page. <tute-replay> moves the cards of the bots once it gets the longer record.
// A server-sent event announces the answers of the bots; without events this file asks for the page from time to time.
const WAIT_MS = 500, HEARS_MS = 1000, MOST_MS = 4000, AGAIN_MS = 30000, TAKEN = 204;
const main = document.getElementById("main");
let sending = false, looking = null, later = WAIT_MS, timer = 0, source = null, moved = false;

const seat = () => document.getElementById("seat");
function focusFirst() { document.querySelector("#hand button:not(:disabled), #hand input[type=checkbox]")?.focus({ preventScroll: true }); }
function put(text) {
  const page = new DOMParser().parseFromString(text, "text/html"), fresh = page.getElementById("seat");
  if (!fresh) { location.reload(); return; } // The session has ended.
  const held = seat().contains(document.activeElement) || document.activeElement === document.body;
  const over = !page.getElementById("leave");
  if (over) { // A finished table is an ordinary record: continue at the current step.
    const last = document.querySelector("#felt ol.steps li:last-child");
    if (last) history.replaceState(null, "", `#${last.id}`);
    location.reload();
    return;
  }
  const list = page.querySelector("#felt ol.steps"), replay = document.querySelector("#felt tute-replay");
  main.querySelectorAll("p.note[data-still]").forEach((note) => note.remove());
  page.querySelectorAll("#main > p.note[data-still]").forEach((note) => seat().before(document.importNode(note, true)));
  const changed = fresh.dataset.since !== seat().dataset.since || ("waits" in fresh.dataset) !== ("waits" in seat().dataset);
  if (changed) seat().replaceWith(document.importNode(fresh, true));
  if (list && !replay) document.getElementById("felt").replaceWith(document.importNode(page.getElementById("felt"), true));
  else if (list && list.children.length !== replay.querySelectorAll("ol.steps li").length) replay.renew([...document.importNode(list, true).children]);
  if (held && changed) focusFirst();
}
async function load(address, options = {}) {
  const headers = { Accept: "text/html", ...(document.querySelector("#felt tute-replay") && { "X-Part": "moved" }) };
  const answer = await fetch(address, { cache: "no-store", headers, ...options }).catch(() => null);
  if (answer?.status === TAKEN) return TAKEN; // An event will announce the answers of the bots.
  const text = answer?.ok ? await answer.text().catch(() => null) : null;
  if (text !== null && !options.signal?.aborted) put(text);
  return text !== null;
}
async function look() { // Runs while the page waits for the bots, a worker or the network.
  clearTimeout(timer);
  if (sending) return;
  looking?.abort();
  const mine = looking = new AbortController();
  await load(location.href, { signal: mine.signal });
  if (mine.signal.aborted) return;
  later = "waits" in seat().dataset ? Math.min(MOST_MS, later * 1.3) : soonest();
  wait();
}
function wait() { if (document.querySelector("#seat[data-waits], #hand[data-busy]")) timer = setTimeout(look, later); }

const hears = () => source?.readyState === EventSource.OPEN;
const soonest = () => (hears() ? HEARS_MS : WAIT_MS);
function listen() {
  const { at, topic, since } = seat().dataset;
  if (source || !at || document.visibilityState === "hidden") return;
  source = new EventSource(`${at}?${new URLSearchParams({ topic, since })}`);
  source.addEventListener("change", (event) => { // The number of the current decision; 0: the bots are thinking.
    const [to] = Object.values(JSON.parse(event.data));
    if (!to || (String(to) === seat().dataset.since && !sending)) return;
    if (sending) moved = true; else look();
  });
  source.addEventListener("error", () => { // After a refusal the browser does not reconnect by itself.
    if (source?.readyState === EventSource.CLOSED) { deaf(); setTimeout(listen, AGAIN_MS * (1 + Math.random())); }
  });
}
function deaf() { source?.close(); source = null; }

main.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.id !== "hand") return;
  event.preventDefault();
  if (sending || "busy" in form.dataset) return;
  sending = true; moved = false;
  looking?.abort(); // Its response would be older than this answer.
  clearTimeout(timer);
  form.dataset.busy = "";
  const body = new FormData(form, event.submitter);
  if (hears()) body.set("listens", "1");
  const done = await load(form.action, { method: "POST", body });
  sending = false; later = soonest();
  if (done !== TAKEN) delete form.dataset.busy;
  if (moved) look(); else if (done) wait(); else timer = setTimeout(look, later); // The connection is lost: the server knows whether the answer arrived.
});
main.addEventListener("keydown", (press) => { // The arrow keys move between the cards of the hand, not through the replay.
  if (!press.target.closest("#hand") || press.ctrlKey || press.altKey || press.metaKey) return;
  if (press.key !== "Tab" && press.key !== "Escape") press.stopPropagation();
  const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[press.key];
  if (!way || press.target.matches("select")) return;
  const all = [...document.querySelectorAll("#hand button:not(:disabled), #hand input[type=checkbox]")];
  all[(all.indexOf(press.target.closest("button, input")) + way + all.length) % all.length]?.focus();
  press.preventDefault();
});
for (const name of ["online", "pageshow"]) addEventListener(name, look);
main.addEventListener("step", () => { // The table is drawn: scroll it into view above the hand on a phone.
  if (innerWidth < 704 && !scrollY) document.getElementById("felt").scrollIntoView();
}, { once: true });
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") { listen(); look(); } else deaf(); });
addEventListener("pagehide", deaf);
addEventListener("pageshow", listen);
listen();
wait();
