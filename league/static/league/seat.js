// The seat of a person at a table: sends an answer and replaces the changed part of the page without loading all of it.
// Without this file each answer loads the page. <tute-table> shows what the others did, one event after the other; until it has reached the
// present, nothing can be chosen, and no tap is kept for later. A server-sent event announces the answers of the bots; without events this file
// asks for the page from time to time.
import { tidy } from "./replay.js";

const WAIT_MS = 500, HEARS_MS = 1000, MOST_MS = 4000, AGAIN_MS = 30000, FORCED_MS = 700, DRAWN_MS = 3000, TAKEN = 204, NEWS = 1e5;
const MANY = 8; // From this many cards on, the first tap lifts a card and the second one plays it.
const main = document.getElementById("main"), game = document.querySelector(".game");
const touch = matchMedia("(hover: none)");
const thumb = matchMedia("(pointer: coarse), (max-width: 44rem)");
let sending = false, looking = null, later = WAIT_MS, timer = 0, forced = 0, source = null, moved = 0, newest = null;

const seat = () => document.getElementById("seat"), form = () => document.getElementById("hand"), table = () => document.querySelector("tute-table.ready");
const isLocked = () => "locked" in game.dataset;
function reveal() { game.querySelectorAll("[hidden].js").forEach((node) => { if (!node.closest("tute-table")) node.hidden = false; }); }
function focusFirst() { if (!touch.matches) document.querySelector("#hand .hand :is(button, input), #hand button")?.focus({ preventScroll: true }); }

// --- the hand ---------------------------------------------------------------------------------------------------------
function drawHand() { // The cards as the table shows them at this step: flat, and nothing to press.
  const at = table(), hand = at?.state?.hands[at.own];
  if (!hand || "over" in game.dataset) return;
  let list = seat().querySelector("ul.hand");
  if (!list) seat().append(list = Object.assign(document.createElement("ul"), { className: "hand" }));
  list.replaceChildren(...tidy(hand).map((card) => {
    const item = document.createElement("li"), flat = document.createElement("span");
    flat.className = "no"; flat.append(at.card(card)); item.append(flat);
    return item;
  }));
}
function lock() { game.dataset.locked = ""; clearTimeout(forced); drawHand(); }
function unlock() {
  reveal();
  if (!form()) { if ("idle" in seat().dataset) delete game.dataset.locked; drawHand(); return; }
  delete game.dataset.locked;
  game.toggleAttribute("data-asks", !!form().querySelector("[data-not-now]"));
  const choices = form().querySelectorAll("button[name=do]:not([value=advice])");
  if ("forced" in game.dataset && choices.length === 1 && choices[0].closest(".hand")) forced = setTimeout(() => form()?.requestSubmit(choices[0]), FORCED_MS);
}
function lift(item) { // One card stands out; the line above the hand says how to play it, or again what to do.
  game.querySelectorAll(".lifted").forEach((other) => { if (other !== item) other.classList.remove("lifted"); });
  item?.classList.add("lifted");
  const line = seat().querySelector(".now [data-then]"), card = item?.querySelector("button")?.title;
  if (line) { line.dataset.asked ??= line.textContent; line.textContent = card ? line.dataset.again.replace("%s", card) : line.dataset.asked; }
}

