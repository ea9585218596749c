"""docker/kubernetes: valid by the schema of Kubernetes, and as tight as docker-compose.yml."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.support import compose
from tests.support.compose import TOP

FOLDER = TOP / "docker" / "kubernetes"
SCHEMA = json.loads((Path(__file__).parent / "schemas" / "kubernetes.json").read_text(encoding="utf-8"))
KINDS = {kind["$ref"].rpartition(".")[2]: kind["$ref"] for kind in SCHEMA["oneOf"]}


def faults(thing: dict[str, Any]) -> list[str]:
    validator = Draft202012Validator({"$ref": KINDS[thing["kind"]], "$defs": SCHEMA["$defs"]})
    return [f"{'/'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(thing)]


@pytest.fixture(scope="module")
def things() -> dict[tuple[str, str], dict[str, Any]]:
    """Everything that the kustomization names, by kind and name."""
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    assert sorted(listed) == sorted(path.name for path in FOLDER.glob("*.yaml") if path.name != "kustomization.yaml")
    documents = [thing for name in listed for thing in yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8"))]
    return {(thing["kind"], thing["metadata"]["name"]): thing for thing in documents}


def pods(things: dict[tuple[str, str], dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        name: thing["spec"]["template"]["spec"]
        for (kind, name), thing in things.items()
        if kind in ("Deployment", "Job")
    }


def test_all_of_it_is_valid_by_the_schema(things) -> None:
    assert {key: faults(thing) for key, thing in things.items() if faults(thing)} == {}


def test_the_schema_refuses_what_kubernetes_would_refuse(things) -> None:
    """The check above can fail."""
    wrong = json.loads(json.dumps(things["Deployment", "web"]))
    wrong["spec"]["template"]["spec"]["containers"][0]["memory"] = "1Gi"
    assert "'memory' was unexpected" in faults(wrong)[0]


def test_no_process_can_write_to_its_image_or_gain_a_right(things) -> None:
    for name, pod in pods(things).items():
        assert len(pod["containers"]) == 1, name
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert "limits" in container["resources"], name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["automountServiceAccountToken"] is False, name


def test_only_a_runner_keeps_a_state_so_nothing_hides_the_static_files(things) -> None:
    """The image has them under STATIC_ROOT; a volume over it would have them served without hashed names, uncompressed."""
    static = Path(re.findall(r"STATIC_ROOT=(\S+)", (TOP / "docker" / "Dockerfile").read_text(encoding="utf-8"))[0])
    for name, pod in pods(things).items():
        mounts = [mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]]
        assert ("/var/lib/tute" in mounts) == (name == "runner"), name
        assert not [mount for mount in mounts if static.is_relative_to(mount)], name


def test_nothing_of_a_release_starts_before_its_tables_are_there(things) -> None:
    for name in ("web", "scheduler", "runner"):
        (first,) = pods(things)[name]["initContainers"]
        assert "until python manage.py migrate --check" in first["command"][-1], name
        assert {entry["name"] for entry in first["env"]} <= {
            entry["name"] for entry in pods(things)[name]["containers"][0]["env"]
        }
    assert things["Job", "migrate"]["spec"]["ttlSecondsAfterFinished"] > 0, (
        "one that stays keeps the next from being applied"
    )


def test_a_web_that_is_taken_away_finishes_what_it_has_begun(things) -> None:
    pod = pods(things)["web"]
    (container,) = pod["containers"]
    _, seconds = container["lifecycle"]["preStop"]["exec"]["command"]
    graceful = 30  # gunicorn's own; nothing sets another
    assert not [word for word in container["command"] if "graceful" in word]
    assert pod["terminationGracePeriodSeconds"] > int(seconds) + graceful


def test_a_runners_pod_collects_processes_whose_parent_has_died(things) -> None:
    assert pods(things)["runner"]["shareProcessNamespace"] is True
    assert compose.load()["services"]["worker"]["init"] is True


def test_the_image_is_one_that_the_operator_names(things) -> None:
    """`latest` of a public registry would be somebody else's, and be fetched at each start."""
    (image,) = yaml.safe_load((FOLDER / "kustomization.yaml").read_text(encoding="utf-8"))["images"]
    assert image == {"name": "tute-league", "newName": "registry.example/tute-league", "newTag": "set-me"}
    for name, pod in pods(things).items():
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            assert (container["image"], container["imagePullPolicy"]) == ("tute-league", "IfNotPresent"), name


