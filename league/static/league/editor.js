// The editor: code in CodeMirror, drafts at every pause, and tries that show their result in place. Without this file the page is plain forms.
// CodeMirror is in a shadow root, because our content security policy allows its styles only as constructed style sheets.
import {
  Decoration, EditorState, EditorView, HighlightStyle, StateEffect, StateField, bracketMatching, defaultKeymap, highlightActiveLine,
  StreamLanguage, highlightSpecialChars, history as undoHistory, historyKeymap, indentOnInput, indentUnit, indentWithTab, javascript, keymap,
  lineNumbers, python, syntaxHighlighting, tags,
} from "./vendor/codemirror.js";

const PAUSE_MS = 700, SERVER_MS = 2500, FIRST_LOOK_MS = 500, LOOK_MS = 2500, SLOWER = 1.25, MOST_NAMES = 40;
const page = document.querySelector(".edpage"), form = document.getElementById("bot-form"), area = document.getElementById("id_source");
const words = page?.dataset, isPython = words?.language !== "javascript", by = (id) => document.getElementById(id);
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

// ---- the code

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--side-3)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--bad)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.definition(tags.variableName), tags.definition(tags.className), tags.function(tags.variableName)], color: "var(--good)" },
  { tag: tags.invalid, textDecoration: "underline wavy" },
]);
const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--raise)", fontSize: ".9rem", height: "100%" },
  "&.cm-focused": { outline: "3px solid var(--good)", outlineOffset: "-3px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--good) 9%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--good)" },
  ".cm-line.cm-bad": { backgroundColor: "color-mix(in srgb, var(--bad) 16%, transparent)", boxShadow: "inset 3px 0 var(--bad)" },
  ".cm-line.cm-bad::after": { content: "'▲ ' attr(data-message)", display: "block", width: "max-content", position: "sticky", left: "3.5rem", color: "var(--bad)", fontFamily: "var(--sans)", fontWeight: "600", whiteSpace: "pre-wrap" },
});
const popup = new CSSStyleSheet();
popup.replaceSync(`:host { position: relative; } ul { position: absolute; z-index: 3; margin: 0; padding: .2rem; list-style: none; max-height: 13rem; overflow: auto;
  width: max-content; max-width: min(34rem, 96%); background: var(--raise); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 4px 16px rgb(0 0 0 / .25); font-size: .85rem; }
  li { padding: .15rem .5rem; border-radius: 5px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; cursor: pointer; }
  li b { font-family: var(--mono); font-weight: 600; } li span { color: var(--soft); margin-left: .8rem; }
  li[aria-selected=true] { background: var(--sunk); outline: 2px solid var(--good); outline-offset: -2px; }`);

