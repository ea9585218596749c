"""Times in pages: UTC in the text, local time by the script."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from django.utils import translation

from league.templatetags import times

AT = datetime(2026, 11, 27, 18, 5, 30, tzinfo=UTC)
TEMPLATES = Path(times.__file__).parents[1] / "templates"


@pytest.mark.parametrize(("lang", "text"), [("en", "27 Nov 2026, 18:05 UTC"), ("es", "27 nov 2026, 18:05 UTC")])
def test_a_moment_names_its_zone_and_has_no_half_days(lang: str, text: str) -> None:
    with translation.override(lang):
        html = times.moment(AT.astimezone(timezone(timedelta(hours=5))))

    assert (
        html.lower().replace("nov.", "nov")
        == f'<time datetime="2026-11-27t18:05:30z" data-as="moment">{text}</time>'.lower()
    )


def test_a_relative_time_has_the_moment_as_its_title() -> None:
    with translation.override("en"):
        html = times.ago(datetime.now(UTC) - timedelta(hours=2))

    assert re.search(r'data-as="ago" title="[^"]+ UTC">2 hours ago</time>', html.replace("\xa0", " "))


def test_no_time_is_no_element() -> None:
    assert times.moment(None) == times.ago(None) == times.due(None) == times.day(None) == ""


def test_no_template_writes_times_in_another_way() -> None:
    """Words of the `date` filter stay in attributes, drawings and addresses, where no element can stand."""
    others = [
        f"{path.relative_to(TEMPLATES)}: {line.strip()}"
        for path in TEMPLATES.rglob("*.html")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r'\|(naturaltime|timesince|timeuntil|time:)|\|date:"[^"]*(:i|DATETIME|P)', line)
        and not re.search(r"<input|text-anchor", line)
    ]

    assert others == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "moment", "ago"),
    [("en", r"27 Nov 2026, 19:05 \S+", "5 minutes ago"), ("es", r"27 nov 2026, 19:05 \S+", "hace 5 minutos")],
)
def test_the_script_shows_local_time_in_24_hours_and_keeps_it_running(
    browser, live_server, lang: str, moment: str, ago: str
) -> None:
    page = browser.new_page(timezone_id="Europe/Madrid", locale={"en": "en-US", "es": "es-MX"}[lang])
    page.clock.install(time="2026-11-27T18:10:30Z")
    page.goto(f"{live_server.url}/docs/")
    with translation.override(lang):
        html = f'<p>{times.moment(AT)} <a href="/">x</a></p><p>{times.ago(AT)} <a href="/g/" id="link">y</a></p>'
    page.evaluate("(html) => { document.getElementById('main').innerHTML = html; }", html)
    moments, relative = page.locator("time[data-as=moment]"), page.locator("time[data-as=ago]")
    assert re.fullmatch(moment, moments.text_content() or "")
    assert relative.text_content() == ago
    assert re.fullmatch(moment, relative.get_attribute("title") or "")
    page.focus("#link")
    assert re.fullmatch(moment, relative.text_content() or "")
    page.evaluate("document.activeElement.blur()")
    page.clock.run_for(120_000)  # Relative times run on.
    assert (relative.text_content() or "") == ago.replace("5", "7")
