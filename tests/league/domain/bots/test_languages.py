"""Languages of the editor: a text becomes a package that the league accepts, and comes back from it."""

from __future__ import annotations

import pytest
from django.test import Client

from engine.packages import archive
from engine.packages.manifest import PackageRefused
from league.domain.bots import bots, languages
from league.domain.bots.languages import JAVASCRIPT, PYTHON
from league.domain.core.errors import Refused
from league.domain.matches import workers
from league.models import BotVersion, Worker
from tests.support.league import NOW, later

CODE = b'import { run } from "./tute.mjs";\nrun("x", (view) => view.legal[0]);\n'


def test_a_text_in_javascript_stands_beside_the_kit() -> None:
    content = languages.package(CODE, JAVASCRIPT, ["brisca"])

    assert set(content.files) == {"bot.toml", "bot.mjs", "tute.mjs"}
    again = archive.read(content.zip(), "bot.zip")
    assert (again.manifest.runtime, again.manifest.entry, again.manifest.games) == ("node", "bot.mjs", ("brisca",))
    assert again.sha256 == content.sha256
    with pytest.raises(PackageRefused, match="unknown game"):
        languages.package(CODE, JAVASCRIPT, ["chess"])


def test_a_text_in_python_is_the_package_of_its_file() -> None:
    assert languages.package(b"x = 1\n", PYTHON).sha256 == archive.read(b"x = 1\n", "bot.py").sha256


def test_the_editor_opens_what_it_has_made_and_single_files(ana) -> None:
    files = (
        (languages.package(CODE, JAVASCRIPT).zip(), "bot.zip", JAVASCRIPT),
        (b"x = 2\n", "other.py", PYTHON),
        (CODE + b"// alone", "alone.mjs", JAVASCRIPT),
        (b"require('fs')", "old.js", None),  # Not a module, so it would not run beside the kit
    )
    for number, (data, name, language) in enumerate(files):
        bots.upload(ana, f"bot-{number}", data, name, now=NOW)
        version = BotVersion.objects.select_related("package").get(bot__slug=f"bot-{number}")
        assert languages.language_of(version) is language, name
        text = languages.text_of(version)
        assert (text is None) == (language is None)
        if text is not None and name != "bot.zip":
            assert text.encode() == data
    first = BotVersion.objects.select_related("package").get(bot__slug="bot-0")
    assert languages.text_of(first) == CODE.decode()
    assert languages.replaced(first) == []
    changed = languages.package(CODE, JAVASCRIPT)
    own = archive.BotPackage(changed.manifest, {**changed.files, "tute.mjs": b"// mine"})
    bots.upload(ana, "bot-8", own.zip(), "bot.zip", now=NOW)
    version = BotVersion.objects.select_related("package").get(bot__slug="bot-8")
    assert (languages.text_of(version), languages.replaced(version)) == (CODE.decode(), ["tute.mjs"])
    client = Client(headers={"accept-language": "en"})
    client.force_login(ana.user)
    assert "has its own tute.mjs" in client.get("/editor/?bot=bot-8").content.decode()
    assert "has its own tute.mjs" not in client.get("/editor/?bot=bot-0").content.decode()
    other = {**languages.package(CODE, JAVASCRIPT).files, "extra.mjs": b"// mine"}
    del other["tute.mjs"]
    what = languages.package(CODE, JAVASCRIPT).manifest
    bots.upload(ana, "bot-9", archive.BotPackage(what, dict(sorted(other.items()))).zip(), "bot.zip", now=NOW)
    assert languages.text_of(BotVersion.objects.select_related("package").get(bot__slug="bot-9")) is None


def test_a_language_needs_a_worker_with_its_runtime(db) -> None:
    assert languages.playable(now=NOW) == [PYTHON, JAVASCRIPT]  # Nobody knows yet
    workers.register("w:1", tier="landlock", now=NOW)
    Worker.objects.update(runtimes=["python", "binary"])
    assert languages.playable(now=NOW) == [PYTHON]
    workers.register("w:2", tier="landlock", now=NOW)
    Worker.objects.filter(name="w:2").update(runtimes=["python", "binary", "node"])
    assert languages.playable(now=NOW) == [PYTHON, JAVASCRIPT]
    assert languages.playable(now=later(600)) == [PYTHON, JAVASCRIPT]  # Both are gone
    with pytest.raises(Refused, match="no language 'basic'"):
        languages.find("basic")
