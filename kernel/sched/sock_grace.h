/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The grace of a task that owns a socket, as the scheduler sees it. All is called
 * with the run queue locked. See Documentation/networking/sock-grace.rst.
 */
#ifndef _KERNEL_SCHED_SOCK_GRACE_H
#define _KERNEL_SCHED_SOCK_GRACE_H

#include <net/sock_grace.h>

#ifdef CONFIG_SOCK_GRACE

#define SOCK_GRACE_OVER	U64_MAX		/* sock_grace_from */

/**
 * sock_grace_has() - may a task run on in place of another fair one?
 * @p: a task
 *
 * Its grace begins when this is first asked of it, and is of time that it ran. When
 * that is over, it has none until it has released the socket.
 */
static inline bool sock_grace_has(struct task_struct *p)
{
	u64 limit_ns, ran_ns, from_ns;

	if (!static_branch_unlikely(&sock_grace_key))
		return false;
	/* pairs with the release in sock_grace_begin() */
	if (!smp_load_acquire(&p->sock_grace))
		return false;
	if (!task_on_rq_queued(p) || p->se.sched_delayed ||
	    p->sched_class != &fair_sched_class || task_has_idle_policy(p))
		return false;
	limit_ns = (u64)READ_ONCE(sock_grace_usecs) * NSEC_PER_USEC;
	ran_ns = p->se.sum_exec_runtime;
	from_ns = READ_ONCE(p->sock_grace_from);
	if (!from_ns) {
		if (!limit_ns)
			return false;
		WRITE_ONCE(p->sock_grace_from, ran_ns ?: 1);
		/* it may release the socket now, and not look, or lock the next */
		smp_mb();
		/* pairs as the first one */
		return smp_load_acquire(&p->sock_grace) &&
		       READ_ONCE(p->sock_grace_from);
	}
	if (from_ns != SOCK_GRACE_OVER && ran_ns - from_ns < limit_ns)
		return true;
	WRITE_ONCE(p->sock_grace_from, SOCK_GRACE_OVER);
	return false;
}

static inline struct task_struct *sock_grace_curr(struct rq *rq)
{
	return rcu_dereference_protected(rq->curr,
					 lockdep_is_held(__rq_lockp(rq)));
}

/**
 * sock_grace_keeps() - may the task that runs run on, whatever its quota?
 * @rq: the run queue
 */
static inline bool sock_grace_keeps(struct rq *rq)
{
	return sock_grace_has(sock_grace_curr(rq));
}

/**
 * sock_grace_due() - does the task that runs use its grace, so that the limit is to
 *	be looked at?
 * @rq: the run queue
 */
static inline bool sock_grace_due(struct rq *rq)
{
	struct task_struct *p;
	u64 from_ns;

	if (!static_branch_unlikely(&sock_grace_key))
		return false;
	p = sock_grace_curr(rq);
	from_ns = READ_ONCE(p->sock_grace_from);
	return from_ns && from_ns != SOCK_GRACE_OVER && READ_ONCE(p->sock_grace);
}

/**
 * sock_grace_debt() - the most that a task may have run on for
 *
 * EEVDF remembers that much more of what a task ran or waited too long. The limit is
 * looked at each tick, or each second one.
 *
 * Return: ns
 */
static inline u64 sock_grace_debt(void)
{
	u64 ns;

	if (!static_branch_unlikely(&sock_grace_key))
		return 0;
	ns = (u64)READ_ONCE(sock_grace_usecs) * NSEC_PER_USEC;
	return ns ? ns + 2 * TICK_NSEC : 0;
}

/**
 * sock_grace_pick() - the fair task that runs on, whoever else is eligible
 * @rq: the run queue
 *
 * Return: the one that runs, or that a task of a higher class took the CPU from;
 * NULL: it is not a matter of grace.
 */
static inline struct task_struct *sock_grace_pick(struct rq *rq)
{
	struct task_struct *p;

	if (!static_branch_unlikely(&sock_grace_key))
		return NULL;
	p = rq->sock_grace ?: sock_grace_curr(rq);
	/* alone, it gives way to no other one, and that does not begin its grace */
	if (!READ_ONCE(p->sock_grace_from) && rq->cfs.h_nr_runnable < 2)
		return NULL;
	return sock_grace_has(p) ? p : NULL;
}

/**
 * sock_grace_dequeue() - a fair task leaves the run queue
 * @rq: the run queue
 * @p: the task
 */
static inline void sock_grace_dequeue(struct rq *rq, struct task_struct *p)
{
	if (rq->sock_grace == p)	/* the key may not be on here yet */
		rq->sock_grace = NULL;
}

/**
 * sock_grace_switch() - another task is to run
 * @rq: the run queue
 * @prev: the one that ran
 * @next: the one that will, or in whose place it will
 *
 * What sleeps with a debt is queued still, and leaves without
 * sock_grace_dequeue().
 */
static inline void sock_grace_switch(struct rq *rq, struct task_struct *prev,
				     const struct task_struct *next)
{
	if (!static_branch_unlikely(&sock_grace_key))
		return;
	if (!sched_class_above(next->sched_class, &fair_sched_class))
		rq->sock_grace = NULL;
	else if (READ_ONCE(prev->sock_grace) && task_on_rq_queued(prev) &&
		 !prev->se.sched_delayed &&
		 prev->sched_class == &fair_sched_class)
		rq->sock_grace = prev;
}

#else

static inline bool sock_grace_keeps(struct rq *rq)
{
	return false;
}

static inline bool sock_grace_due(struct rq *rq)
{
	return false;
}

static inline u64 sock_grace_debt(void)
{
	return 0;
}

static inline struct task_struct *sock_grace_pick(struct rq *rq)
{
	return NULL;
}

static inline void sock_grace_dequeue(struct rq *rq, struct task_struct *p)
{
}

static inline void sock_grace_switch(struct rq *rq, struct task_struct *prev,
				     const struct task_struct *next)
{
}

#endif /* CONFIG_SOCK_GRACE */
#endif /* _KERNEL_SCHED_SOCK_GRACE_H */
