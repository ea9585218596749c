"""The page of a source: its readers, differences, the fork, and the owner's form."""

from __future__ import annotations

from engine.packages import archive
from league.domain.bots import bots, packages, sources
from league.enums import Licence
from league.models import BotVersion
from league.web.bots.sources import MOST_COMPARED, MOST_LINES, compare
from tests.league.web.page import Page, faults
from tests.support.league import BOT, NOW, source

HERE = "/bots/rufo/v1/code/"


def read(client, path: str, language: str = "en") -> str:
    answer = client.get(path, headers={"accept-language": language})
    assert answer.status_code == 200, answer
    page = Page(answer.content.decode())
    assert faults(page) == []
    return " ".join(page.text.split())


def publish(version: BotVersion) -> None:
    sources.publish(version, Licence.MIT, actor="ana", now=NOW)


def test_nobody_reads_what_is_not_published(league, reader, owner, stranger) -> None:
    for name in ("code/", "source", "package.zip"):
        assert reader.get(f"/bots/rufo/v1/{name}").url.startswith("/accounts/login/")
        assert stranger.get(f"/bots/rufo/v1/{name}").status_code == 404
    assert reader.get("/editor/?from=rufo/1").url.startswith("/accounts/login/")
    assert stranger.get("/editor/?from=rufo/1").status_code == 404
    assert "code/" not in stranger.get("/bots/rufo/v1/").content.decode()
    assert "Only you and your team can read this. Let everybody read it" in read(owner, HERE)
    assert "Solo tú y tu equipo" in read(owner, HERE, "es")
    assert stranger.get("/bots/nobody/v1/code/").status_code == 404


def test_everybody_reads_and_forks_what_is_published(league, reader, owner, stranger) -> None:
    assert stranger.post("/bots/rufo/v1/publish/", {"licence": "MIT"}).status_code == 403
    assert reader.post("/bots/rufo/v1/publish/", {"licence": "MIT"}).status_code == 302
    assert owner.post("/bots/rufo/v1/publish/", {"licence": "mine"}).status_code == 422
    assert owner.post("/bots/rufo/v1/publish/", {"licence": "MIT", "when": "date"}).status_code == 422
    assert not BotVersion.objects.filter(opened__isnull=False).exists()
    assert owner.post("/bots/rufo/v1/publish/", {"licence": "MIT", "when": ""}).status_code == 302
    text = read(reader, HERE)
    assert "MIT" in text
    assert "class Mine(Bot):" in text
    assert "Let everybody read it" not in text
    assert "Let everybody read it" not in read(owner, HERE)
    assert "Read the source of version 1" in read(reader, "/bots/rufo/")
    assert "Read the source" in read(reader, "/bots/rufo/v1/")
    line = b"# Fork of rufo/1 by ana (MIT)\n"
    assert reader.get("/bots/rufo/v1/source").content == line + packages.files(league.rufo)["bot.py"]
    assert line in archive.read(reader.get("/bots/rufo/v1/package.zip").content, "x.zip").files["bot.toml"]
    assert archive.read(owner.get("/bots/rufo/v1/package.zip").content, "x.zip").sha256 == league.rufo.package_id
    for client in (reader, stranger):
        page = client.get("/editor/?from=rufo/1").content.decode()
        assert line.decode() in page
        assert 'value="rufo"' not in page, "a fork is a bot of one's own"
    answer = stranger.post(
        "/editor/", {"do": "submit", "bot": "luna", "draft": "", "language": "python", "game": "partnership",
                     "rival": "greedy", "source": line.decode() + BOT.decode() + "# other\n"}
    )  # fmt: skip
    assert answer.status_code in (302, 422), answer
    fork = bots.upload(league.berto, "nieta", line + source(), "bot.py", now=NOW)
    assert fork.origin == league.rufo
    assert "Comes from rufo, version 1" in read(reader, "/bots/nieta/v1/")
    assert "Comes from rufo, version 1" in read(reader, "/bots/nieta/")
    assert "MIT · 1 bot comes from this." in read(reader, "/bots/rufo/")
    assert "1 bot comes from this. nieta" in read(reader, HERE)
    assert "Viene de rufo, versión 1" in read(reader, "/bots/nieta/", "es")


