// The puzzle of the day is answered in place: the verdict of the puzzle's own page is shown under the cards. Without this file that page opens.
document.getElementById("main").addEventListener("submit", async (submit) => {
  const form = submit.target.closest("form[data-place]");
  if (!form || !submit.submitter) return;
  submit.preventDefault();
  const body = new URLSearchParams([[submit.submitter.name, submit.submitter.value]]);
  for (const button of form.querySelectorAll("button")) button.disabled = true;
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } }).catch(() => null);
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  const verdict = page?.getElementById("verdict");
  if (!verdict) { form.removeAttribute("data-place"); for (const button of form.querySelectorAll("button")) button.disabled = false; submit.submitter.click(); return; }
  submit.submitter.classList.add("mine");
  form.append(document.importNode(verdict, true));
  const shown = form.querySelector("#verdict");
  shown.tabIndex = -1;
  shown.focus({ preventScroll: true });
  shown.scrollIntoView({ block: "nearest" });
});
