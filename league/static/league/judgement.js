// Follows the card table (its "step" events): marks mistakes in the list of steps, moves the line of the drawing, says below the list what
// the decision cost, what a house bot would have played and how often others choose so, and aims the links below at the step that is shown.
// The page already contains the drawing, with a link to the step of each decision. The drawing is a slider, too: press and drag.
const TARGET = 24; // Pixels between two targets (WCAG 2.5.8).
const here = () => document.querySelector(".here");
const list = () => document.querySelector("tute-replay ol.steps");

document.addEventListener("step", ({ detail }) => {
  const box = here();
  if (!box) return;
  const item = document.getElementById(detail.id), usual = item?.querySelector(".usual")?.cloneNode();
  for (const [name, key] of [["#open-here", "at"], ["#ask-here", "step"]]) {
    const link = box.querySelector(name);
    if (link) { const to = new URL(link.href); to.searchParams.set(key, detail.id); link.href = to.pathname + to.search + to.hash; }
  }
  const cost = document.querySelector(`tute-judgement a[href="#${detail.id}"]`)?.getAttribute("aria-label");
  const would = item?.querySelector(".would")?.textContent.replace(/\s+/g, " ").trim();
  const verdict = box.querySelector(".verdict");
  verdict.textContent = [cost, would].filter(Boolean).join(" · ");
  if (usual) { usual.textContent = usual.title; verdict.append(verdict.textContent && " · ", usual); }
});

class TuteJudgement extends HTMLElement {
  gone = new AbortController();
  connectedCallback() {
    this.points = [...this.querySelectorAll("a.at")];
    this.line = this.querySelector(".now");
    for (const point of this.points) this.mark(point);
    this.thin();
    const { signal } = this.gone;
    document.addEventListener("step", (event) => this.show(event.detail), { signal });
    const now = list()?.querySelector("[aria-current]");
    if (now) now.closest("tute-replay").draw();
    this.addEventListener("pointerdown", (press) => {
      if (press.target.closest("a")) return;
      this.setPointerCapture(press.pointerId); this.slide(press);
    }, { signal });
    this.addEventListener("pointermove", (press) => { if (press.buttons && this.hasPointerCapture(press.pointerId)) this.slide(press); }, { signal });
  }
  disconnectedCallback() { this.gone.abort(); }
  thin() { // Mistakes that lie too close for a finger are reached by the list and the slider, not by the Tab key.
    const scale = this.firstElementChild.getBoundingClientRect().width / this.firstElementChild.viewBox.baseVal.width;
    let last = -Infinity;
    for (const point of this.points.filter((one) => one.dataset.lost)) {
      if ((point.dataset.x - last) * scale < TARGET) point.setAttribute("tabindex", "-1"); else last = +point.dataset.x;
    }
  }
  slide(press) {
    const box = this.firstElementChild.getBoundingClientRect(), range = document.querySelector("tute-replay input[type=range]");
    range.value = Math.floor((press.clientX - box.left) / box.width * (+range.max + 1));
    range.dispatchEvent(new Event("input"));
  }
  mark(point) {
    const step = document.querySelector(`ol.steps > ${point.getAttribute("href")}`), kind = ["slip", "blunder"].find((one) => point.classList.contains(one));
    if (!step || !kind || step.querySelector(".lost")) return;
    const lost = document.createElement("span");
    lost.className = `lost ${kind}`;
    lost.textContent = ` ${point.dataset.lost}`;
    step.append(lost);
  }
  show({ id, number }) {
    this.querySelector("a[aria-current]")?.removeAttribute("aria-current");
    this.querySelector(`a[href="#${id}"]`)?.setAttribute("aria-current", "step");
    const range = document.querySelector("tute-replay input[type=range]"), x = (number + 0.5) / (+range.max + 1) * this.firstElementChild.viewBox.baseVal.width;
    this.line.removeAttribute("hidden");
    for (const end of ["x1", "x2"]) this.line.setAttribute(end, x);
  }
}
customElements.define("tute-judgement", TuteJudgement);