def test_a_plan_is_shown_to_its_owner_and_dropped(league, reader, owner) -> None:
    here = "/bots/rufo/v1/publish/"
    owner.post(here, {"licence": "CC0-1.0", "when": "date", "at": "2999-01-01T12:00", "zone": "Europe/Madrid"})
    assert "dentro de los próximos 366 días" in read(owner, HERE, "es")
    owner.post(here, {"licence": "CC0-1.0", "when": "tournament:next-cup"})
    assert "It will be published after Next cup, under CC0-1.0. Keep it closed" in read(owner, HERE)
    assert "version 1" not in reader.get(HERE).content.decode()
    owner.post(here, {"do": "drop"})
    assert "It will be published" not in read(owner, HERE)
    assert owner.get(here).status_code == 405


def test_what_differs_between_versions_and_from_the_origin(league, reader, owner) -> None:
    publish(league.rufo)
    newer = bots.upload(league.ana, "rufo", BOT.replace(b"legal[0]", b"legal[-1]"), "bot.py", now=NOW)
    BotVersion.objects.filter(pk=newer.pk).update(status="accepted")
    assert reader.get("/bots/rufo/v2/code/?with=1").status_code == 302
    publish(newer)
    text = read(reader, "/bots/rufo/v2/code/?with=1")
    assert "- return legal[0] + return legal[-1]" in text
    assert "Compare v1 with v2" in text
    fork = bots.upload(league.berto, "nieta", b"# Fork of rufo/2\n" + source(), "bot.py", now=NOW)
    BotVersion.objects.filter(pk=fork.pk).update(status="accepted", opened=NOW, licence="MIT")
    assert "+# Fork of rufo/2" in read(reader, "/bots/nieta/v1/code/?with=rufo/2")
    for odd in ("with=9", "with=luna/1", "with=x", "file=nothing", "file=bot.toml", "with=/"):
        read(reader, f"/bots/rufo/v2/code/?{odd}")


def test_the_names_and_texts_of_files_are_escaped(league, reader) -> None:
    data = {**packages.files(league.rufo), "<b>.py": b"<script>\0", "a.py": b"<script>alert(1)</script>\xff"}
    content = packages.inspect(source(), "bot.py", ())
    package = packages.store(archive.BotPackage(content.manifest, {**content.files, **data}))
    BotVersion.objects.filter(pk=league.rufo.pk).update(package=package)
    publish(league.rufo)
    for name in ("%3Cb%3E.py", "a.py"):
        page = reader.get(f"{HERE}?file={name}").content.decode()
        assert "<b>" not in page
        assert "<script>alert" not in page


def test_comparisons_have_an_end() -> None:
    long = b"\n".join(b"%d" % number for number in range(MOST_LINES + 1))
    cases = [
        ({"a": b"1\n"}, {"a": b"1\n"}, []),
        ({"a": b"1\n"}, {"a": b"2\n"}, [("changed", False)]),
        ({"a": b"1\n"}, {}, [("removed", False)]),
        ({}, {"a": b"\0"}, [("added", True)]),
        ({"a": b"1"}, {"a": long}, [("changed", True)]),
        ({"a": b""}, {"a": b"x" * (256 * 1024 + 1)}, [("changed", True)]),
    ]
    for before, after, expected in cases:
        assert [(change.kind, change.is_cut) for change in compare(before, after)] == expected
    half = b"\n".join(b"%d" % number for number in range(MOST_LINES - 1))
    many = {f"f{number}": half for number in range(10)}
    assert sum(not change.is_cut for change in compare({}, many)) == MOST_COMPARED // MOST_LINES
