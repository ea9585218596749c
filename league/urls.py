"""Addresses: the REST API, the pages, the admin."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path(
        "admin/password_change/", RedirectView.as_view(pattern_name="password")
    ),  # There is one page to change the password, and it writes to the journal.
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include("league.api.urls")),
    path("", include("league.web.urls")),
]

handler400 = "league.handlers.bad_request"
handler403 = "league.handlers.forbidden"
handler404 = "league.handlers.not_found"
handler500 = "league.handlers.server_error"
