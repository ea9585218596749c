"""The source of a version: its files, what changed since another version, its origin and forks, and the owner's form to publish it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from league.domain.bots import languages, packages, sources
from league.domain.core.errors import Refused, shown
from league.domain.matches import sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.enums import Licence
from league.models import BotVersion
from league.web.bots.downloads import withheld
from league.web.common.fields import set_choices
from league.web.common.inputs import short_text, whole_number
from league.web.common.viewers import user_of, viewer_of
from league.web.common.zoned import ZonedForm, moment_field

MOST_TEXT = 256 * 1024  # Bytes of a file that the page shows.
MOST_LINES = 2000  # Lines of a file that are compared, and lines of a comparison.
MOST_COMPARED = 8000  # Lines that a page compares.
MOST_FORKS = 20  # Forks that are named.
ON_DATE = "date"


class PublishForm(ZonedForm):
    """The licence of a source, and when it is published."""

    licence = forms.ChoiceField(label=gettext_lazy("Licence"), choices=Licence.choices)
    when = forms.ChoiceField(label=gettext_lazy("When"), required=False)
    at = moment_field(gettext_lazy("Date"), gettext_lazy("If you publish it on a date."))
    zoned = ("at",)

    def __init__(self, version: BotVersion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        later = [(name, _("after %(event)s") % {"event": title}) for name, title in sources.choices(version)]
        set_choices(self, when=[("", _("now")), (ON_DATE, _("on a date")), *later])

    def clean(self) -> dict[str, Any]:
        """Ask for the date if it is needed."""
        cleaned = super().clean()
        if cleaned.get("when") == ON_DATE and not cleaned.get("at") and "at" not in self.errors:
            self.add_error("at", _("Choose the date."))
        return cleaned


@dataclass
class FileChange:
    """A file that differs between two versions. kind: "added", "removed" or "changed"; lines: marked as in a unified diff, without its head."""

    name: str
    kind: str
    lines: list[tuple[str, str]] = field(default_factory=list)
    is_cut: bool = False  # True if the file is not text, or too long to compare.


@never_cache
def code(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the source of a version: a file (`?file=`), or what changed since another version (`?with=2`, `?with=rufo/3`). Ten queries."""
    version = sources.find(viewer_of(request), slug, number)
    if version is None:
        return withheld(request)
    return _page(request, version, PublishForm(version))


def _page(request: HttpRequest, version: BotVersion, form: PublishForm, status: int = 200) -> HttpResponse:
    bot, viewer = version.bot, viewer_of(request)
    files = packages.files(version)
    name = request.GET.get("file", "")
    name = name if name in files else version.entry
    other = _other(request, version)
    forks = sources.forks(bot, user_of(request))
    context = {
        "bot": bot,
        "version": version,
        "files": [(path, len(data)) for path, data in files.items()],
        "name": name,
        "text": _text(files[name]),
        "other": other,
        "changes": compare(packages.files(other), files) if other else [],
        "readable": sources.list_readable(bot, viewer),
        "origin": version.origin,
        "forks": forks[:MOST_FORKS],
        "fork_count": forks.count(),
        "editable": languages.language_of(version) is not None,
        "can_manage": ownership.may(viewer, bot, BotAct.MANAGE),
        "is_own": ownership.may(viewer, bot, BotAct.CODE),
        "form": form,
        "plan": dict(sources.choices(version)).get(version.opens_after, version.opens_after),
    }
    return render(request, "bots/source.html", context, status=status)


def _other(request: HttpRequest, version: BotVersion) -> BotVersion | None:
    """Return the version in `?with=` if the viewer may read it; a number alone is a version of the same bot."""
    slug, _slash, number = short_text(request.GET.get("with", ""), 60).rpartition("/")
    version_number = whole_number(number)
    return sources.find(viewer_of(request), slug or version.bot.slug, version_number) if version_number else None


def _text(data: bytes) -> str | None:
    """Return the text of a file; None if it is not text, or too long to show."""
    if len(data) > MOST_TEXT or b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def compare(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[FileChange]:
    """Return the files that differ, in the order of their names.

    At most MOST_COMPARED lines are compared, since the work may grow with their square.
    """
    differing = []
    budget = MOST_COMPARED
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        change = FileChange(name, "added" if old is None else "removed" if new is None else "changed")
        differing.append(change)
        texts = [_text(data or b"") for data in (old, new)]
        lines = [text.splitlines() for text in texts if text is not None]
        budget -= sum(map(len, lines))
        if len(lines) < len(texts) or max(map(len, lines)) > MOST_LINES or budget < 0:
            change.is_cut = True
            continue
        marked = list(unified_diff(lines[0], lines[1], n=3, lineterm=""))[2:]
        change.lines = [(line[:1], line[1:]) for line in marked[:MOST_LINES]]
        change.is_cut = len(marked) > MOST_LINES
    return differing


@login_required
@require_POST
def publish(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Publish the source of a version now or later, or drop the plan."""
    rows = BotVersion.objects.select_related("bot__owner", "package", "source", "origin__bot")
    version = get_object_or_404(rows.filter(sight.knows_bot(user_of(request), "bot__")), bot__slug=slug, number=number)
    viewer = viewer_of(request)
    if viewer is None or not ownership.may(viewer, version.bot, BotAct.MANAGE):
        raise PermissionDenied
    form = PublishForm(version, request.POST)
    try:
        if request.POST.get("do") == "drop":
            sources.drop_plan(version, actor=viewer.name)
        elif not form.is_valid():
            return _page(request, version, form, 422)
        else:
            when = form.cleaned_data["when"]
            at, after = (form.cleaned_data["at"], "") if when == ON_DATE else (None, when)
            sources.publish(version, form.cleaned_data["licence"], at=at, after=after, actor=viewer.name)
        messages.success(request, _("Saved."))
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("version-code", slug=slug, number=number)
