"""The files that an operator copies: alerts, dashboard, units, proxy. Each is read as its program reads it, and names only what there is."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path
from typing import Any

import crossplane
import promql_parser
import pytest
import yaml
from django.core.management import get_commands
from django.utils import translation
from django.utils.translation import gettext

from league.api.http.problems import KINDS
from league.domain.upkeep import metrics
from league.service.live import PING_S
from league.service.web_worker import MOST_BODY
from tests.support.league import NOW

DOCKER = Path(__file__).resolve().parents[2] / "docker"
ALERT = {"alert", "expr", "for", "labels", "annotations"}
LABELS = re.compile(r'(\w+)\{(\w+)="(\w+)"')


@pytest.fixture
def metrics_by_name(db: None) -> dict[str, metrics.Metric]:
    return {metric.name: metric for metric in metrics.collect(now=NOW)}


def check_expression(text: str, metrics_by_name: dict[str, metrics.Metric]) -> None:
    """Check that it is PromQL and names metrics and label values that the league has."""
    assert promql_parser.parse(text)
    names = set(re.findall(r"\btute_\w+", text))
    assert names or text.startswith("up{")
    assert names <= metrics_by_name.keys(), f"{text}: no metric {names - metrics_by_name.keys()}"
    for name, label, value in LABELS.findall(text):
        if name in metrics_by_name:
            assert metrics_by_name[name].label == label, text
            assert value in metrics_by_name[name].values, f"{text}: no such {label}"


def test_alerts_are_rules_of_prometheus_about_numbers_of_the_league(metrics_by_name) -> None:
    (group,) = yaml.safe_load((DOCKER / "monitoring" / "alerts.yml").read_text())["groups"]

    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"]) >= 8
    for rule in group["rules"]:
        assert rule.keys() <= ALERT
        assert re.fullmatch(r"\d+m", rule.get("for", "1m"))
        assert rule["labels"]["severity"] in ("page", "warn")
        assert rule["annotations"].keys() == {"summary", "description"}
        check_expression(rule["expr"], metrics_by_name)


def test_an_alert_that_names_nothing_is_refused(metrics_by_name) -> None:
    with pytest.raises(AssertionError, match="no metric"):
        check_expression("tute_unheard_of > 1", metrics_by_name)
    with pytest.raises(AssertionError, match="no such lane"):
        check_expression('tute_lane_waiting{lane="fast"} > 1', metrics_by_name)
    with pytest.raises(ValueError, match="invalid promql"):
        check_expression("tute_queue_starved == ", metrics_by_name)


def test_the_dashboard_shows_every_number_in_panels_that_do_not_overlap(metrics_by_name) -> None:
    board = json.loads((DOCKER / "monitoring" / "grafana.json").read_text())
    cells: set[tuple[int, int]] = set()
    names = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        area = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert area.isdisjoint(cells), panel["title"]
        assert place["x"] + place["w"] <= 24
        cells |= area
        for target in panel["targets"]:
            check_expression(target["expr"], metrics_by_name)
            names |= set(re.findall(r"\btute_\w+", target["expr"]))
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert names == metrics_by_name.keys()


@pytest.mark.parametrize("path", sorted((DOCKER / "systemd").glob("*.service")), ids=lambda path: path.stem)
def test_units_start_what_there_is(path: Path) -> None:
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign] # names of systemd have capitals
    unit.read_string(path.read_text())

    assert set(unit) == {"DEFAULT", "Unit", "Service", "Install"}
    service = unit["Service"]
    assert service["Restart"] == "always"
    assert service["User"] != "root"
    program, *words = service["ExecStart"].split()
    assert program.startswith("/opt/tute/.venv/bin/")
    if words[0] == "manage.py":
        assert words[1] in get_commands()
    else:
        assert words[0] == "league.wsgi"
        assert "league.service.web_worker.BufferingWorker" in words, "half a request holds no thread"
    state = re.fullmatch(r"STATE_DIR=(/var/lib/\S+)", service["Environment"])
    assert state
    assert state[1] == f"/var/lib/{service['StateDirectory']}"


def lines(block: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every directive of a parsed nginx file, whatever block it is in."""
    return [directive for line in block for directive in [line, *lines(line.get("block", []))]]


def directives(block: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Return the same as names and words."""
    return [(line["directive"], line["args"]) for line in lines(block)]


def test_the_proxy_speaks_tls_limits_and_believes_no_client(tmp_path: Path) -> None:
    parsed = crossplane.parse(str(DOCKER / "proxy" / "nginx.conf"), single=True, strict=True, ignore=("map",))
    assert parsed["status"] == "ok", parsed["errors"]
    listed = directives(parsed["config"][0]["parsed"])

    assert ("listen", ["443", "ssl", "http2"]) in listed, (
        "listeners hold connections, of which HTTP/1.1 has six to a site"
    )
    assert ("client_max_body_size", [f"{MOST_BODY // 2**20}m"]) in listed
    assert {"limit_conn", "limit_req", "client_header_timeout", "client_body_timeout"} <= {name for name, _ in listed}
    zones = [args[0] for name, args in listed if name in ("limit_conn_zone", "limit_req_zone")]
    assert zones == ["$client"] * 4, "an IPv6 network of 64 bits is one client"
    # A place that sets a header of its own inherits none
    places = listed.count(("proxy_set_header", ["Host", "$host"]))
    servers = [
        line["block"]
        for line in lines(parsed["config"][0]["parsed"])
        if line["directive"] == "server" and "block" in line
    ]
    assert ["proxy_set_header" in [line["directive"] for line in server] for server in servers] == [False, True]
    for header, value in (("X-Forwarded-For", "$remote_addr"), ("X-Forwarded-Proto", "$scheme")):
        assert listed.count(("proxy_set_header", [header, value])) == places
    # Events are passed on at once, and the site sends a line before the proxy would hang up
    [live] = [
        {directive["directive"]: directive["args"] for directive in line["block"]}
        for line in lines(parsed["config"][0]["parsed"])
        if line["directive"] == "location" and line["args"] == ["=", "/live"]
    ]
    assert live["proxy_buffering"] == ["off"]
    assert int(live["proxy_read_timeout"][0].removesuffix("s")) > 2 * PING_S


def test_what_the_proxy_itself_refuses_of_the_api_is_a_problem_too() -> None:
    parsed = crossplane.parse(str(DOCKER / "proxy" / "nginx.conf"), single=True, strict=True, ignore=("map",))[
        "config"
    ][0]["parsed"]
    locations = [line for line in lines(parsed) if line["directive"] == "location" and line["args"][0].startswith("@")]
    assert sorted(line["args"][0] for line in locations) == ["@rate", "@too_large", "@unavailable"]
    for line in locations:
        kind = line["args"][0].strip("@").replace("_", "-")
        status, title, what_to_do = KINDS[kind]
        answers = [args for name, args in directives(line["block"]) if name == "return"]
        for spoken, (number, text) in zip(("es", "en"), answers, strict=True):
            assert int(number) == status
            problem = json.loads(text)
            with translation.override(spoken):
                words = gettext(title), gettext(what_to_do)
            assert (problem["status"], problem["title"], problem["what_to_do"]) == (status, *words)
            assert problem["type"] == f"/api/v1/#{kind}"