def test_the_lines_of_the_document_make_what_the_pods_read(things) -> None:
    text = (TOP / "docs" / "scaling.md").read_text(encoding="utf-8").partition("## Kubernetes")[2].replace("\\\n", " ")
    secrets = {
        name: dict(re.findall(r"--from-file=(\w+)=docker/secrets/(\w+)", rest))
        for name, rest in re.findall(r"create secret generic (tute-\w+) (.*)", text)
    }
    for name, pod in pods(things).items():
        (secret,) = [volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume]
        read = {
            entry["value"].rpartition("/")[2]
            for entry in pod["containers"][0]["env"]
            if entry["name"].endswith("_FILE")
        }
        assert set(secrets[secret]) == read, name
    assert set().union(*(files.values() for files in secrets.values())) <= set(compose.load()["secrets"])
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    for first, then in (
        ("docker tag", "kubectl apply"),
        ("kubectl -n tute-league delete job migrate", "kubectl -n tute-league wait"),
    ):
        places = [next(at for at, line in enumerate(lines) if line.startswith(word)) for word in (first, then)]
        assert places == sorted(places)


def test_each_starts_what_compose_starts_and_reads_its_own_secrets(things) -> None:
    own = {"web": "web", "scheduler": "scheduler", "runner": "worker", "migrate": "migrate"}
    for name, pod in pods(things).items():
        (container,) = pod["containers"]
        service = compose.service(own[name])
        assert container["command"] == service.command, name
        read = {entry["name"] for entry in container["env"] if entry["name"].endswith("_FILE")}
        assert read == {key for key in service.environment if key.endswith("_FILE")}, name
        (secret,) = [volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume]
        assert secret == f"tute-{'owner' if name == 'migrate' else name}"


def test_whoever_is_taken_away_leaves_others_at_work(things) -> None:
    for name in ("web", "scheduler", "runner"):
        assert things["PodDisruptionBudget", name]["spec"]["selector"] == things["Deployment", name]["spec"]["selector"]
    for name in ("web", "runner"):
        scaled = things["HorizontalPodAutoscaler", name]["spec"]
        assert scaled["scaleTargetRef"]["name"] == name
        assert scaled["minReplicas"] == 2
        assert "replicas" not in things["Deployment", name]["spec"], "an upgrade would undo what was scaled"


def test_runners_follow_the_number_of_matches_that_wait_for_their_turn(things) -> None:
    from league.domain.upkeep import metrics

    (metric,) = things["HorizontalPodAutoscaler", "runner"]["spec"]["metrics"]
    selector = metric["external"]["metric"]
    assert selector == {"name": "tute_queue_waiting", "selector": {"matchLabels": {"reason": "turn"}}}
    assert selector["name"] in Path(metrics.__file__).read_text(encoding="utf-8")


def test_nobody_is_reached_but_the_web_and_nothing_but_the_servers_is_reached(things) -> None:
    nobody = things["NetworkPolicy", "nobody"]["spec"]
    assert (nobody["podSelector"], sorted(nobody["policyTypes"])) == ({}, ["Egress", "Ingress"])
    assert "ingress" not in nobody
    assert "egress" not in nobody
    let_in = [
        thing["spec"] for (kind, _), thing in things.items() if kind == "NetworkPolicy" and "ingress" in thing["spec"]
    ]
    assert [spec["podSelector"] for spec in let_in] == [{"matchLabels": {"app": "web"}}]
    assert things["NetworkPolicy", "mail"]["spec"]["podSelector"]["matchExpressions"][0]["values"] == [
        "web",
        "scheduler",
    ]
    ports = {port["port"] for way in things["NetworkPolicy", "servers"]["spec"]["egress"] for port in way["ports"]}
    assert ports == {53, 5432, 6432, 6379, 6380}


def test_only_a_process_that_stands_still_is_started_again(things) -> None:
    """A process whose database is away, or that refuses to play, goes on: only the check with `ready` fails for these."""
    for name, service in (("scheduler", "scheduler"), ("runner", "worker")):
        (container,) = things["Deployment", name]["spec"]["template"]["spec"]["containers"]
        for probe in ("startupProbe", "livenessProbe"):
            assert container[probe]["exec"]["command"] == ["python", "docker/healthcheck.py", service], (name, probe)