// --- the page of the server -------------------------------------------------------------------------------------------
async function put(text) {
  const page = new DOMParser().parseFromString(text, "text/html"), fresh = page.getElementById("seat");
  if (!fresh) { location.reload(); return; } // The session has ended.
  newest = page;
  const list = page.querySelector("#felt ol.steps"), record = page.getElementById("record"), at = table();
  main.querySelectorAll(":scope > p.note[data-still]").forEach((note) => note.remove());
  page.querySelectorAll("#main > p.note[data-still]").forEach((note) => main.prepend(document.importNode(note, true)));
  if (list && !document.querySelector("tute-table")) {
    lock();
    page.querySelector("tute-table").setAttribute("new", "");
    for (const id of ["felt", "scores"]) document.getElementById(id).replaceWith(document.importNode(page.getElementById(id), true));
    await new Promise((done) => { main.addEventListener("step", done, { once: true }); setTimeout(done, DRAWN_MS); });
    await table()?.showing;
  } else if (record && at && (list.dataset.steps !== at.list.dataset.steps || at.list.children.length !== at.steps.length)) {
    lock();
    await at.renew(document.importNode(list, true), JSON.parse(record.textContent));
  } else await at?.showing;
  if (newest !== page) return; // A later page has come while the cards moved.
  const same = (name) => (fresh.dataset[name] ?? null) === (seat().dataset[name] ?? null);
  const said = (part) => { const then = part.querySelector(".now [data-then]"); return (then?.dataset.asked ?? (then ?? part.querySelector(".now"))?.textContent)?.replace(/\s+/g, " "); };
  if (!same("since") || !same("waits") || said(fresh) !== said(seat()) || "over" in fresh.dataset || isLocked() || seat().querySelector("[data-busy]")) {
    const held = seat().contains(document.activeElement) || document.activeElement === document.body;
    seat().replaceWith(document.importNode(fresh, true));
    document.getElementById("ending").replaceChildren(...document.importNode(page.getElementById("ending"), true).childNodes);
    game.toggleAttribute("data-over", "over" in fresh.dataset);
    if ("over" in fresh.dataset) { if (!fresh.dataset.at) deaf(); document.getElementById("leave")?.remove(); delete game.dataset.locked; }
    unlock();
    at?.drawSeats(at.state, at.event(at.now)); // With what people say.
    if (held && !document.querySelector("#ending a:focus")) focusFirst();
  }
}
async function load(address, options = {}) {
  const headers = { Accept: "text/html", ...(document.querySelector("#felt tute-table") && { "X-Part": table()?.list.dataset.steps || "moved" }) };
  const answer = await fetch(address, { cache: "no-store", headers, ...options }).catch(() => null);
  if (options.signal?.aborted) return false;
  const text = answer?.ok && answer.status !== TAKEN ? await answer.text().catch(() => null) : null;
  const reached = answer?.status === TAKEN || text !== null;
  game.toggleAttribute("data-lost", !reached);
  if (text !== null && !options.signal?.aborted) await put(text);
  return answer?.status === TAKEN ? TAKEN : reached; // TAKEN: an event will announce the answers of the bots.
}
async function look() { // Runs while the page waits for the bots, a worker or the network.
  clearTimeout(timer);
  if (sending || ("over" in game.dataset && !seat().dataset.at)) return; // After the end of a table with friends somebody may ask for a rematch.
  looking?.abort();
  const mine = looking = new AbortController();
  await load(location.pathname, { signal: mine.signal });
  if (mine.signal.aborted) return;
  later = seat().matches("[data-waits], [data-idle]") ? Math.min(MOST_MS, later * 1.3) : soonest();
  wait();
}
function wait() { // While another person thinks, an event says when to look.
  const idle = "idle" in seat().dataset && hears();
  if ("lost" in game.dataset || (!idle && (isLocked() || seat().matches("[data-waits], [data-idle]")))) { clearTimeout(timer); timer = setTimeout(look, later); }
}

const hears = () => source?.readyState === EventSource.OPEN;
const soonest = () => (hears() ? HEARS_MS : WAIT_MS);
function listen() {
  const { at, topic, since } = seat().dataset;
  if (source || !at || document.visibilityState === "hidden") return;
  source = new EventSource(`${at}?${new URLSearchParams({ topic, since })}`);
  source.addEventListener("change", (event) => { // See league.service.topics.table_version: of two changes that end in zeros only the news are worth a look.
    const [to] = Object.values(JSON.parse(event.data));
    const was = Number(seat().dataset.since);
    if ((to === was && !sending) || (to % NEWS === 0 && Math.floor(to / NEWS) === Math.floor(was / NEWS))) return;
    if (sending) moved = to; else look();
  });
  source.addEventListener("error", () => { // After a refusal the browser does not reconnect by itself.
    if (source?.readyState === EventSource.CLOSED) { deaf(); setTimeout(listen, AGAIN_MS * (1 + Math.random())); }
  });
}
function deaf() { source?.close(); source = null; }

