// TV: every page shows the step given by the clock of the league. Without this file the page shows the deal in words.
const LOOK_MS = 200, SPREAD_MS = 3000, AGAIN_MS = 5000;
const main = document.getElementById("main");
let skew = 0, paused = false, asking = false, later = SPREAD_MS * Math.random();

const number = (tv, name) => Number(tv.dataset[name]);
function meet() { // Runs when the page has a new slot.
  const tv = main.querySelector(".tv");
  skew = number(tv, "now") - Date.now();
  tv.querySelectorAll(".js[hidden]").forEach((part) => { if (!part.closest("tute-replay")) part.hidden = false; });
  tv.querySelector("[data-pause]")?.setAttribute("aria-pressed", String(paused));
}
function look() {
  const tv = main.querySelector(".tv"), at = Date.now() + skew - number(tv, "begins"), slot = number(tv, "slot");
  const until = tv.querySelector("progress");
  if (until) until.value = Math.min(1, Math.max(0, at / slot));
  if (paused) return;
  const replay = tv.querySelector("tute-replay.ready");
  if (replay) {
    const first = number(tv, "first"), ahead = Math.floor((at - number(tv, "lead")) / number(tv, "step"));
    const step = Math.min(number(tv, "last"), first + Math.max(0, ahead));
    if (replay.now !== step) replay.go(step, false);
  }
  if (at > slot + later) ask();
}
async function ask() {
  if (asking) return;
  asking = true;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" }).catch(() => null);
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  const fresh = page?.querySelector("#main .tv");
  if (fresh) {
    const held = document.activeElement?.matches("[data-pause]");
    main.querySelector(".tv").replaceWith(document.importNode(fresh, true));
    meet();
    if (held) main.querySelector("[data-pause]")?.focus({ preventScroll: true });
    later = SPREAD_MS * Math.random();
  } else later += AGAIN_MS;
  asking = false;
}
main.addEventListener("click", (click) => {
  if (!click.target.closest("[data-pause]")) return;
  paused = !paused; // Resuming jumps to the current step.
  click.target.closest("[data-pause]").setAttribute("aria-pressed", String(paused));
});
meet();
setInterval(look, LOOK_MS);
