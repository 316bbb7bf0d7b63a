#include "support/pool.h"
#include "support/limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct {
    atomic_size_t next;
    size_t n;
    void (*task)(void *context, size_t i);
    void *context;
} pool;

static void *work(void *arg)
{
    pool *p = arg;

    for (size_t i = atomic_fetch_add(&p->next, 1); i < p->n; i = atomic_fetch_add(&p->next, 1))
        p->task(p->context, i);
    return NULL;
}

void dfl_pool_run(unsigned threads, size_t n, void (*task)(void *context, size_t i), void *context)
{
    pool p = { .n = n, .task = task, .context = context };
    pthread_t others[DFL_MOST_THREADS];
    unsigned started = 0;

    if (threads > DFL_MOST_THREADS)
        threads = DFL_MOST_THREADS;
    /* The calling thread works too, so the tasks are done even if the system refuses every other thread. */
    while (started + 1 < threads && started + 1 < n && pthread_create(&others[started], NULL, work, &p) == 0)
        started++;
    work(&p);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}

struct dfl_lock {
    pthread_mutex_t mutex;
};

dfl_lock *dfl_lock_new(dfl_arena *arena)
{
    dfl_lock *lock = DFL_NEW(arena, dfl_lock);

    *lock = (dfl_lock){ PTHREAD_MUTEX_INITIALIZER };
    return lock;
}

void dfl_lock_take(dfl_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void dfl_lock_leave(dfl_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

unsigned dfl_pool_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > DFL_MOST_THREADS ? DFL_MOST_THREADS : (unsigned)n;
}
