"""A read-only view of the tables for operators. Only the domain functions change rows, so that every change is in the journal.

The pages of Django and other apps are removed, or made read-only as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth import get_user_model
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


@admin.register(get_user_model())
class AccountAdmin(ReadOnlyPage):
    """Accounts, without the password hash. `manage.py set_password` sets a password and informs the owner."""

    list_display = ["username", "is_active", "is_staff", "is_superuser", "last_login", "date_joined"]
    list_filter = ["is_active", "is_staff", "is_superuser"]
    search_fields = ["username"]
    fields = ["username", "email", "is_active", "is_staff", "is_superuser", "last_login", "date_joined"]


@admin.register(models.Player)
class PlayerAdmin(ReadOnlyPage):
    """Players."""

    list_display = ["name", "created"]
    search_fields = ["name"]


@admin.register(models.Audit)
class AuditAdmin(ReadOnlyPage):
    """Audits. People review those with a difference: `first` is the first different decision."""

    list_display = [
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
    ]
    list_select_related = ["version__bot"]
    list_filter = ["verdict", "conclusion", "reason"]
    search_fields = ["match__public_id", "version__bot__slug"]
    raw_id_fields = ["work", "match", "version"]


@admin.register(models.Case)
class CaseAdmin(ReadOnlyPage):
    """Cases: results of two owners that their ratings do not explain."""

    list_display = ["__str__", "boards", "points", "expected", "deviations", "created", "conclusion", "closed_by"]
    list_filter = ["conclusion"]
    search_fields = ["loser__name", "winner__name"]
    raw_id_fields = ["pool", "loser", "winner"]


@admin.register(models.Job)
class JobAdmin(ReadOnlyPage):
    """Queued and running jobs, except matches."""

    list_display = [
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
    ]
    list_select_related = ["owner"]
    list_filter = ["kind", "state"]
    search_fields = ["worker", "owner__name"]
    raw_id_fields = ["judgement", "consultation", "table", "owner"]


@admin.register(models.Judgement)
class JudgementAdmin(ReadOnlyPage):
    """Analyses of matches, with requester, cost and error."""

    list_display = [
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
    ]
    list_select_related = ["asked_by"]
    list_filter = ["status", "kind"]
    search_fields = ["match__public_id", "asked_by__name"]
    raw_id_fields = ["match", "asked_by"]
    exclude = ["body"]


@admin.register(models.Consultation)
class ConsultationAdmin(ReadOnlyPage):
    """Consultations of house bots, with requester, cost and error."""

    list_display = ["__str__", "status", "asked_by", "created", "cpu_s", "reason"]
    list_select_related = ["asked_by", "version__bot"]
    list_filter = ["status"]
    search_fields = ["match__public_id", "asked_by__name", "version__bot__slug"]
    raw_id_fields = ["match", "asked_by", "version"]


@admin.register(models.TakenName)
class TakenNameAdmin(ReadOnlyPage):
    """Names with their holders and look-alikes."""

    list_display = ["name", "kind", "skeleton", "holder", "until"]
    list_filter = ["kind"]
    search_fields = ["name", "skeleton", "holder"]


@admin.register(models.Bot)
class BotAdmin(ReadOnlyPage):
    """Bots."""

    list_display = ["slug", "owner", "state", "is_house", "created"]
    list_select_related = ["owner"]
    list_filter = ["state", "is_house"]
    search_fields = ["slug", "owner__name"]


@admin.register(models.BotVersion)
class BotVersionAdmin(ReadOnlyPage):
    """Uploads."""

    list_display = ["__str__", "status", "fault", "runtime", "created"]
    list_select_related = ["bot"]
    list_filter = ["status", "fault", "runtime"]
    search_fields = ["bot__slug", "package__sha256"]


@admin.register(models.Tournament)
class TournamentAdmin(ReadOnlyPage):
    """Tournaments, without the secret."""

    list_display = ["name", "owner", "format", "status", "boards", "created"]
    list_select_related = ["owner"]
    list_filter = ["status", "format"]
    exclude = ["secret"]


@admin.register(models.Match)
class MatchAdmin(ReadOnlyPage):
    """Matches, without the secret."""

    list_display = ["public_id", "kind", "status", "worker", "attempts", "progress", "lease_until", "reason", "created"]
    list_filter = ["status", "kind"]
    search_fields = ["public_id", "key", "worker"]
    exclude = ["secret"]


@admin.register(models.Table)
class TableAdmin(ReadOnlyPage):
    """Tables of people, without secret, cards and records."""

    list_display = ["public_id", "player", "pool", "status", "turn", "since", "reason", "created"]
    list_select_related = ["player", "pool"]
    list_filter = ["status"]
    search_fields = ["public_id", "player__name", "worker"]
    exclude = ["secret", "spectated", "seat", "seen", "legal", "hand", "records"]


@admin.register(models.Worker)
class WorkerAdmin(ReadOnlyPage):
    """Processes that play matches."""

    list_display = ["name", "tier", "match", "seen", "refusal", "trouble", "broker"]
    list_select_related = ["match"]


@admin.register(models.Scheduler)
class SchedulerAdmin(ReadOnlyPage):
    """Processes that keep the queue in order."""

    list_display = ["name", "started", "seen", "errors", "trouble", "broker"]


@admin.register(models.LeagueEvent)
class LeagueEventAdmin(ReadOnlyPage):
    """The journal."""

    list_display = ["at", "kind", "subject", "actor", "data"]
    list_filter = ["kind"]
    search_fields = ["subject", "actor"]