// Handle typing over a selection here: the browser would merge lines with inline styles, which the policy forbids.
const typeOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.data === null || view.composing || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { scrollIntoView: true, userEvent: "input.type" });
    return true;
  },
});
const setMark = StateEffect.define();
const marks = StateField.define({ // The line of a fault, with its message.
  create: () => Decoration.none,
  update(set, change) {
    let now = set.map(change.changes);
    for (const effect of change.effects) if (effect.is(setMark)) now = effect.value ? Decoration.set([effect.value]) : Decoration.none;
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

// Completion of the names in the help panel: after `view.`, after `self.`, and of the functions of the SDK.
class Names {
  constructor(host, root) {
    this.host = host; this.root = root; this.found = []; this.at = 0;
    this.all = [...document.querySelectorAll("#help dt")].map((term) => ({
      of: term.dataset.of, name: term.querySelector("b").textContent, sign: term.querySelector("b").nextSibling?.textContent ?? "",
      help: term.nextElementSibling.textContent,
    }));
    this.keys = [
      { key: "Ctrl-Space", run: (view) => this.open(view, true) },
      { key: "ArrowDown", run: (view) => this.move(view, 1) }, { key: "ArrowUp", run: (view) => this.move(view, -1) },
      { key: "Enter", run: (view) => this.take(view) }, { key: "Tab", run: (view) => this.take(view) }, { key: "Escape", run: () => this.close() },
    ];
  }
  attributes() {
    return this.list ? { "aria-controls": "names", "aria-activedescendant": `name-${this.at}` } : {};
  }
  open(view, asked = false) {
    const { head } = view.state.selection.main, line = view.state.doc.lineAt(head), before = line.text.slice(0, head - line.from);
    const [, of = "", part] = /(?:\b(view|self)\.)?(\w*)$/.exec(before);
    this.close();
    if (before[before.length - part.length - 1] === "." && !of) return asked;
    if (!asked && !of && part.length < 3) return false;
    this.part = part;
    this.found = this.all.filter((one) => one.of === of && one.name.startsWith(part) && (asked || one.name !== part)).slice(0, MOST_NAMES);
    if (!this.found.length) return asked;
    this.list = Object.assign(document.createElement("ul"), { id: "names" });
    this.list.setAttribute("role", "listbox"); this.list.setAttribute("aria-label", by("help-title").textContent);
    this.found.forEach(({ name, sign, help }, number) => {
      const item = Object.assign(document.createElement("li"), { id: `name-${number}` }), text = document.createElement("span");
      item.setAttribute("role", "option");
      item.append(Object.assign(document.createElement("b"), { textContent: name + sign }), text);
      text.textContent = help; text.lang = "en";
      item.addEventListener("mousedown", (event) => { event.preventDefault(); this.at = number; this.take(view); });
      this.list.append(item);
    });
    this.root.append(this.list);
    const place = view.coordsAtPos(head), home = this.host.getBoundingClientRect(), high = this.list.offsetHeight;
    if (!place) return this.close();
    const below = place.bottom + high < innerHeight || place.top - home.top < high;
    this.list.style.top = `${(below ? place.bottom : place.top - high) - home.top}px`;
    this.list.style.left = `${Math.max(4, Math.min(place.left - home.left, home.width - this.list.offsetWidth - 4))}px`;
    this.at = 0;
    this.show(view);
    return true;
  }
  show(view) {
    [...this.list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === this.at)));
    this.list.children[this.at].scrollIntoView({ block: "nearest" });
    view.dispatch({});
  }
  move(view, way) {
    if (!this.list) return false;
    this.at = (this.at + way + this.found.length) % this.found.length;
    this.show(view);
    return true;
  }
  take(view) {
    if (!this.list) return false;
    const { name, sign } = this.found[this.at], { head } = view.state.selection.main, from = head - this.part.length;
    const called = sign && view.state.sliceDoc(head, head + 1) !== "(";
    this.close();
    view.dispatch({ changes: { from, to: head, insert: called ? `${name}()` : name }, selection: { anchor: from + name.length + (called ? (sign === "()" ? 2 : 1) : 0) }, userEvent: "input.complete" });
    view.focus();
    return true;
  }
  close() {
    if (!this.list) return false;
    this.list.remove();
    this.list = null;
    return true;
  }
}

function buildEditor() {
  const label = document.querySelector("label[for=id_source]"), host = document.createElement("div"), root = host.attachShadow({ mode: "open" });
  const names = new Names(host, root);
  root.adoptedStyleSheets = [popup];
  host.className = "code-editor";
  area.after(host);
  const view = new EditorView({
    root, parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        keymap.of(names.keys), lineNumbers(), highlightSpecialChars(), highlightActiveLine(), undoHistory(), indentOnInput(), bracketMatching(),
        indentUnit.of(isPython ? "    " : "  "), EditorState.tabSize.of(4), StreamLanguage.define(isPython ? python : javascript), syntaxHighlighting(colours), look, marks, typeOver,
        keymap.of([{ key: "Mod-Enter", run: () => { form.requestSubmit(document.querySelector("button[name=do]")); return true; } }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of(() => ({
          tabindex: "0", "aria-label": label.textContent.trim(), "aria-autocomplete": "list",
          "aria-description": document.querySelector(".keys").textContent.trim(), ...names.attributes(),
        })),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) {
            area.value = update.state.doc.toString();
            if (update.transactions.some((one) => one.isUserEvent("input.type") || one.isUserEvent("delete"))) names.open(update.view) || names.close();
            if (update.transactions.some((one) => ["input", "delete", "move", "undo", "redo"].some((kind) => one.isUserEvent(kind)))) drafts.changed();
          } else if (update.selectionSet) names.close();
        }),
      ],
    }),
  });
  host.addEventListener("keydown", (event) => event.stopPropagation()); // The keys of the replay are not for the code.
  host.addEventListener("focusout", () => names.close());
  area.hidden = true;
  label.addEventListener("click", () => view.focus());
  return view;
}

