"""The rest of the kernel's surface: none of it may be reached."""

from tests.hostile.attacks.kind import Attack

_REFUSED = """
setns unshare mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree move_mount mount_setattr
keyctl add_key request_key io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd
process_madvise process_mrelease pidfd_open pidfd_getfd pidfd_send_signal memfd_create memfd_secret
name_to_handle_at open_by_handle_at init_module finit_module delete_module kexec_load kexec_file_load reboot
swapon swapoff syslog acct settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname quotactl
personality seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self modify_ldt iopl ioperm
mbind migrate_pages move_pages set_mempolicy get_mempolicy lookup_dcookie vhangup nfsservctl uselib ustat sysfs
shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl semget semop semctl mq_open mq_unlink mq_timedsend mq_notify
splice tee vmsplice copy_file_range sync syncfs sync_file_range fsync fdatasync readahead fadvise64
ptrace kcmp process_vm_readv process_vm_writev rt_sigqueueinfo rt_tgsigqueueinfo tkill
timer_create timer_settime timer_delete inotify_init1 inotify_add_watch fanotify_init fanotify_mark
bind connect listen accept accept4 sendmsg recvmsg sendmmsg recvmmsg setsockopt execveat clone3 openat2
setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset setsid setpgid setpriority
sched_setscheduler sched_setparam sched_setattr sched_setaffinity ioprio_set ioprio_get sysinfo statfs fstatfs
truncate ftruncate fallocate rename renameat2 unlink unlinkat mkdir mkdirat rmdir link linkat symlink symlinkat
mknod mknodat chmod fchmod fchmodat chown fchown lchown fchownat utimensat setxattr removexattr mincore
pkey_alloc preadv2 pwritev2
"""

ATTACKS = [
    Attack(
        name="every forbidden system call",
        source=f"""
for name in {_REFUSED.split()!r}:
    if name in goal["numbers"]:
        attempt(name, lambda: call(name, 0, 0, 0, 0, 0, 0))
""",
    ),
    Attack(
        name="namespaces",
        source="""
for flag in (0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x00020000, 0x80):
    attempt(f"unshare {flag:x}", lambda: call("unshare", flag))
    attempt(f"clone {flag:x}", lambda: call("clone", flag | 0x10000 if flag != 0x80 else 0x10000000, 0, 0, 0, 0))
attempt("setns", lambda: call("setns", 0, 0))
""",
    ),
    Attack(
        name="calls newer than the tables",
        source="""
for number in range(max(goal["numbers"].values()) + 1, max(goal["numbers"].values()) + 200):
    result = libc.syscall(ctypes.c_long(number), 0, 0, 0)
    if result >= 0 or ctypes.get_errno() != errno.ENOSYS:
        got.append(f"{number}: {result} {ctypes.get_errno()}")
""",
    ),
    Attack(
        name="calls of another machine",
        source="""
if goal["machine"] != "x86_64":
    os.kill(os.getpid(), signal.SIGSYS)
libc.syscall(ctypes.c_long(0x40000000 | 39))
""",
        ends=frozenset({"crash"}),
        detail="SIGSYS",
    ),
    Attack(
        name="calls of the 32-bit machine",
        source="""
if goal["machine"] != "x86_64":
    os.kill(os.getpid(), signal.SIGSYS)
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20; int 0x80; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
ctypes.CFUNCTYPE(ctypes.c_int)(address)()
""",
        ends=frozenset({"crash"}),
        detail="SIGS",
    ),
]