setInterval(() => { // The running clock; the server says what is right with each page.
  const clock = document.querySelector(".clocks [data-left]"), left = clock ? Math.max(0, clock.dataset.left - 1) : 0;
  if (clock) { clock.dataset.left = left; clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`; }
}, 1000);

// --- what the person does -----------------------------------------------------------------------------------------------
main.addEventListener("submit", async (event) => {
  const mine = event.target;
  if (mine.id === "phrases") {
    event.preventDefault();
    const body = new FormData(mine, event.submitter);
    body.set("listens", "1");
    document.getElementById("say").open = false;
    await fetch(mine.action, { method: "POST", body }).catch(() => null);
    look();
  }
  if (mine.id !== "hand") return;
  event.preventDefault();
  if (sending || isLocked() || "busy" in mine.dataset) return;
  sending = true; moved = 0;
  looking?.abort(); // Its response would be older than this answer.
  clearTimeout(timer);
  mine.dataset.busy = "";
  const body = new FormData(mine, event.submitter), action = body.get("do") ?? "";
  if (action !== "advice") {
    if (action === "next") document.getElementById("ending").replaceChildren();
    lock();
    if (action.startsWith("play ")) table()?.foresee({ e: "play", seat: table().own, card: event.submitter.querySelector("[data-card]").dataset.card });
  }
  if (hears()) body.set("listens", "1");
  const done = await load(mine.action, { method: "POST", body });
  sending = false; later = soonest();
  if (moved && moved !== Number(seat().dataset.since)) look(); else if (done) wait(); else { clearTimeout(timer); timer = setTimeout(look, later); } // The connection is lost: the server knows whether the answer arrived.
});
main.addEventListener("step", () => { if (isLocked() || !form()) drawHand(); });
main.addEventListener("click", (click) => {
  const card = click.target.closest("#hand .hand button");
  if (card) {
    if (isLocked() || "asks" in game.dataset) click.preventDefault(); // First the song or the exchange.
    else if (slid) { click.preventDefault(); slid = false; }
    else if (click.detail && thumb.matches && game.querySelectorAll(".hand > li").length >= MANY && !card.closest("li").classList.contains("lifted")) { click.preventDefault(); lift(card.closest("li")); }
    return;
  }
  const declined = click.target.closest("[data-not-now]");
  if (declined) { delete game.dataset.asks; seat().querySelector(".now [data-then]").textContent = declined.dataset.notNow; declined.closest(".songs").remove(); focusFirst(); }
  if (click.target.closest("[data-open], [data-close]")) showTricks(!game.querySelector("#tricks").classList.contains("open"));
  if (click.target.closest("[data-share]")) share();
  if (click.target.closest("#hand .hand .no")) seat().querySelector(".now").animate({ opacity: [0.2, 1] }, 500); // It says which cards can be played.
  if (!click.target.closest("#hand .hand")) lift(null);
});
let slid = false; // The finger has moved along the hand, so its end is no tap.
main.addEventListener("pointerdown", (press) => { slid = false; if (press.pointerType === "touch" && press.target.hasPointerCapture?.(press.pointerId)) press.target.releasePointerCapture(press.pointerId); });
main.addEventListener("pointermove", (press) => {
  if (press.pointerType !== "touch" || isLocked() || "asks" in game.dataset || !press.target.closest?.("#hand .hand")) return;
  const under = document.elementFromPoint(press.clientX, press.clientY)?.closest("#hand .hand > li:has(button)");
  if (!under || under.classList.contains("lifted") || Math.hypot(press.movementX, press.movementY) < 1) return;
  slid = true;
  lift(under);
});
function showTricks(on) {
  const tricks = document.getElementById("tricks");
  tricks.classList.toggle("open", on);
  (on ? tricks.querySelector("[data-close]") : game.querySelector("[data-open]"))?.focus({ preventScroll: true });
}
async function share() {
  const at = document.querySelector("[data-share]"), url = new URL(at.dataset.share, location.href).href;
  if (navigator.share) { try { await navigator.share({ url, title: at.dataset.title }); return; } catch (error) { if (error.name === "AbortError") return; } }
  const said = document.querySelector(".shared");
  try { await navigator.clipboard.writeText(url); said.textContent = at.dataset.copied; } catch { said.textContent = url; } // Without https there is no clipboard.
}
addEventListener("keydown", (press) => {
  if (press.ctrlKey || press.altKey || press.metaKey) return;
  if (press.key === "Escape") { showTricks(false); game.querySelectorAll(".gmenu").forEach((menu) => { menu.open = false; }); return; }
  if (press.target.closest("input:not([type=checkbox]), select, textarea, .gmenu")) return;
  const ways = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  if (press.key === " " && table()?.hurry && !press.target.closest("button, a, summary, input")) table().hurry();
  else if (press.key === "l" || press.key === "L") showTricks(!document.getElementById("tricks").classList.contains("open"));
  else if (/^[sS]$/.test(press.key) && !isLocked()) document.querySelector("#hand .song")?.focus();
  else if (/^[1-9]$/.test(press.key)) document.querySelector(`#hand .hand > li:nth-child(${press.key}) :is(button, input)`)?.focus();
  else if (ways[press.key] && form()) {
    const all = [...form().querySelectorAll("button:not([hidden]), input[type=checkbox]")];
    const from = all.indexOf(press.target.closest("button, input"));
    all[(Math.max(from, ways[press.key] < 0 ? 0 : -1) + ways[press.key] + all.length) % all.length]?.focus();
  } else return;
  press.preventDefault();
});
for (const name of ["online", "pageshow"]) addEventListener(name, look);
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") { listen(); look(); } else deaf(); });
addEventListener("pagehide", deaf);
addEventListener("pageshow", listen);
unlock();
listen();
wait();