function setText(text) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}
function goTo(number) {
  const line = view.state.doc.line(number);
  view.dispatch({ selection: { anchor: line.from } });
  view.scrollDOM.scrollLeft = 0;
  view.scrollDOM.scrollTop = view.lineBlockAt(line.from).top - view.scrollDOM.clientHeight / 2; // CodeMirror would scroll the page as well.
}
function showFault() { // Mark the line of a traceback in the code.
  const link = document.querySelector("#console a[data-line]"), number = Number(link?.dataset.line);
  if (!number || number > view.state.doc.lines) return view.dispatch({ effects: setMark.of(null) });
  const bad = Decoration.line({ class: "cm-bad", attributes: { "data-message": link.dataset.message.replace(/^.*?: /, "") } });
  view.dispatch({ effects: setMark.of(bad.range(view.state.doc.line(number).from)) });
  return goTo(number);
}

// ---- drafts: in this browser at each pause, and in the account of a player

const drafts = {
  note: document.querySelector(".saved"),
  key: (user = words.user) => `tute:draft:${user}:${by("id_draft").value}${isPython ? "" : `:${words.language}`}`,
  read(user) { try { return JSON.parse(localStorage.getItem(this.key(user))); } catch { return null; } },
  say(text) { this.note.textContent = `${text} ${new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" })}`; },
  changed() {
    clearTimeout(this.soon); clearTimeout(this.later);
    this.soon = setTimeout(() => this.store(), PAUSE_MS);
    if (words.user) this.later = setTimeout(() => this.send(), SERVER_MS);
  },
  store() {
    clearTimeout(this.soon);
    this.soon = null;
    try { localStorage.setItem(this.key(), JSON.stringify({ text: area.value, at: Date.now() / 1000 })); } catch { return; } // The browser stores nothing.
    if (!this.isSent) this.say(words.here);
  },
  async send() {
    clearTimeout(this.later);
    const body = new FormData(form), before = area.value;
    body.set("do", "save");
    const answer = await fetch(words.draft, { method: "POST", body }).catch(() => null);
    this.isSent = answer?.status === 204;
    if (this.isSent && before === area.value) this.say(words.there);
    else if (answer?.status === 401) this.note.textContent = words.away;
  },
  forget() {
    clearTimeout(this.soon); clearTimeout(this.later); this.soon = null;
    try { localStorage.removeItem(this.key()); } catch { /* nothing was stored */ }
  },
  restore() { // The newer of what the page has and what this browser has; a visitor's draft goes to the account that logs in.
    const visitor = words.user ? this.read("") : null, own = this.read(words.user);
    const local = visitor && visitor.at > (own?.at ?? 0) ? visitor : own;
    const returns = sessionStorage.getItem("tute:back") !== null;
    sessionStorage.removeItem("tute:back");
    if (!local || local.text === area.value || !(returns || words.opens === "last")) return;
    if (!returns && local.at <= Number(words.saved || 0)) return;
    setText(local.text);
    this.note.textContent = words.back;
    if (local !== visitor) return;
    try { localStorage.removeItem(this.key("")); } catch { /* it stays */ }
    this.store(); this.send();
  },
};

// ---- tries: the answer replaces the board and the console

const fresh = (text) => new DOMParser().parseFromString(text, "text/html");
let course = 0; // The number of the last try that this page began.

