"""docker-compose.yml: valid by the Compose Specification, and as tight as docs/operations/install.md promises.

No container engine is needed: test_stack.py starts the same commands by hand.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from jsonschema import Draft202012Validator

from engine.version import VERSION
from tests.support import compose
from tests.support.compose import TOP
from tests.support.processes import wait_for

SCHEMA = Path(__file__).parent / "schemas" / "compose-spec.json"
OURS = ("migrate", "web", "scheduler", "worker")  # services that run our image


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return compose.load()


def test_it_is_valid_by_the_compose_specification(content: dict[str, Any]) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [f"{'/'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(content)] == []


def test_runners_on_other_hosts_are_held_as_tightly_and_reached_by_tls_alone(content: dict[str, Any]) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    runner, here = (
        yaml.safe_load((TOP / "docker" / f"compose.{name}.yml").read_text()) for name in ("runner", "remote")
    )
    for file in (runner, here):
        assert list(validator.iter_errors(file)) == []
    worker, other = content["services"]["worker"], runner["services"]["worker"]
    beside = ("networks", "depends_on", "env_file", "secrets", "volumes")
    assert {key: other.get(key) for key in worker if key not in beside} == {
        key: value for key, value in worker.items() if key not in beside
    }
    assert set(other["secrets"]) == {*worker["secrets"], "tls_ca"}
    assert set(here["services"]) == {"postgres", "redis"}
    assert here["services"]["redis"]["ports"] == ["6380:6380"], "the port with TLS, and no other"
    plain = content["services"]["redis"]["command"]
    assert here["services"]["redis"]["command"][: len(plain)] == plain
    rules = [line.split() for line in (TOP / "docker" / "pg_hba.conf").read_text().splitlines() if line[0] != "#"]
    assert [rule[0] for rule in rules if rule[-2] == "all" and rule[0] != "local"] == ["hostssl"]


def test_the_schema_refuses_what_compose_would_refuse(content: dict[str, Any]) -> None:
    """The check above can fail."""
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    wrong = {**content, "services": {"web": {"image": "x", "memory": "1g"}}}
    assert "'memory' was unexpected" in str(next(validator.iter_errors(wrong)).message)


def test_no_secret_stands_in_it_nor_beside_it(content: dict[str, Any]) -> None:
    for name, service in content["services"].items():
        for key, value in service.get("environment", {}).items():
            if re.search("KEY|PASSWORD|SECRET|DATABASE_URL|BROKER_URL", key):
                assert key.endswith("_FILE"), (name, key)
                assert str(value).startswith(compose.SECRETS), (name, key)
    assert "://" not in compose.FILE.read_text(encoding="utf-8")  # no address that could carry a password
    for name in ("docker/secrets/secret_key", "docker/league.env"):
        ignored = subprocess.run(["git", "check-ignore", "--quiet", "--no-index", name], cwd=TOP)
        assert ignored.returncode in (0, 128), name  # 128: a copy of the project without git


def test_every_secret_that_is_read_is_given_and_every_one_given_is_read(content: dict[str, Any]) -> None:
    for name, service in content["services"].items():
        text = "".join(json.dumps(service.get(key, "")) for key in ("environment", "command", "healthcheck"))
        read = set(re.findall(r"/run/secrets/(\w+)", text))
        assert read == set(service.get("secrets", [])), name
        assert read <= set(content["secrets"]), name


@pytest.mark.parametrize("name", OURS)
def test_our_containers_have_no_privilege(content: dict[str, Any], name: str) -> None:
    service = content["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["read_only"] is True
    assert service["user"] == "1000:1000"
    assert service["pids_limit"] <= 256
    assert service["mem_limit"]
    assert "docker.sock" not in json.dumps(service)


def test_the_worker_knows_no_account_and_reaches_no_outside(content: dict[str, Any]) -> None:
    worker = content["services"]["worker"]
    assert sorted(worker["secrets"]) == ["runner_broker_url", "runner_database_url", "runner_secret_key"]
    assert worker["networks"] == ["inner"]
    assert content["networks"]["inner"]["internal"] is True
    assert "ports" not in worker
    assert worker["environment"]["SANDBOX_MIN_TIER"] == "landlock"


def test_only_the_migration_knows_the_owner_of_the_tables(content: dict[str, Any]) -> None:
    knows = {name for name, service in content["services"].items() if "database_url" in service.get("secrets", [])}
    assert knows == {"migrate"}


def test_only_redis_itself_knows_the_password_of_its_operators(content: dict[str, Any]) -> None:
    knows = {name for name, service in content["services"].items() if "redis_password" in service.get("secrets", [])}
    assert knows == {"redis"}


def test_only_the_web_is_reached_from_outside_and_only_from_its_own_host(content: dict[str, Any]) -> None:
    outside = {name: service["ports"] for name, service in content["services"].items() if "ports" in service}
    assert outside == {"web": ["127.0.0.1:${TUTE_PORT:-8000}:8000"]}


def test_mail_is_sent_by_those_who_know_the_server_and_reach_it(content: dict[str, Any]) -> None:
    services = content["services"]
    senders = {name for name, service in services.items() if "mail_url" in service.get("secrets", [])}
    assert senders == {"web", "scheduler"}
    assert {name for name in services if "outer" in services[name]["networks"]} == senders
    assert not content["networks"]["outer"]


def test_one_service_builds_the_image_of_all(content: dict[str, Any]) -> None:
    """Each further one would export it again, and leave an image without a name."""
    ours = {name: service for name, service in content["services"].items() if service["image"] == "tute-league"}
    assert sorted(ours) == sorted(OURS)
    assert [name for name, service in ours.items() if "build" in service] == ["migrate"]
    assert {service["pull_policy"] for service in ours.values()} == {"never"}, "no registry has it"


def test_the_number_of_workers_outlives_the_next_start(content: dict[str, Any]) -> None:
    assert content["services"]["worker"]["scale"] == "${WORKERS:-1}"
    assert not [name for name in OURS if "scale" in content["services"][name] and name != "worker"]


def test_servers_keep_the_rights_that_they_use_and_write_nowhere_else(content: dict[str, Any]) -> None:
    postgres, redis = content["services"]["postgres"], content["services"]["redis"]
    assert postgres["cap_drop"] == redis["cap_drop"] == ["ALL"]
    assert set(postgres["cap_add"]) == {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}
    assert postgres["read_only"] is redis["read_only"] is True
    # The image of Redis would make a volume there at each start, and leave it behind
    assert [place.partition(":")[0] for place in redis["tmpfs"]] == ["/data"]
    remote = yaml.safe_load((TOP / "docker" / "compose.remote.yml").read_text())["services"]["postgres"]
    written = re.findall(r"install .* (/\S+) &&", " ".join(remote["entrypoint"]))
    assert len(written) == 1
    assert any(written[0].startswith(place.partition(":")[0] + "/") for place in postgres["tmpfs"])


def test_static_files_lie_where_no_volume_hides_them(content: dict[str, Any]) -> None:
    text = (TOP / "docker" / "Dockerfile").read_text(encoding="utf-8")
    places = set(re.findall(r"STATIC_ROOT=(\S+)", text))
    assert len(places) == 1, "collected in one place, and looked for there"
    place = Path(places.pop())
    mounted = [
        mount.split(":")[1] if ":" in mount and not mount.startswith("/") else mount.partition(":")[0]
        for name in OURS
        for mount in (*content["services"][name].get("volumes", []), *content["services"][name]["tmpfs"])
    ]
    assert "/var/lib/tute" in mounted
    assert not [mount for mount in mounted if place.is_relative_to(mount)]


@pytest.mark.slow
def test_collected_files_are_hashed_and_compressed_with_an_empty_state_folder(tmp_path: Path) -> None:
    """The image has its static files outside the state folder, on which a new volume lies."""
    collected, before, after = tmp_path / "static", tmp_path / "before", tmp_path / "after"
    words = [sys.executable, "manage.py"]
    others = ("--ignore=admin", "--ignore=rest_framework")  # Most of the files, which take seconds to compress
    environment = {**os.environ, "DEBUG": "1", "STATIC_ROOT": str(collected)}
    for state in (before, after):
        state.mkdir()
    subprocess.run(
        [*words, "collectstatic", "--noinput", "--verbosity=0", *others],
        env={**environment, "STATE_DIR": str(before)},
        cwd=TOP,
        check=True,
    )
    code = "from django.test import Client; from django.templatetags.static import static\nwhere = static('league/site.css')\n"
    code += "got = Client().get(where, headers={'Accept-Encoding': 'br'}).headers\n"
    code += "print(where, got['Content-Encoding'], got['Cache-Control'])"
    process = subprocess.run(
        [*words, "shell", "--no-imports", "--command", code],
        env={**environment, "STATE_DIR": str(after), "DEBUG": "0", "SECRET_KEY": "test", "ALLOWED_HOSTS": "testserver"},
        cwd=TOP,
        check=True,
        capture_output=True,
        text=True,
    )
    assert re.fullmatch(
        r"/static/league/site\.[0-9a-f]{12}\.css br max-age=315360000, public, immutable\n", process.stdout
    )


def test_every_service_that_stays_has_a_health_check_and_a_limit_and_comes_back(content: dict[str, Any]) -> None:
    for name, service in content["services"].items():
        assert service["mem_limit"], name
        assert service["pids_limit"], name
        if name == "migrate":
            assert service["restart"] == "no"
        else:
            assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL"), name
            assert service["restart"] == "unless-stopped", name


def test_nothing_starts_before_the_tables_are_there(content: dict[str, Any]) -> None:
    for name in ("web", "scheduler", "worker"):
        assert content["services"][name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_prepare_makes_each_secret_once_and_for_these_services_only(content: dict[str, Any], tmp_path: Path) -> None:
    folder, prepare = prepared(tmp_path)
    first = prepare()
    secrets = {path.name: path.read_text() for path in (folder / "secrets").iterdir()}
    assert {f"docker/secrets/{name}" for name in secrets} == {entry["file"] for entry in content["secrets"].values()}
    assert stat.S_IMODE((folder / "secrets").stat().st_mode) == 0o700
    assert secrets["mail_url"] == "", "no mail until an operator names a server"
    assert len({secrets[name] for name in secrets}) == len(secrets)
    assert min(len(secrets[name]) for name in ("secret_key", "runner_secret_key")) == 96
    assert secrets["postgres_password"] in secrets["database_url"]
    assert secrets["web_password"] in secrets["web_database_url"]
    assert secrets["runner_password"] in secrets["runner_database_url"]
    passwords = [urlsplit(secrets[f"{user}_broker_url"]).password or "" for user in ("web", "scheduler", "runner")]
    for password in (*passwords, secrets["redis_password"]):
        assert hashlib.sha256(password.encode()).hexdigest() in secrets["redis_acl"]
    assert first.count("made docker/") == len(secrets) + 1

    settings_before = (tmp_path / ".env").read_text()
    assert prepare() == ""
    assert {path.name: path.read_text() for path in (folder / "secrets").iterdir()} == secrets
    assert (tmp_path / ".env").read_text() == settings_before


def prepared(top: Path) -> tuple[Path, Callable[[], str]]:
    """Copy what docker/prepare reads below `top`; return a function that runs it and returns its output."""
    folder = top / "docker"
    folder.mkdir()
    (top / "engine").mkdir(exist_ok=True)
    for name in ("docker/prepare", "docker/league.env.example", "engine/version.py"):
        shutil.copy(TOP / name, top / name)
    return folder, lambda: subprocess.run([folder / "prepare"], capture_output=True, text=True, check=True).stdout


def settings_of(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines() if line and line[0] != "#")


def test_compose_refuses_with_a_hint_until_all_that_it_reads_is_prepared(
    content: dict[str, Any], tmp_path: Path
) -> None:
    """A release with a secret more has a variable of another name, so an upgrade without docker/prepare is refused as well."""
    name, _, hint = content["x-prepared"].strip("${}").partition(":?")
    assert name == f"PREPARED_{len(content['secrets'])}"
    assert hint.startswith("run docker/prepare")
    _, prepare = prepared(tmp_path)
    (tmp_path / ".env").write_text("WORKERS=7\nPREPARED_3=1\n")
    prepare()
    settings = settings_of(tmp_path / ".env")
    assert (settings[name], settings["WORKERS"]) == ("1", "7")
    assert "PREPARED_3" not in settings
    used = set(re.findall(r"\$\{(\w+)", compose.FILE.read_text(encoding="utf-8")))
    assert used == {name, "WORKERS", "TUTE_PORT", "COMMIT", "VERSION"}


def test_the_mail_server_of_earlier_releases_leaves_the_file_that_workers_read(tmp_path: Path) -> None:
    folder, prepare = prepared(tmp_path)
    (folder / "league.env").write_text("ALLOWED_HOSTS=a\nMAIL_URL=smtp://me:secret@mail.example:587\nLOG_LEVEL=INFO\n")
    assert "moved MAIL_URL" in prepare()
    assert (folder / "secrets" / "mail_url").read_text() == "smtp://me:secret@mail.example:587"
    assert (folder / "league.env").read_text() == "ALLOWED_HOSTS=a\nLOG_LEVEL=INFO\n"


def test_the_image_knows_its_commit_from_git_and_refuses_another(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    shutil.copy(TOP / "engine" / "version.py", tmp_path / "engine")

    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    def built(*words: str) -> tuple[str, str]:
        command = [sys.executable, str(TOP / "docker" / "built_from.py"), str(tmp_path), *words]
        process = subprocess.run(command, capture_output=True, text=True)
        return process.stdout.strip(), process.stderr

    assert built() == ("", "")
    assert built("0123abc") == ("0123abc", "")
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message=first")
    here = git("rev-parse", "HEAD")
    assert built() == built("") == built(here, VERSION) == (here, "")
    git("pack-refs", "--all")
    assert built() == (here, "")
    git("checkout", "--quiet", "--detach")
    assert built() == (here, "")
    for words in (("0123abc",), ("", "99.0")):
        output, why = built(*words)
        assert (output, "run docker/prepare again" in why) == ("", True)
    _, prepare = prepared(tmp_path)
    prepare()
    noted = settings_of(tmp_path / ".env")
    assert (noted["COMMIT"], noted["VERSION"]) == (here, VERSION)
    # Of git's folder the image's context has the names of its commits, and nothing else
    let_in = (TOP / "docker" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert [line for line in let_in if ".git" in line] == ["!.git/HEAD", "!.git/packed-refs", "!.git/refs/heads"]


def test_a_service_that_crashes_is_started_again_in_its_container(content: dict[str, Any], tmp_path: Path) -> None:
    """A container that Docker itself starts again is "starting" for ever; in one that stays the health checks fail."""
    for name in ("web", "scheduler", "worker"):
        assert content["services"][name]["command"][0] == "docker/keep", name
    assert content["services"]["migrate"]["command"][0] != "docker/keep"
    keep = [TOP / "docker" / "keep", "sh", "-c"]
    note = tmp_path / "note"
    crashes = f"echo run >> {note}; [ $(wc -l < {note}) -ge 3 ] || exit 3"
    process = subprocess.run([*keep, crashes], capture_output=True, text=True)
    assert (process.returncode, note.read_text()) == (0, "run\n" * 3)
    assert "ended with code 3, and restarts in 1 s" in process.stderr


def test_a_service_that_is_told_to_end_gives_back_what_it_holds(tmp_path: Path) -> None:
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    waits = f"trap 'sleep .3; touch {ended}; exit 0' TERM; touch {begun}; while :; do sleep .05; done"
    with subprocess.Popen([TOP / "docker" / "keep", "bash", "-c", waits]) as running:
        wait_for(begun.exists, "the start", 60)
        running.terminate()
        assert running.wait(60) == 0
    assert ended.exists()
    with subprocess.Popen([TOP / "docker" / "keep", "false"], stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        running.stderr.readline()  # it has failed, and rests
        running.terminate()
        assert running.wait(60) == 1


def test_the_lines_of_an_upgrade_migrate_before_they_stop_anything() -> None:
    text = (TOP / "docs" / "operations" / "backup.md").read_text(encoding="utf-8")
    lines = re.findall(
        r"^    (\S.*?)(?: +#.*)?$", text.partition("\n## Upgrade\n")[2].partition("\n## ")[0], flags=re.MULTILINE
    )
    expected = (
        "git pull",
        "docker/prepare",
        "docker compose build",
        "docker compose run --rm migrate",
        "docker compose up --detach --wait",
    )
    assert tuple(lines[: len(expected)]) == expected


def test_the_seccomp_profile_names_each_call_once_and_lets_bubblewrap_work() -> None:
    profile = json.loads((TOP / "docker" / "seccomp-runner.json").read_text(encoding="utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    whole = [name for rule in profile["syscalls"] if "args" not in rule for name in rule["names"]]
    assert len(whole) == len(set(whole))
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ERRNO"
        assert rule["comment"]
    # bubblewrap needs these to build the namespaces tier
    assert not {"clone", "clone3", "unshare", "mount", "umount2", "pivot_root", "sethostname"} & set(whole)
    assert {"bpf", "keyctl", "io_uring_setup", "ptrace", "setns", "userfaultfd", "perf_event_open"} <= set(whole)


def test_the_image_holds_the_locked_packages_and_nothing_it_does_not_need() -> None:
    text = (TOP / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements.lock" in text
    assert "--require-hashes -r requirements-fast.lock" in text
    assert text.index("python -m engine.compiling --strict") < text.index("COPY --from=build /app /app")
    assert set(re.findall(r"^LABEL|(org\.opencontainers\.\S+)=", text, flags=re.MULTILINE)) >= {
        "org.opencontainers.image.revision",
        "org.opencontainers.image.version",
    }
    assert text.rstrip().splitlines()[-3:][0] == "USER 1000:1000"
    allowed = (TOP / "docker" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert allowed[0] == "*"  # a list of what goes in, so that no secret or database slips into the image
    assert [line for line in allowed if "secret" in line or "var" in line] == []
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, flags=re.MULTILINE)
    # Read while the league runs: bots for their sandbox, documents for their pages.
    assert {"engine", "bots", "league", "docs"} <= set(" ".join(copied).split())
    for source in " ".join(copied).split():
        assert {f"!{source}", f"!{source.partition('/')[0]}"} & set(allowed), (
            f"{source} is copied into the image but excluded from its context"
        )
        assert list(TOP.glob(source)), f"{source} is copied into the image but does not exist"
