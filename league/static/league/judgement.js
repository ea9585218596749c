// <tute-judgement>: follows the card table above it (its "step" events) and marks mistakes in the list of steps.
// The page already contains the drawing, with a link to the step of each decision.
class TuteJudgement extends HTMLElement {
  gone = new AbortController();
  connectedCallback() {
    this.points = [...this.querySelectorAll("a.at")];
    this.line = this.querySelector(".now");
    this.said = this.querySelector(".verdict");
    for (const point of this.points) this.mark(point);
    document.addEventListener("step", (event) => this.show(event.detail), { signal: this.gone.signal });
    const now = document.querySelector("ol.steps [aria-current]");
    if (now) this.show({ id: now.id });
  }
  disconnectedCallback() { this.gone.abort(); }
  mark(point) {
    const step = document.querySelector(`ol.steps > ${point.getAttribute("href")}`), kind = ["slip", "blunder"].find((one) => point.classList.contains(one));
    if (!step || !kind || step.querySelector(".lost")) return;
    const lost = document.createElement("span");
    lost.className = `lost ${kind}`;
    lost.textContent = ` ${point.dataset.lost}`;
    step.append(lost);
  }
  show({ id }) {
    const [deal, ply] = id.match(/\d+/g).map(Number);
    let last = null, here = null;
    for (const point of this.points) {
      const [its, at] = point.getAttribute("href").match(/\d+/g).map(Number);
      point.removeAttribute("aria-current");
      if (its === deal && at <= ply) last = point;
      if (its === deal && at === ply) here = point;
    }
    here?.setAttribute("aria-current", "step");
    this.line.toggleAttribute("hidden", !last);
    for (const end of ["x1", "x2"]) this.line.setAttribute(end, last?.dataset.x ?? 0);
    this.said.textContent = here?.getAttribute("aria-label") ?? "";
  }
}
customElements.define("tute-judgement", TuteJudgement);