async function swap(text) {
  const answer = fresh(text);
  if (answer.querySelector("#console .note.bad") && !location.hash) history.replaceState(null, "", "#fault"); // The table opens there.
  for (const id of ["board", "console", "again", "problems"]) {
    const part = answer.getElementById(id);
    if (part) by(id).replaceChildren(...document.importNode(part, true).childNodes);
  }
  const filled = "button[name=do][value=try], button[name=do][value=here], .acts [popovertarget=submit-as]"; // One of them is the next step.
  const steps = answer.querySelector("#console .waiting") ? [] : answer.querySelectorAll(filled);
  document.querySelectorAll(filled).forEach((button, number) => { if (steps[number]) button.className = steps[number].className; });
  for (const name of ["cards", "board"]) {
    const field = answer.querySelector(`#bot-form [name=${name}]`);
    if (field) form.elements[name].value = field.value;
  }
  document.title = answer.title;
  if (document.querySelector("#board tute-replay")) import(words.player);
  showTabs();
  if (!document.querySelector("#console .waiting")) showFault();
}
function say(text) {
  const note = Object.assign(document.createElement("p"), { className: "note bad", textContent: text });
  note.setAttribute("role", "alert");
  by("problems").replaceChildren(note);
}
async function follow(url, number) { // Ask until the try has a result.
  for (let pause = FIRST_LOOK_MS; number === course && document.querySelector("#console .waiting"); pause = Math.min(LOOK_MS, pause * SLOWER)) {
    await wait(pause);
    if (number !== course) return;
    const answer = await fetch(url, { cache: "no-store" }).catch(() => null);
    if (answer?.redirected) return signIn();
    if (answer?.ok && number === course) await swap(await answer.text());
  }
  if (number === course) choosePart(bestPart());
}
function signIn() {
  drafts.store();
  sessionStorage.setItem("tute:back", "1");
  by("submit-as").matches(":popover-open") && by("submit-as").hidePopover();
  for (const link of document.querySelectorAll("#account a")) link.search = `?next=${encodeURIComponent(location.pathname + location.search)}`;
  by("account").showModal();
}
async function refused(text) {
  const answer = fresh(text), sheet = answer.getElementById("submit-as"), own = by("submit-as");
  const errors = (part) => part.querySelector(".errors");
  if (sheet && errors(sheet)) {
    own.replaceChildren(...document.importNode(sheet, true).childNodes);
    if (!own.matches(":popover-open")) own.showPopover();
    const field = own.querySelector("[aria-invalid=true]") ?? by("id_bot");
    field.focus();
    document.title = answer.title;
    return;
  }
  if (own.matches(":popover-open")) own.hidePopover();
  by("problems").replaceChildren(...document.importNode(answer.getElementById("problems"), true).childNodes);
  document.title = answer.title;
  by("problems").focus();
}
async function send(button, again = false) {
  const number = ++course;
  if (drafts.soon) drafts.store();
  page.setAttribute("aria-busy", "true");
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form, button), headers: { "X-In-Place": "1" } }).catch(() => null);
  const text = answer ? await answer.text().catch(() => "") : "";
  page.removeAttribute("aria-busy");
  if (number !== course) return;
  if (answer?.status === 403 && !again) { // The form is older than the session: take the token of the answer.
    const token = fresh(text).querySelector("#bot-form [name=csrfmiddlewaretoken]")?.value;
    if (token) { form.elements.csrfmiddlewaretoken.value = token; await send(button, true); return; }
  }
  if (!answer || answer.status >= 500) say(words.lost);
  else if (answer.status === 401) signIn();
  else if (!answer.ok) await refused(text);
  else if (answer.status === 201) { drafts.forget(); location.assign(answer.headers.get("Location")); }
  else {
    history.pushState(null, "", answer.url);
    view.dispatch({ effects: setMark.of(null) });
    await swap(text);
    choosePart("o");
    await follow(answer.url, number);
  }
}

// ---- tabs: of the page on a phone, and of the console

