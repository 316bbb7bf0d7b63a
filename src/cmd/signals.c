/*
 * Signals: the first interrupt asks the session to stop, which then prints what it has; a crash is a defect of dflc
 * and says so. The two flags here are the only variables of the program that outlive a call: a handler has no other
 * way to be heard.
 */
#include "cmd/cmd.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static atomic_bool cancelled;

#ifndef SANITIZED
enum { CRASH_STACK = 64 * 1024 };
static char crash_stack[CRASH_STACK];
#endif

atomic_bool *dfl_cmd_cancel(void)
{
    return &cancelled;
}

static void interrupted(int number)
{
    if (atomic_exchange(&cancelled, true)) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

#ifndef SANITIZED
/* Only what a handler may call: one write, one exit. */
static void crashed(int number)
{
    static const char text[] = "dflc " DFL_VERSION ": internal error: the program crashed. This is a defect of dflc: please "
                               "report it with the input.\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

    (void)number;
    (void)n;
    _exit(DFL_EXIT_INTERNAL);
}
#endif

static void on(int number, void (*handler)(int), int flags)
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
    on(SIGINT, interrupted, 0);
    on(SIGTERM, interrupted, 0);
    on(SIGPIPE, SIG_IGN, 0); /* writing then fails, and says so */
    on(SIGXFSZ, SIG_IGN, 0);
#ifndef SANITIZED
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    stack_t stack = { .ss_sp = crash_stack, .ss_size = CRASH_STACK };

    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        on(crashes[i], crashed, (int)(SA_ONSTACK | SA_RESETHAND));
#endif
}
