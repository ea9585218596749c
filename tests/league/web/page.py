"""A page taken apart: what a test asks of every answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from django.test import Client

from tests.league.web import weights

LOADS = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "use": "href",
    "object": "data",
    "form": "action",
}
VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
        "path",
        "circle",
        "rect",
        "use",
    ]
)


@dataclass
class Page(HTMLParser):
    """Tags, attributes and text of some HTML."""

    html: str
    loads: list[str] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)
    controls: list[dict[str, str | None]] = field(default_factory=list)
    lang: str = ""
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self.feed(self.html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag not in VOID:
            self._open.append(tag)
        if tag == "html":
            self.lang = values.get("lang") or ""
        if tag in LOADS and values.get(LOADS[tag]) and values.get("rel") not in ("canonical", "alternate"):
            self.loads.append(str(values[LOADS[tag]]))
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        if "id" in values:
            self.ids.append(str(values["id"]))
        if tag == "style" or "style" in values or (tag == "script" and not _is_loaded_late(values)):
            self.inline.append(f"<{tag} {attributes}>")
        self.inline += [f"{tag} {name}" for name in values if name.startswith("on")]
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.headings.append(int(tag[1]))
        if tag == "label" and values.get("for"):
            self.labels.add(str(values["for"]))
        if tag in ("input", "select", "textarea") and values.get("type") not in ("hidden", "submit"):
            self.controls.append(values)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._open):
            self.words.append(data)

    @property
    def text(self) -> str:
        """The text that a reader sees, with single white space."""
        return " ".join(" ".join(self.words).split())


def _is_loaded_late(script: dict[str, str | None]) -> bool:
    """Return True if a script has a file of its own and does not hold up the first paint."""
    return "src" in script and ("defer" in script or script.get("type") == "module")


def faults(page: Page) -> list[str]:
    """Return the faults of a page: inline code, loads from elsewhere, doubled ids, unnamed controls, skipped headings, too much weight."""
    problems = [f"inline: {what}" for what in page.inline]
    problems += [f"from elsewhere: {url}" for url in page.loads if url.startswith(("http:", "https:", "//", "data:"))]
    problems += [f"doubled id: {name}" for name in {i for i in page.ids if page.ids.count(i) > 1}]
    unnamed = [c for c in page.controls if c.get("id") not in page.labels and not c.get("aria-label")]
    problems += [f"control without a name: {control}" for control in unnamed]
    if page.headings.count(1) != 1:
        problems.append(f"{page.headings.count(1)} headings of the first level")
    steps = zip(page.headings, page.headings[1:], strict=False)
    problems += [f"heading {after} after {before}" for before, after in steps if after > before + 1]
    return problems + weights.too_heavy(page.html)


def text(client: Client, path: str, lang: str | None = None) -> str:
    """Return the text of a page, which must have no faults."""
    page = Page(client.get(path, headers={"accept-language": lang} if lang else None).content.decode())
    assert faults(page) == []
    return page.text
