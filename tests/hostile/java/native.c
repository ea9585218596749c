/* Loaded into a JVM by a hostile bot: machine code, which no rule of Java holds. It ends the process with status 9 if a call succeeds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void attempt(const char *what, long result) {
    if (result >= 0) {
        dprintf(2, "reached: %s\n", what);
        _exit(9);
    }
}

int JNI_OnLoad(void *machine, void *reserved) {
    (void)machine, (void)reserved;
    attempt("fork", syscall(SYS_fork));
    attempt("vfork", syscall(SYS_vfork));
    attempt("clone", syscall(SYS_clone, 17, 0, 0, 0, 0));
    attempt("socket", socket(AF_INET, SOCK_STREAM, 0));
    attempt("local socket", socket(AF_UNIX, SOCK_STREAM, 0));
    attempt("write", open("/tmp/new", O_WRONLY | O_CREAT, 0600));
    attempt("passwd", open("/etc/passwd", O_RDONLY));
    attempt("trace", ptrace(PTRACE_ATTACH, 1, 0, 0));
    attempt("namespace", unshare(CLONE_NEWUSER));
    attempt("keys", syscall(SYS_add_key, "user", "a", "b", 1, -2));
    attempt("bpf", syscall(SYS_bpf, 0, 0, 0));
    attempt("rights", syscall(SYS_setuid, 0));
    attempt("shared memory", (long)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    attempt("shell", execl("/bin/sh", "sh", (char *)0));
    return 0x00010008;
}
