/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A task that reads from a TCP socket, and so owns it, runs on until it has released
 * it: what the readers and the scheduler's core say and ask. See
 * Documentation/networking/sock-grace.rst.
 */
#ifndef _NET_SOCK_GRACE_H
#define _NET_SOCK_GRACE_H

#ifdef CONFIG_SOCK_GRACE

#include <linux/jump_label.h>
#include <linux/sched.h>

struct sock;

/* net.core.sock_grace_usecs was set once. It stays on then, so that what a task
 * began to read with it ends with it.
 */
DECLARE_STATIC_KEY_FALSE(sock_grace_key);
extern int sock_grace_usecs;

void __sock_grace_end(void);

/**
 * sock_grace_begin() - the current task is to read from a socket
 * @sk: the socket; not locked yet, as an interrupt while lock_sock() ends may have
 *	the task preempted with it
 */
static inline void sock_grace_begin(const struct sock *sk)
{
	if (static_branch_unlikely(&sock_grace_key)) {
		WRITE_ONCE(current->sock_grace_from, 0);
		/* pairs with the acquires in sock_grace_has() */
		smp_store_release(&current->sock_grace, sk);
	}
}

/**
 * sock_grace_end() - it has read: give way now, if that is due
 *
 * Context: process, may sleep.
 */
static inline void sock_grace_end(void)
{
	if (static_branch_unlikely(&sock_grace_key) &&
	    READ_ONCE(current->sock_grace))
		__sock_grace_end();
}

/**
 * sock_grace_release() - a socket is released: give way now, if that is due
 * @sk: the socket; one that is read from may be locked again
 *
 * Context: process, may sleep if it is the one that sock_grace_begin() named.
 */
static inline void sock_grace_release(const struct sock *sk)
{
	if (static_branch_unlikely(&sock_grace_key) &&
	    READ_ONCE(current->sock_grace) == sk) {
		__sock_grace_end();
		sock_grace_begin(sk);
	}
}

#else

static inline void sock_grace_begin(const struct sock *sk)
{
}

static inline void sock_grace_end(void)
{
}

static inline void sock_grace_release(const struct sock *sk)
{
}

#endif /* CONFIG_SOCK_GRACE */
#endif /* _NET_SOCK_GRACE_H */
