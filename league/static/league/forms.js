// Comforts of the forms; both work without this file. Dropping a file on the upload form; counting matches of a tournament.
const drop = document.querySelector(".drop");
if (drop) {
  const input = drop.querySelector("input");
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (drag) => { drag.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (drag) => { drag.preventDefault(); if (drag.dataTransfer.files.length) input.files = drag.dataTransfer.files; });
}
const form = document.querySelector("form.predict");
if (form) {
  const line = form.querySelector(".prediction"), sizes = form.dataset.sizes.split(",").map(Number);
  const count = () => {
    const bots = form.querySelectorAll("input[name=bots]:checked").length, matches = sizes[bots] ?? 0;
    const boards = matches * (Number(form.elements.boards.value) || 0);
    line.textContent = matches
      ? line.dataset.text.replace("{bots}", bots).replace("{matches}", matches).replace("{boards}", boards).replace("{sittings}", boards * form.dataset.sittings)
      : line.dataset.few;
  };
  form.addEventListener("input", count);
  count();
}
