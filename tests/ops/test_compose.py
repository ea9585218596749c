"""docker-compose.yml: valid by the Compose Specification, and as tight as docs/operations.md promises.

No container engine is needed: test_stack.py starts the same commands by hand.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.support import compose
from tests.support.compose import TOP

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
    there, here = (
        yaml.safe_load((TOP / "docker" / f"compose.{name}.yml").read_text()) for name in ("runner", "remote")
    )
    for one in (there, here):
        assert list(validator.iter_errors(one)) == []
    worker, other = content["services"]["worker"], there["services"]["worker"]
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
    assert outside == {"web": ["127.0.0.1:8000:8000"]}


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
    for name in ("prepare", "league.env.example"):
        (tmp_path / name).write_bytes((TOP / "docker" / name).read_bytes())
    (tmp_path / "prepare").chmod(0o755)
    first = subprocess.run([str(tmp_path / "prepare")], capture_output=True, text=True, check=True)
    made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert {f"docker/secrets/{name}" for name in made} == {entry["file"] for entry in content["secrets"].values()}
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert len({made[name] for name in made}) == len(made)
    assert min(len(made[name]) for name in ("secret_key", "runner_secret_key")) == 96
    assert made["postgres_password"] in made["database_url"]
    assert made["web_password"] in made["web_database_url"]
    assert made["runner_password"] in made["runner_database_url"]
    passwords = [urlsplit(made[f"{user}_broker_url"]).password or "" for user in ("web", "scheduler", "runner")]
    for password in (*passwords, made["redis_password"]):
        assert hashlib.sha256(password.encode()).hexdigest() in made["redis_acl"]
    assert first.stdout.count("made docker/") == len(made) + 1

    again = subprocess.run([str(tmp_path / "prepare")], capture_output=True, text=True, check=True)
    assert again.stdout == ""
    assert {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()} == made


def test_the_seccomp_profile_names_each_call_once_and_lets_bubblewrap_work() -> None:
    profile = json.loads((TOP / "docker" / "seccomp-runner.json").read_text(encoding="utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    whole = [name for rule in profile["syscalls"] if "args" not in rule for name in rule["names"]]
    assert len(whole) == len(set(whole))
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ERRNO"
        assert rule["comment"]
    # what bubblewrap needs to build the namespaces tier
    assert not {"clone", "clone3", "unshare", "mount", "umount2", "pivot_root", "sethostname"} & set(whole)
    assert {"bpf", "keyctl", "io_uring_setup", "ptrace", "setns", "userfaultfd", "perf_event_open"} <= set(whole)


def test_the_image_holds_the_locked_packages_and_nothing_it_does_not_need() -> None:
    text = (TOP / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements.lock" in text
    assert "--require-hashes -r requirements-fast.lock" in text
    assert text.index("python -m engine.compiling --strict") < text.index("COPY --from=build /app /app")
    assert text.rstrip().splitlines()[-3:][0] == "USER 1000:1000"
    allowed = (TOP / "docker" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert allowed[0] == "*"  # a list of what goes in, so that no secret or database slips into the image
    assert [line for line in allowed if "secret" in line or "var" in line] == []
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, flags=re.MULTILINE)
    # Read while the league runs: bots for their sandbox, documents for their pages.
    assert {"engine", "bots", "league", "docs"} <= set(" ".join(copied).split())
    for source in " ".join(copied).split():
        assert f"!{source}" in allowed, f"{source} is copied into the image but excluded from its context"
        assert list(TOP.glob(source)), f"{source} is copied into the image but does not exist"
