/* A bot that answers the first legal action, and at one moment does one act: both are in the file `act` beside it.
 * Built: cc -O1 -static -pthread. `act` holds: MOMENT ACT [NUMBER]. Moments: start, decision (the second one), frozen, end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char moment[32], act[32], line[1 << 20], flood[1 << 16];
static long number;
static char stack[1 << 16] __attribute__((aligned(16)));

static void snooze(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, 0);
}
static void *spin(void *_) { for (;;) ; return 0; }
static void *wake(void *_) { for (;;) kill(getpid(), SIGCONT); return 0; }
static void *end_all(void *_) { _exit((int)number); return 0; }
static void *go_on(void *_) { for (;;) pause(); return 0; }
static int wait_on(void *_) { for (;;) pause(); return 0; }
static volatile int deep(volatile char *before) {
    volatile char room[1 << 14];
    room[0] = *before;
    return room[0] + deep(room);
}
static void threads(int n, void *(*run)(void *)) {
    pthread_t t;
    while (n--) pthread_create(&t, 0, run, 0);
}

static void do_it(void) {
    struct rlimit low = {1, 1};
    if (!strcmp(act, "exit")) _exit((int)number);
    if (!strcmp(act, "signal")) { kill(getpid(), (int)number); syscall(SYS_tgkill, getpid(), getpid(), (int)number); }
    if (!strcmp(act, "signal by default")) { signal((int)number, SIG_DFL); raise((int)number); }
    if (!strcmp(act, "abort")) abort();
    if (!strcmp(act, "null")) *(volatile int *)8 = 1;
    if (!strcmp(act, "trap")) __builtin_trap();
    if (!strcmp(act, "stack")) deep(line);
    if (!strcmp(act, "forbidden")) syscall(0x40000000 + 39);
    if (!strcmp(act, "limit")) setrlimit((int)number, &low), prlimit(0, (int)number, &low, 0);
    if (!strcmp(act, "limit and spin")) { setrlimit(RLIMIT_CPU, &low); prlimit(0, RLIMIT_CPU, &low, 0); spin(0); }
    if (!strcmp(act, "spin")) spin(0);
    if (!strcmp(act, "threads that spin")) threads(4, spin);
    if (!strcmp(act, "threads that wake")) threads(3, wake);
    if (!strcmp(act, "thread that ends all")) { threads(1, end_all); pause(); }
    if (!strcmp(act, "first thread ends")) { threads(2, go_on); syscall(SYS_exit, (int)number); }
    if (!strcmp(act, "vfork")) { if (!vfork()) _exit((int)number); }
    if (!strcmp(act, "vfork of a thread"))
        clone(wait_on, stack + sizeof stack, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_VFORK, 0);
    if (!strcmp(act, "fork")) { if (!fork()) pause(); }
    if (!strcmp(act, "close")) close((int)number);
    if (!strcmp(act, "close all")) for (int fd = 0; fd < 64; fd++) close(fd);
    if (!strcmp(act, "flood")) {
        int ends = fcntl((int)number, F_GETFL);
        fcntl((int)number, F_SETFL, ends | O_NONBLOCK);
        memset(flood, 'x', sizeof flood);
        for (int i = 0; i < 64; i++) { if (write((int)number, flood, sizeof flood) < 0) snooze(1); }
        fcntl((int)number, F_SETFL, ends);
    }
    if (!strcmp(act, "lines")) for (int i = 0; i < 100; i++) (void)!write(1, "{}\n", 3);
    if (!strcmp(act, "half a line")) { (void)!write(1, "{\"id\":", 6); _exit((int)number); }
    if (!strcmp(act, "words")) { (void)!write(2, "bwrap: execvp bot: Exec format error\n", 37); _exit((int)number); }
    if (!strcmp(act, "name")) prctl(PR_SET_NAME, number ? ") Z 0 (" : "bwrap");
    if (!strcmp(act, "sleep")) for (;;) snooze(1000);
    if (!strcmp(act, "nap")) snooze(number);
    if (!strcmp(act, "read ahead")) (void)!read(0, line, sizeof line);
    if (!strcmp(act, "become another")) { execl("/proc/self/exe", "bot", (char *)0); execl("act", "act", (char *)0); }
    if (!strcmp(act, "memory")) for (;;) {
        char *held = mmap(0, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (held == MAP_FAILED) _exit((int)number);
        memset(held, 1, 1 << 22);
    }
}
static void *soon(void *_) { snooze(1); do_it(); return 0; }

int main(void) {
    FILE *told = fopen("act", "r");
    if (told) {
        if (fgets(line, sizeof line, told)) sscanf(line, "%31[^|]|%31[^|]|%ld", moment, act, &number);
        fclose(told);
    }
    int asked = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"hello\"") || strstr(line, "\"type\": \"hello\"")) {
            if (!strcmp(moment, "start")) do_it();
            printf("{\"type\":\"ready\"}\n");
        } else if (strstr(line, "\"type\":\"act\"") || strstr(line, "\"type\": \"act\"")) {
            char *id = strstr(line, "\"id\":"), *legal = strstr(line, "\"legal\":");
            if (!id || !legal) return 2;
            char *first = strchr(legal + 8, '"'), *last = strchr(first + 1, '"');
            asked++;
            int n = atoi(id + 5), length = (int)(last - first + 1);
            char choice[200];
            snprintf(choice, sizeof choice, "%.*s", length, first);
            if (asked == 2 && !strcmp(moment, "decision")) do_it();
            if (asked == 2 && !strcmp(moment, "frozen")) threads(1, soon);
            printf("{\"id\":%d,\"do\":%s}\n", n, choice);
        } else {
            if (!strcmp(moment, "end")) do_it();
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}
