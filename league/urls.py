"""Addresses: the REST API, the pages, the admin."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls), path("i18n/", include("django.conf.urls.i18n"))]
if (settings.BASE_DIR / "league/api/urls.py").exists():
    urlpatterns.append(path("api/v1/", include("league.api.urls")))
if (settings.BASE_DIR / "league/web/urls.py").exists():
    urlpatterns.append(path("", include("league.web.urls")))

handler400 = "league.web.views.errors.bad_request"
handler403 = "league.web.views.errors.forbidden"
handler404 = "league.web.views.errors.not_found"
handler500 = "league.web.views.errors.server_error"
