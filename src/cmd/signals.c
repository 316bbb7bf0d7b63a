/*
 * Signal handlers. The first interrupt asks the session to stop; the command then prints the results that exist. A crash is
 * a defect of dflc, and the handler prints a message that says so. This file has the only mutable static variables of the
 * program, because a signal handler gets no context argument.
 */
#include "cmd/cmd.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* A second signal that comes so soon after the first one, ms, is the same interrupt: `timeout` signals its child and then the
   group of the child. A search that is interrupted ends within this time. */
enum { SAME_INTERRUPT = 200 };

static atomic_bool cancelled;
static _Atomic int64_t cancelled_at; /* time of the first interrupt, ms of the monotonic clock */

#ifndef SANITIZED
enum { CRASH_STACK = 64 * 1024 };
static char crash_stack[CRASH_STACK];
#endif

atomic_bool *dfl_cmd_cancel(void)
{
    return &cancelled;
}

/* Time of the monotonic clock, ms. Calls only an async-signal-safe function. */
static int64_t read_clock(void)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The first interrupt cancels the session, a later one ends the program. */
static void handle_interrupt(int number)
{
    int64_t unset = 0;
    const int64_t now = read_clock();

    atomic_compare_exchange_strong(&cancelled_at, &unset, now);
    if (atomic_exchange(&cancelled, true) && unset != 0 && now - unset > SAME_INTERRUPT) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

#ifndef SANITIZED
/* Calls only async-signal-safe functions: one write and one exit. */
static void handle_crash(int number)
{
    static const char text[] = "dflc " DFL_VERSION ": internal error: the program crashed. This is a defect of dflc: please "
                               "report it with the input.\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

    (void)number;
    (void)n;
    _exit(DFL_EXIT_INTERNAL);
}
#endif

static void set_handler(int number, void (*handler)(int), int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void dfl_cmd_catch_signals(void)
{
    set_handler(SIGINT, handle_interrupt, 0);
    set_handler(SIGTERM, handle_interrupt, 0);
    set_handler(SIGPIPE, SIG_IGN, 0); /* a write to a closed pipe fails with EPIPE instead of ending the process */
    set_handler(SIGXFSZ, SIG_IGN, 0);
#ifndef SANITIZED
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    stack_t stack = { .ss_sp = crash_stack, .ss_size = CRASH_STACK };

    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        set_handler(crashes[i], handle_crash, (int)(SA_ONSTACK | SA_RESETHAND));
#endif
}
