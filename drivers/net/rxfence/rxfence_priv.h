/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RXFENCE_PRIV_H
#define _RXFENCE_PRIV_H

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <net/rxfence.h>

/*
 * How long after a write the device may still put frames into the old ring, by
 * far: its pipeline and the bus take microseconds.
 */
#define RXFENCE_QUIET_NS	NSEC_PER_MSEC
#define RXFENCE_TICK		(nsecs_to_jiffies(RXFENCE_QUIET_NS) + 1)

/**
 * enum rxfence_stat - what is counted, per network device
 * @RXFENCE_MOVES: moves of a slot from one queue to another
 * @RXFENCE_WAITS: moves for which the new queue had to wait
 * @RXFENCE_REFUSED: hints that were dropped
 * @RXFENCE_EXPIRED: moves whose old queue was not emptied within
 *	net.rxfence.deadline_usecs
 * @RXFENCE_STATS: number of statistics
 */
enum rxfence_stat {
	RXFENCE_MOVES,
	RXFENCE_WAITS,
	RXFENCE_REFUSED,
	RXFENCE_EXPIRED,
	RXFENCE_STATS
};

extern int rxfence_deadline_usecs;

void rxfence_kick(void *info);
void rxfence_tick(struct timer_list *timer);
void rxfence_settle_all(struct rxfence_dev *rd, const struct rxfence_napi *rn);

#endif /* _RXFENCE_PRIV_H */