function bestPart() { // What the author wants to see first: a fault, else the table.
  return document.querySelector("#board tute-replay") && !document.querySelector("#console .note.bad") ? "b" : "o";
}
function choosePart(id) {
  page.dataset.part = id;
  for (const link of document.querySelectorAll(".edtabs a")) link.toggleAttribute("data-on", link.hash === `#${id}`);
  document.querySelectorAll(".edtabs a").forEach((link) => { if (link.hash === `#${id}`) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current"); });
}
function showTabs(chosen = null) {
  const box = by("console"), parts = [...box.querySelectorAll(":scope > [data-tab]")];
  const old = box.querySelector(":scope > nav");
  const wanted = chosen ?? page.dataset.tab ?? "o-result";
  const now = parts.find((part) => part.id === wanted) ?? parts[0];
  const bar = document.createElement("nav");
  bar.className = "tabs";
  bar.setAttribute("aria-label", by("o").getAttribute("aria-label"));
  for (const part of parts) {
    const button = document.createElement("button"), head = part.querySelector("h2");
    button.type = "button";
    button.append(...head.cloneNode(true).childNodes);
    if (part === now) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => { page.dataset.tab = part.id; showTabs(part.id); by("console").querySelector("nav [aria-current]").focus(); });
    head.classList.add("unseen");
    part.hidden = part !== now;
    bar.append(button);
  }
  if (old) old.replaceWith(bar); else box.prepend(bar);
}
async function showRules() { // The rules, seats and templates of the chosen game.
  const asked = new URLSearchParams({ game: by("id_game").value, players: form.elements.players?.value ?? "", language: words.language, bot: by("id_draft").value });
  const answer = await fetch(`${form.action}?${asked}`).catch(() => null);
  const sent = answer?.ok ? fresh(await answer.text()) : null;
  for (const id of ["rules-fields", "starts"]) {
    const part = sent?.getElementById(id);
    if (part) by(id).replaceChildren(...document.importNode(part, true).childNodes);
  }
}

let view = null;
if (form && area) {
  view = buildEditor();
  document.querySelector(".keys").hidden = false;
  document.querySelector(".edtabs").hidden = false;
  page.classList.add("ready");
  choosePart(words.opens === "try" ? bestPart() : "c");
  drafts.restore();
  showTabs(); showFault();
  by("id_game").addEventListener("change", showRules);
  by("rules").addEventListener("change", (event) => { if (event.target.matches("[data-refresh]")) showRules(); });
  form.addEventListener("submit", (event) => { if (event.submitter) { event.preventDefault(); send(event.submitter); } });
  document.querySelector("form.discard")?.addEventListener("submit", () => drafts.forget());
  document.querySelector(".edtabs").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) { event.preventDefault(); choosePart(link.hash.slice(1)); }
  });
  addEventListener("pageshow", (event) => { if (event.persisted && area.value !== view.state.doc.toString()) setText(area.value); });
  addEventListener("pagehide", () => { if (drafts.soon) drafts.store(); });
  addEventListener("popstate", () => { if (!location.hash) location.reload(); });
  by("submit-as").addEventListener("toggle", (event) => { if (event.newState === "open") by("id_bot")?.focus(); });
  if (!by("submit-as").hasAttribute("popover")) by("id_bot").focus();
  page.addEventListener("click", async (event) => {
    const number = Number(event.target.closest("a[data-line]")?.dataset.line), part = event.target.closest("a[data-part]");
    if (number && number <= view.state.doc.lines) {
      event.preventDefault();
      choosePart("c"); goTo(number); view.focus();
    } else if (part) { // Another board or seating of this try.
      event.preventDefault();
      const answer = await fetch(part.href).catch(() => null);
      if (!answer?.ok || answer.redirected) { location.assign(part.href); return; }
      history.replaceState(null, "", part.href);
      await swap(await answer.text());
      choosePart("b");
    }
  });
  if (document.querySelector("#console .waiting")) follow(location.href, course);
  setInterval(() => { // The seconds of a try that waits.
    const clock = document.querySelector("#console .clock");
    if (clock) clock.textContent = `${Math.max(0, Math.round(Date.now() / 1000 - clock.dataset.since))} s`;
  }, 1000);
}
