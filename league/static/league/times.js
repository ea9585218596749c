// Shows times in the reader's zone and language, and keeps relative times running. Without this file they are in UTC.
// A kind (data-as): moment, day, agenda (today, tomorrow or the day), due (a time to come, with in how long) or ago (the time itself as its title, and while its row has the focus).
const lang = document.documentElement.lang === "es" ? "es-ES" : "en-GB";
const date = { day: "numeric", month: "short", year: "numeric" };
const full = new Intl.DateTimeFormat(lang, { ...date, hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" });
const weekday = new Intl.DateTimeFormat(lang, { weekday: "short", day: "numeric", month: "short" });
const hour = new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(lang, date);
const relative = new Intl.RelativeTimeFormat(lang, { numeric: "auto" });
const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

function ago(at, now) {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, size] of UNITS) if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return relative.format(seconds, "second");
}

function agenda(at, now) {
  const midnight = (date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  const days = (midnight(at) - midnight(new Date(now))) / 86400000;
  const words = days === 0 || days === 1 ? relative.format(days, "day") : weekday.format(at);
  return `${words[0].toLocaleUpperCase(lang)}${words.slice(1)}, ${hour.format(at)}`;
}

function text(time, now) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) return null;
  if (time.dataset.as === "day") return day.format(at);
  if (time.dataset.as === "agenda") return agenda(at, now);
  if (time.dataset.as === "moment") return full.format(at);
  if (time.dataset.as === "due") return `${full.format(at)} (${ago(at, now)})`;
  if (time.dataset.as !== "ago") return null;
  const exact = full.format(at);
  if (time.title !== exact) time.title = exact;
  return time.closest("tr, li, p, dl")?.contains(document.activeElement) ? exact : ago(at, now);
}

function show() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-as]")) {
    const words = text(time, now);
    if (words !== null && time.textContent !== words) time.textContent = words;
  }
}

show();
setInterval(show, 1000);
document.addEventListener("focusin", show);
document.addEventListener("focusout", () => setTimeout(show, 0));
new MutationObserver(show).observe(document.getElementById("main") ?? document.body, { childList: true, subtree: true });
