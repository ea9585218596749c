"""Run a command of this checkout under the restrictions of a container: runc, with the default configuration of Docker's engine.

The files are those of this machine, bound read-only; /tmp and /state are the container's own. The profile "default" is written
here from Docker's public rules (https://docs.docker.com/engine/security/seccomp/); "runner" is docker/seccomp-runner.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.sandbox.kernel.syscalls import this_architecture
from tests.support import debian
from tests.support.processes import DidNotStart

HOW_TO_GET_ONE = "The tests of containers need runc and a user who may run it. Debian: sudo apt-get install runc."
REPOSITORY = Path(__file__).resolve().parents[2]
_CAPABILITIES = "CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE"
# Calls that Docker does not allow, or only with a capability that a container lacks by default.
_DENIED = """
acct add_key bpf clock_adjtime clock_settime create_module delete_module fanotify_init finit_module fsconfig fsmount fsopen
fspick get_kernel_syms get_mempolicy init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp
kexec_file_load kexec_load keyctl lookup_dcookie mbind mount mount_setattr move_mount move_pages nfsservctl
open_by_handle_at open_tree perf_event_open pivot_root query_module quotactl quotactl_fd reboot request_key set_mempolicy
setdomainname sethostname setns settimeofday stime swapoff swapon sysfs syslog umount umount2 unshare uselib userfaultfd
ustat vhangup vm86 vm86old _sysctl
"""
_NAMESPACE_FLAGS = 0x7E020000
_MASKED = "/proc/acpi /proc/asound /proc/kcore /proc/keys /proc/latency_stats /proc/timer_list /proc/sched_debug /sys/firmware"
_READ_ONLY = "/proc/bus /proc/fs /proc/irq /proc/sys /proc/sysrq-trigger"
_BOUND = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")


def find() -> str:
    """Return the path of runc, installed if needed. Raise DidNotStart, which says what to do."""
    if os.geteuid() != 0:
        raise DidNotStart(HOW_TO_GET_ONE)
    return debian.find("runc", debian.on_path("runc"), HOW_TO_GET_ONE)


def default_profile() -> dict[str, Any]:
    """Return Docker's default profile: an allow-list; no namespaces by clone, no clone3, four personalities, no virtual-machine sockets."""
    allow = "SCMP_ACT_ALLOW"
    special = ("clone", "clone3", "personality", "socket")
    names = sorted(set(this_architecture().numbers) - set(_DENIED.split()) - set(special))
    no_namespaces = [{"index": 0, "value": _NAMESPACE_FLAGS, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]
    personalities = [
        {"names": ["personality"], "action": allow, "args": [{"index": 0, "value": value, "op": "SCMP_CMP_EQ"}]}
        for value in (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)
    ]
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": 1,
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32", "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"],
        "syscalls": [
            {"names": names, "action": allow},
            {"names": ["clone"], "action": allow, "args": no_namespaces},
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
            *personalities,
            {"names": ["socket"], "action": allow, "args": [{"index": 0, "value": 40, "op": "SCMP_CMP_NE"}]},
        ],
    }


def runner_profile() -> dict[str, Any]:
    """Return the profile that this project ships, without its comments, which only Docker reads."""
    profile: dict[str, Any] = json.loads((REPOSITORY / "docker/seccomp-runner.json").read_text())
    for rule in profile["syscalls"]:
        rule.pop("comment", None)
    return profile


def run(
    script: str, *, user: int, profile: str, hardened: bool, environment: Sequence[str] = (), timeout_s: float = 240
) -> str:
    """Run a shell script in a container; return what it printed. Raise DidNotStart if it fails.

    hardened: True follows docs/sandbox.md (no capability at all, no-new-privileges), False follows Docker's defaults.
    """
    with tempfile.TemporaryDirectory(prefix="tute-container-") as name:
        bundle = Path(name)
        (bundle / "rootfs").mkdir()
        capabilities = [] if hardened else [f"CAP_{word}" for word in _CAPABILITIES.split()]
        config = _config(script, user, capabilities, environment)
        config["process"]["noNewPrivileges"] = hardened
        config["linux"]["seccomp"] = {"default": default_profile, "runner": runner_profile}[profile]()
        (bundle / "config.json").write_text(json.dumps(config))
        key = bundle.name
        runc = [find(), "--root", str(bundle / "state")]
        try:
            process = subprocess.run(
                [*runc, "run", "--bundle", str(bundle), key],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        finally:
            subprocess.run([*runc, "delete", "--force", key], capture_output=True, check=False)
    if process.returncode:
        raise DidNotStart(
            f"the container ended with {process.returncode}:\n{process.stdout[-2000:]}\n{process.stderr[-2000:]}"
        )
    return process.stdout


def _config(script: str, user: int, capabilities: list[str], environment: Sequence[str]) -> dict[str, Any]:
    """Return the configuration that Docker would hand to runc for one container."""
    sets = ("bounding", "effective", "permitted") if user == 0 else ("bounding",)
    folders = [str(REPOSITORY), sys.prefix, sys.base_prefix]
    bound = [place for place in [*_BOUND, *dict.fromkeys(folders)] if Path(place).exists()]
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": user, "gid": user},
            "args": ["/bin/sh", "-e", "-c", script],
            "env": ["PATH=/usr/bin:/bin:/usr/sbin", "HOME=/tmp", "LANG=C.UTF-8", *environment],
            "cwd": str(REPOSITORY),
            "capabilities": dict.fromkeys(sets, capabilities),
        },
        "root": {"path": "rootfs"},
        "hostname": "runner",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {
                "destination": "/dev",
                "type": "tmpfs",
                "source": "tmpfs",
                "options": ["nosuid", "mode=755", "size=65536k"],
            },
            {
                "destination": "/dev/shm",
                "type": "tmpfs",
                "source": "shm",
                "options": ["nosuid", "noexec", "nodev", "mode=1777"],
            },
            {
                "destination": "/dev/mqueue",
                "type": "mqueue",
                "source": "mqueue",
                "options": ["nosuid", "noexec", "nodev"],
            },
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
            {
                "destination": "/sys/fs/cgroup",
                "type": "cgroup",
                "source": "cgroup",
                "options": ["nosuid", "noexec", "nodev", "ro"],
            },
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]},
            {
                "destination": "/state",
                "type": "tmpfs",
                "source": "tmpfs",
                "options": ["mode=755", f"uid={user}", f"gid={user}"],
            },
            *[{"destination": place, "type": "bind", "source": place, "options": ["rbind", "ro"]} for place in bound],
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount", "cgroup")],
            "maskedPaths": _MASKED.split(),
            "readonlyPaths": _READ_ONLY.split(),
            "resources": {"devices": [{"allow": False, "access": "rwm"}]},
        },
    }
