// Conveniences of the forms, which all work without this file: dropping a file on the upload form; the estimate and the search for bots while typing.
const drop = document.querySelector(".drop");
if (drop) {
  const input = drop.querySelector("input");
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (drag) => { drag.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (drag) => { drag.preventDefault(); if (drag.dataTransfer.files.length) input.files = drag.dataTransfer.files; });
}
// A choice on which other fields depend (the game, its players) sends the form again, unchecked and with all input, by its button "refresh".
for (const choice of document.querySelectorAll("select[data-refresh]")) {
  const button = choice.form && choice.form.querySelector("button[value=refresh]");
  if (!button) continue;
  button.hidden = true;
  choice.addEventListener("change", () => choice.form.requestSubmit(button));
}
// A study needs a rule that differs: without one the form says so and is not sent.
for (const note of document.querySelectorAll("[data-unchanged]")) {
  const form = note.closest("form"), rules = form.querySelectorAll("[name^=option_], [name^=no_], [name=mixture]");
  const differs = () => [...rules].some((rule) => rule.type === "checkbox" ? rule.checked : rule.value) ||
    (form.elements.players && form.elements.players.value !== form.dataset.players);
  form.addEventListener("input", () => { note.hidden = true; });
  form.addEventListener("submit", (event) => {
    if ((event.submitter && event.submitter.value === "refresh") || differs()) return;
    event.preventDefault();
    note.hidden = false;
    note.scrollIntoView({ block: "center" });
  });
}
// Times are typed in the person's own zone, unless they have chosen another one; those that are there in UTC are turned into it.
for (const zone of document.querySelectorAll("input[data-zone]")) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!own || (zone.value && zone.value !== "UTC")) continue;
  zone.value = own;
  for (const field of zone.form.querySelectorAll("input[type=datetime-local]")) {
    const at = new Date(`${field.value}Z`);
    if (!Number.isNaN(at.getTime())) field.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  }
}
const form = document.querySelector("form.predict");
if (form) {
  const line = form.querySelector(".prediction");
  let soon, asked = 0;
  const ask = async () => {
    const fields = new FormData(form), number = ++asked;
    fields.delete("csrfmiddlewaretoken");
    const answer = await fetch(`${form.dataset.forecast}&${new URLSearchParams(fields)}`).catch(() => null);
    if (number === asked && answer && answer.ok) line.textContent = await answer.text();
  };
  const show = () => { // Show only the fields that count for the chosen format.
    const format = new FormData(form).get("format");
    for (const one of form.querySelectorAll("[data-for]")) one.hidden = !one.dataset.for.split(" ").includes(format);
    for (const one of form.querySelectorAll("[data-not]")) one.hidden = one.dataset.not === format;
    const weekly = new FormData(form).get("weekly_format"); // The numbers of a weekly league are those of its own format.
    if (format === "weekly") for (const one of form.querySelectorAll("details [data-for]")) one.hidden = one.dataset.for.split(" ")[0] !== weekly;
  };
  form.addEventListener("input", () => { show(); clearTimeout(soon); soon = setTimeout(ask, 200); });
  form.querySelector("button[value=predict]").hidden = true;
  const find = form.querySelector("input[name=find]");
  if (find) {
    const boxes = form.querySelector(".found");
    let later, looked = 0;
    const look = async () => {
      const chosen = new FormData(form).getAll("bots").map((bot) => ["bots", bot]), number = ++looked;
      const answer = await fetch(`${boxes.dataset.found}&${new URLSearchParams([["find", find.value], ...chosen])}`).catch(() => null);
      if (number !== looked || !answer || !answer.ok) return;
      const text = await answer.text(), now = new Set(new FormData(form).getAll("bots"));
      if (number !== looked) return;
      boxes.innerHTML = text;
      for (const box of boxes.querySelectorAll("input")) box.checked = now.has(box.value); // The user may have ticked a box in the meantime.
    };
    find.addEventListener("input", () => { clearTimeout(later); later = setTimeout(look, 200); });
    find.addEventListener("keydown", (key) => { if (key.key === "Enter") { key.preventDefault(); clearTimeout(later); look(); } });
    form.querySelector("button[value=find]").hidden = true;
  }
  if (!line.textContent) ask();
  show();
}
// What needs a script is hidden without one: copy an address, and print.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).value);
    button.textContent = button.dataset.done;
  });
}
for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
