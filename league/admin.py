"""A read-only view of the tables for operators. Only the domain functions change rows, so that every change is in the journal.

The pages of Django and other apps are removed, or made read-only as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from league import models

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = admin.ModelAdmin  # Only the stubs are generic.


class ReadOnlyPage(Page):
    """A read-only page for staff."""

    show_full_result_count = False
    actions = None

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Return True: the admin site has already checked that the user is staff."""
        return True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True: the admin site has already checked that the user is staff."""
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: only the domain functions add rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: only commands change rows (docs/operations/backup.md, "Repair")."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: nothing is deleted."""
        return False


admin.site.site_header = admin.site.site_title = gettext_lazy("Tute League")
models.Match._meta.verbose_name_plural = "matches"
for model in list(admin.site._registry):  # Remove Django's and other apps' pages: accounts, groups, schedules.
    admin.site.unregister(model)


# Each table of the admin pages, with the options of Django's `ModelAdmin`.
PAGES: dict[type[Model], dict[str, Any]] = {
    # Without the password hash. `manage.py set_password` sets a password and informs the owner.
    get_user_model(): {
        "list_display": ["username", "is_active", "is_staff", "is_superuser", "last_login", "date_joined"],
        "list_filter": ["is_active", "is_staff", "is_superuser"],
        "search_fields": ["username"],
        "fields": ["username", "email", "is_active", "is_staff", "is_superuser", "last_login", "date_joined"],
    },
    models.Player: {"list_display": ["name", "created"], "search_fields": ["name"]},
    # People review audits with a difference: `first` is the first different decision.
    models.Audit: {
        "list_display": [
            "__str__",
            "version",
            "reason",
            "verdict",
            "decisions",
            "log_odd",
            "run_odd",
            "chance",
            "finished",
            "conclusion",
            "closed_by",
        ],
        "list_select_related": ["version__bot"],
        "list_filter": ["verdict", "conclusion", "reason"],
        "search_fields": ["match__public_id", "version__bot__slug"],
        "raw_id_fields": ["work", "match", "version"],
    },
    models.Case: {
        "list_display": ["__str__", "boards", "points", "expected", "deviations", "created", "conclusion", "closed_by"],
        "list_filter": ["conclusion"],
        "search_fields": ["loser__name", "winner__name"],
        "raw_id_fields": ["pool", "loser", "winner"],
    },
    models.Job: {
        "list_display": [
            "__str__",
            "state",
            "owner",
            "position",
            "worker",
            "attempts",
            "lease_until",
            "not_before",
            "progress",
            "reason",
            "created",
        ],
        "list_select_related": ["owner"],
        "list_filter": ["kind", "state"],
        "search_fields": ["worker", "owner__name"],
        "raw_id_fields": ["judgement", "consultation", "table", "owner"],
    },
    models.Judgement: {
        "list_display": [
            "__str__",
            "judge",
            "samples",
            "status",
            "asked_by",
            "created",
            "cpu_s",
            "decisions",
            "judged",
            "reason",
        ],
        "list_select_related": ["asked_by"],
        "list_filter": ["status", "kind"],
        "search_fields": ["match__public_id", "asked_by__name"],
        "raw_id_fields": ["match", "asked_by"],
        "exclude": ["body"],
    },
    models.Consultation: {
        "list_display": ["__str__", "status", "asked_by", "created", "cpu_s", "reason"],
        "list_select_related": ["asked_by", "version__bot"],
        "list_filter": ["status"],
        "search_fields": ["match__public_id", "asked_by__name", "version__bot__slug"],
        "raw_id_fields": ["match", "asked_by", "version"],
    },
    models.TakenName: {
        "list_display": ["name", "kind", "skeleton", "holder", "until"],
        "list_filter": ["kind"],
        "search_fields": ["name", "skeleton", "holder"],
    },
    models.Bot: {
        "list_display": ["slug", "owner", "state", "is_house", "created"],
        "list_select_related": ["owner"],
        "list_filter": ["state", "is_house"],
        "search_fields": ["slug", "owner__name"],
    },
    models.BotVersion: {
        "list_display": ["__str__", "status", "fault", "runtime", "created"],
        "list_select_related": ["bot"],
        "list_filter": ["status", "fault", "runtime"],
        "search_fields": ["bot__slug", "package__sha256"],
    },
    models.Tournament: {
        "list_display": ["name", "owner", "format", "status", "boards", "created"],
        "list_select_related": ["owner"],
        "list_filter": ["status", "format"],
        "exclude": ["secret"],
    },
    models.Match: {
        "list_display": [
            "public_id",
            "kind",
            "status",
            "worker",
            "attempts",
            "progress",
            "lease_until",
            "reason",
            "created",
        ],
        "list_filter": ["status", "kind"],
        "search_fields": ["public_id", "key", "worker"],
        "exclude": ["secret"],
    },
    # Without secret, cards and records.
    models.Table: {
        "list_display": ["public_id", "player", "pool", "status", "turn", "since", "reason", "created"],
        "list_select_related": ["player", "pool"],
        "list_filter": ["status"],
        "search_fields": ["public_id", "player__name", "worker"],
        "exclude": ["secret", "spectated", "seat", "seen", "legal", "hand", "records"],
    },
    models.Worker: {
        "list_display": ["name", "tier", "match", "seen", "refusal", "trouble", "broker"],
        "list_select_related": ["match"],
    },
    models.Scheduler: {"list_display": ["name", "started", "seen", "errors", "trouble", "broker"]},
    models.LeagueEvent: {
        "list_display": ["at", "kind", "subject", "actor", "data"],
        "list_filter": ["kind"],
        "search_fields": ["subject", "actor"],
    },
}
for model, options in PAGES.items():
    admin.site.register(model, ReadOnlyPage, **options)
