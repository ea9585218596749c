// Comforts of the forms; both work without this file. Dropping a file on the upload form; predicting a tournament while somebody types.
const drop = document.querySelector(".drop");
if (drop) {
  const input = drop.querySelector("input");
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (drag) => { drag.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (drag) => { drag.preventDefault(); if (drag.dataTransfer.files.length) input.files = drag.dataTransfer.files; });
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
  const show = () => { // parameters of the chosen format only
    for (const one of form.querySelectorAll(".format")) {
      const more = one.querySelector("details");
      if (more) more.hidden = !one.querySelector("input[name=format]").checked;
    }
  };
  form.addEventListener("input", () => { show(); clearTimeout(soon); soon = setTimeout(ask, 200); });
  form.querySelector("button[value=predict]").hidden = true;
  if (!line.textContent) ask();
  show();
}
