"""Protection against forms that are sent twice, by a second Enter or a second click on a slow line: they create only one thing."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import redirect

REMEMBERED_S = 10  # If the same form is sent again within this many seconds, it leads to what it has already created.
UNDER_WAY_S = 30  # The longest that the first request may take, in seconds.
LOOK_S = 0.05

View = Callable[..., HttpResponse]


def once(view: View) -> View:
    """Decorate a view: if a player sends the same form again within REMEMBERED_S, redirect to where the first one led.

    Only redirects are remembered.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST" or not request.user.is_authenticated:
            return view(request, *args, **kwargs)
        key = _key(request)
        until = time.monotonic() + UNDER_WAY_S
        while not cache.add(key, "", UNDER_WAY_S):
            address = cache.get(key)
            if address:
                return redirect(address)
            if time.monotonic() > until:
                break
            time.sleep(LOOK_S)
        address = ""
        try:
            response = view(request, *args, **kwargs)
            if isinstance(response, HttpResponseRedirectBase):
                address = response.url
        finally:
            if address:
                cache.set(key, address, REMEMBERED_S)
            else:
                cache.delete(key)
        return response

    return answer


def _key(request: HttpRequest) -> str:
    fields = sorted((name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken")
    text = repr((request.user.pk, request.get_full_path(), fields))
    return "once:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
