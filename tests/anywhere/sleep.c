/* faketime 0.9.10 refuses to sleep until a moment of a clock that it leaves alone (EINVAL): such sleeps go to the kernel.
   Loaded before faketime's library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int sleeper(clockid_t, int, const struct timespec *, struct timespec *);

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left) {
    if (clock != CLOCK_MONOTONIC)
        return ((sleeper *)dlsym(RTLD_NEXT, "clock_nanosleep"))(clock, flags, until, left);
    return syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0;
}
