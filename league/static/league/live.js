// Keeps a page up to date: listens for changes (server-sent events), fetches the page again and replaces the parts that differ.
// Without this file the page shows the state when it was loaded. Focus, scroll position, open details and forms stay as they are.
const PACE_MS = 2000, SPREAD_MS = 400, AGAIN_MS = 30000, TOLD_MS = 20000, KEPT_MS = 10000, SILENT_MS = 40000;
const main = document.getElementById("main");
const news = Object.assign(document.createElement("p"), { className: "unseen" });
news.setAttribute("role", "status");
main.after(news);
let source = null, timer = 0, next = 0, told = 0, asking = false, more = false, heard = "", since = 0, silence = 0;

const keyOf = (node) => {
  if (node.nodeType !== Node.ELEMENT_NODE) return null;
  if (node.id) return `#${node.id}`;
  return /^(TR|LI|SECTION|ARTICLE)$/.test(node.tagName) ? node.querySelector("a[href]")?.getAttribute("href") ?? null : null;
};
// Parts that belong to the viewer and are never replaced: forms, the card table, messages.
const theirs = (node) => node.matches("tute-replay, [data-still]")
  || (node.matches("form") && (node.contains(document.activeElement) || node.dataset.touched !== undefined));
const still = (...nodes) => nodes.every((node) => node.matches("[data-still]")); // The same part before and after.

function morph(from, to) {
  if (from.isEqualNode(to)) return;
  if (from.nodeType !== Node.ELEMENT_NODE) { from.nodeValue = to.nodeValue; return; }
  if (theirs(from)) return;
  if (from.dataset.as && from.dateTime === to.dateTime) return; // times.js keeps it in the reader's zone.
  for (const { name } of [...from.attributes]) if (!to.hasAttribute(name) && name !== "open") from.removeAttribute(name);
  for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value && name !== "open") from.setAttribute(name, value);
  const known = new Map();
  for (const child of from.childNodes) { const key = keyOf(child); if (key !== null && !known.has(key)) known.set(key, child); }
  const wanted = new Set([...to.childNodes].map(keyOf));
  let at = from.firstChild;
  for (const child of [...to.childNodes]) {
    const key = keyOf(child);
    let mine = key === null ? at : known.get(key) ?? null;
    if (key === null) { // Take the next old node that no keyed node of the new page needs.
      while (mine && keyOf(mine) !== null && wanted.has(keyOf(mine))) mine = mine.nextSibling;
      if (mine && (mine.nodeName !== child.nodeName || (mine.nodeType === Node.ELEMENT_NODE && theirs(mine) && !still(mine, child)))) mine = null;
    } else known.delete(key);
    if (mine && mine.nodeName === child.nodeName) {
      morph(mine, child);
      if (mine === at) at = at.nextSibling;
      else from.insertBefore(mine, at);
    } else from.insertBefore(document.importNode(child, true), at);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    if (gone.nodeType !== Node.ELEMENT_NODE || !theirs(gone)) gone.remove();
  }
}

function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html"), fresh = page.getElementById("main");
  if (!fresh) return;
  if (fresh.querySelector(".game")) { location.reload(); return; } // The table that was waited for has started.
  const go = fresh.querySelector("a[data-go]"); // The table for which the viewer has waited here.
  if (go && !main.querySelector("a[data-go]")) { location.assign(go.href); return; }
  const focused = document.activeElement, where = focused?.getAttribute("href"), before = main.textContent;
  const height = main.contains(focused) ? focused.getBoundingClientRect().top : -1;
  for (const part of page.head.querySelectorAll("link[rel=stylesheet], script[src]")) {
    const name = part.tagName === "LINK" ? "href" : "src", file = part.getAttribute(name);
    if (document.head.querySelector(`[${name}="${CSS.escape(file)}"]`)) continue;
    const made = document.createElement(part.tagName);
    for (const one of part.attributes) made.setAttribute(one.name, one.value);
    document.head.append(made);
  }
  const followed = main.dataset.live;
  morph(main, fresh);
  document.title = page.title;
  if (focused && focused !== document.body && document.activeElement !== focused) {
    const again = focused.isConnected ? focused : where && main.querySelector(`a[href="${CSS.escape(where)}"]`);
    again?.focus({ preventScroll: true });
  }
  if (height >= 0 && height < innerHeight) { // What is read stays where it is. Browsers move the page by themselves first, if they do.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const read = document.activeElement;
      if (main.contains(read)) window.scrollBy({ top: read.getBoundingClientRect().top - height, behavior: "instant" });
    }));
  }
  if (main.textContent !== before && Date.now() - told > TOLD_MS) {
    told = Date.now();
    const text = `${main.dataset.news ?? fresh.dataset.news ?? ""} ${main.querySelector("[data-state]")?.textContent.trim() ?? ""}`.trim();
    news.textContent = "";
    setTimeout(() => { news.textContent = text; }, 100); // A pause makes screen readers announce the same words again.
  }
  if (main.dataset.live !== followed) { close(); open(); }
}

async function ask() {
  if (asking) { more = true; return; }
  asking = true;
  const began = performance.now();
  const answer = await fetch(location.href, { cache: "no-cache", headers: { Accept: "text/html" } }).catch(() => null);
  if (answer && !answer.redirected && (answer.ok || answer.status === 410)) show(await answer.text());
  // Fetch a slow page less often.
  next = performance.now() + Math.max(PACE_MS, 10 * (performance.now() - began)) * (answer?.status === 429 ? 10 : 1);
  asking = false;
  // A cached page may be some seconds older than the event.
  const older = heard && main.dataset.live && heard !== main.dataset.since && performance.now() - since < KEPT_MS + PACE_MS;
  if (more || older || !answer || answer.status === 429) { more = false; soon(); }
}
function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, Math.max(0, next - performance.now()) + SPREAD_MS * Math.random());
}

function open() {
  if (source || !main.dataset.live || document.visibilityState === "hidden") return;
  const query = new URLSearchParams(main.dataset.live.split(" ").map((topic) => ["topic", topic]));
  query.set("since", main.dataset.since);
  source = new EventSource(`${main.dataset.at}?${query}`);
  listen();
  source.addEventListener("ping", listen);
  source.addEventListener("change", (event) => {
    listen();
    heard = event.lastEventId; since = performance.now();
    if (heard !== main.dataset.since) soon();
  });
  source.addEventListener("error", () => { // After a refusal the browser does not reconnect by itself.
    if (source?.readyState === EventSource.CLOSED) { close(); setTimeout(open, AGAIN_MS * (1 + Math.random())); }
  });
}
// A connection may die without a word; the server pings every 15 s.
function listen() { clearTimeout(silence); silence = setTimeout(() => { close(); open(); }, SILENT_MS); }
function close() { clearTimeout(silence); source?.close(); source = null; heard = ""; }

main.addEventListener("input", (event) => { const form = event.target.closest("form"); if (form) form.dataset.touched = ""; });
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") close(); else open(); });
addEventListener("pagehide", close);
addEventListener("pageshow", open);
open();
