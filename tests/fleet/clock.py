"""A process whose clock is wrong: the C library's clock of the day, off by some seconds, for every part of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

# Only the clock of the day: what measures spans (CLOCK_MONOTONIC) runs on, as on a real machine.
_SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long off(void) {
    const char *seconds = getenv("CLOCK_OFF_SECONDS");
    return seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += off();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec precise;
    int failed = clock_gettime(CLOCK_REALTIME, &precise);
    if (!failed) { now->tv_sec = precise.tv_sec; now->tv_usec = precise.tv_nsec / 1000; }
    return failed;
}

time_t time(time_t *now) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now) *now = precise.tv_sec;
    return precise.tv_sec;
}
"""


def clock_off_by(seconds: int, folder: Path) -> dict[str, str]:
    """The variables that put the clock of a process off. Skips the test where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("to put a process' clock off takes a C compiler")
    library = folder / "clock.so"
    if not library.exists():
        (folder / "clock.c").write_text(_SOURCE)
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(folder / "clock.c"), "-ldl"]
        subprocess.run(command, check=True)
    return {"LD_PRELOAD": str(library), "CLOCK_OFF_SECONDS": str(seconds)}
