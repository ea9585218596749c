// Follows the card table (its "step" events). A comment is about the step that is shown, until somebody writes or chooses another, and the
// comments at this step are a button below the list, whose own marks are too small for a finger.
const marks = new Map();
let wanted = location.hash === "#talk"; // The table scrolls to itself when it shows a step of the address.
for (const link of document.querySelectorAll("ol.steps .says")) {
  const mark = document.createElement("span");
  mark.className = "says";
  mark.append(...link.childNodes);
  marks.set(link.closest("li").id, [link.href, mark.textContent.replace(/\s+/g, " ").trim()]);
  link.replaceWith(mark);
}

document.addEventListener("step", ({ detail }) => {
  const form = document.querySelector("form.write"), step = form?.elements.step, row = document.querySelector(".here .row");
  if (wanted) requestAnimationFrame(() => document.getElementById("talk").scrollIntoView());
  wanted = false;
  if (step && !form.elements.text.value) step.value = detail.number ? detail.id : "";
  row?.querySelector(".said")?.remove();
  if (!row || !marks.has(detail.id)) return;
  const link = document.createElement("a");
  link.className = "button plain said";
  [link.href, link.textContent] = marks.get(detail.id);
  row.prepend(link);
});
