// SPDX-License-Identifier: GPL-2.0
/*
 * What drivers do with rxfence outside their data path: a device, its queues,
 * on and off, statistics; and the setting.
 */

#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

#include "rxfence_priv.h"

static_assert(RXFENCE_NUM_STATS == RXFENCE_STATS);

static const char rxfence_stat_names[RXFENCE_STATS][ETH_GSTRING_LEN] = {
	[RXFENCE_MOVES]		= "rxfence_moves",
	[RXFENCE_WAITS]		= "rxfence_waits",
	[RXFENCE_REFUSED]	= "rxfence_refused",
	[RXFENCE_EXPIRED]	= "rxfence_expired",
};

int rxfence_deadline_usecs = 1000;
static int deadline_usecs_min = 10;
static int deadline_usecs_max = 100000;
static struct ctl_table_header *rxfence_sysctl;

static struct ctl_table rxfence_sysctls[] = {
	{
		.procname	= "deadline_usecs",
		.data		= &rxfence_deadline_usecs,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &deadline_usecs_min,
		.extra2		= &deadline_usecs_max,
	},
};

/**
 * rxfence_init - prepare a device for rxfence, which is off
 * @rd: embedded in the driver's private data, zeroed
 * @netdev: the device
 * @steered: the bits of the hash by which the device steers, the lowest ones.
 *	Where it goes by headers rather than by the hash, all of them.
 *
 * There is no counterpart, but rxfence_reset().
 *
 * Context: process context, before the first rxfence_add_queue().
 */
void rxfence_init(struct rxfence_dev *rd, struct net_device *netdev,
		  u32 steered)
{
	rd->netdev = netdev;
	rd->steered = steered;
	spin_lock_init(&rd->lock);
	INIT_LIST_HEAD(&rd->moving);
	timer_setup(&rd->timer, rxfence_tick, 0);
}
EXPORT_SYMBOL_GPL(rxfence_init);

/* Called under the lock; polls and hints look at slots without it. */
static void rxfence_forget(struct rxfence_dev *rd)
{
	unsigned int i;

	rxfence_settle_all(rd, NULL);
	for (i = 0; i < RXFENCE_SLOTS; i++) {
		WRITE_ONCE(rd->slots[i].hash, 0);
		rd->slots[i].from_queue = 0;
		WRITE_ONCE(rd->slots[i].to_queue, 0);
	}
}

/**
 * rxfence_enable - switch rxfence on or off
 * @rd: the device
 * @on: the new state
 *
 * Moves that are not settled when it is switched off are no longer waited for,
 * and those that are say nothing of what happens from there on.
 *
 * Context: process context, serialized with rxfence_move().
 */
void rxfence_enable(struct rxfence_dev *rd, bool on)
{
	spin_lock_bh(&rd->lock);
	WRITE_ONCE(rd->enabled, on);
	if (!on)
		rxfence_forget(rd);
	spin_unlock_bh(&rd->lock);
}
EXPORT_SYMBOL_GPL(rxfence_enable);

/**
 * rxfence_reset - forget all moves
 * @rd: the device
 *
 * Must be called when the device goes down, so that no timer outlives it.
 *
 * Context: process context, all receive queues are stopped and empty, or the
 *	device has forgotten where it steers to; may sleep.
 */
void rxfence_reset(struct rxfence_dev *rd)
{
	/* first: a hint from here on may need it */
	timer_delete_sync(&rd->timer);
	spin_lock_bh(&rd->lock);
	rxfence_forget(rd);
	spin_unlock_bh(&rd->lock);
}
EXPORT_SYMBOL_GPL(rxfence_reset);

/**
 * rxfence_add_queue - add a receive queue to a device
 * @rd: the device
 * @rn: embedded in the driver's NAPI vector that polls it, zeroed unless it has
 *	been added for another queue
 * @napi: the NAPI instance itself
 * @queue: the queue's number; those from RXFENCE_QUEUES on are not fenced
 *
 * Context: process context, the NAPI instance is disabled.
 */
void rxfence_add_queue(struct rxfence_dev *rd, struct rxfence_napi *rn,
		       struct napi_struct *napi, unsigned int queue)
{
	if (queue >= RXFENCE_QUEUES)
		return;
	rn->rd = rd;
	rn->napi = napi;
	INIT_CSD(&rn->kick, rxfence_kick, rn);
	spin_lock_bh(&rd->lock);
	rd->queue[queue] = rn;
	spin_unlock_bh(&rd->lock);
}
EXPORT_SYMBOL_GPL(rxfence_add_queue);

/**
 * rxfence_del_napi - remove the queues of a NAPI instance from their device
 * @rn: the NAPI instance; one that was never added is ignored
 *
 * Nothing waits for its queues any longer.
 *
 * Context: process context, the NAPI instance is disabled and not yet deleted.
 */
void rxfence_del_napi(struct rxfence_napi *rn)
{
	struct rxfence_dev *rd = rn->rd;
	unsigned int i;

	if (!rd)
		return;
	spin_lock_bh(&rd->lock);
	for (i = 0; i < RXFENCE_QUEUES; i++)
		if (rd->queue[i] == rn)
			rd->queue[i] = NULL;
	rxfence_settle_all(rd, rn);
	spin_unlock_bh(&rd->lock);
	/* pairs with the release in rxfence_kick() */
	while (atomic_read_acquire(&rn->kicks))
		cpu_relax();
	memset(rn, 0, sizeof(*rn));
}
EXPORT_SYMBOL_GPL(rxfence_del_napi);

/**
 * rxfence_get_strings - names of the statistics, for ethtool's get_strings
 * @data: where the RXFENCE_NUM_STATS names go; advanced behind them
 *
 * Context: any.
 */
void rxfence_get_strings(u8 **data)
{
	unsigned int i;

	for (i = 0; i < RXFENCE_STATS; i++)
		ethtool_puts(data, rxfence_stat_names[i]);
}
EXPORT_SYMBOL_GPL(rxfence_get_strings);

/**
 * rxfence_get_stats - statistics of a device, for get_ethtool_stats
 * @rd: the device
 * @data: where the RXFENCE_NUM_STATS values go; advanced behind them
 *
 * They count up as long as the device exists.
 *
 * Context: process context.
 */
void rxfence_get_stats(struct rxfence_dev *rd, u64 **data)
{
	spin_lock_bh(&rd->lock);
	memcpy(*data, rd->stats, sizeof(rd->stats));
	spin_unlock_bh(&rd->lock);
	*data += RXFENCE_STATS;
}
EXPORT_SYMBOL_GPL(rxfence_get_stats);

static int __init rxfence_module_init(void)
{
	rxfence_sysctl = register_net_sysctl(&init_net, "net/rxfence",
					     rxfence_sysctls);
	return rxfence_sysctl ? 0 : -ENOMEM;
}

static void __exit rxfence_module_exit(void)
{
	unregister_net_sysctl_table(rxfence_sysctl);
}

module_init(rxfence_module_init);
module_exit(rxfence_module_exit);
MODULE_DESCRIPTION("Order of flows that move between receive queues");
MODULE_LICENSE("GPL");
