// SPDX-License-Identifier: GPL-2.0
/* The counters in ethtool -S, and the tracepoint. */

#include <linux/ethtool.h>

#include "srpic_priv.h"

#define CREATE_TRACE_POINTS
#include <trace/events/srpic.h>

static const char srpic_stat_names[SRPIC_STATS][ETH_GSTRING_LEN] = {
	[SRPIC_FLUSH_BLOCK]		= "srpic_flush_block",
	[SRPIC_FLUSH_RING]		= "srpic_flush_ring",
	[SRPIC_FLUSH_POLL]		= "srpic_flush_poll",
	[SRPIC_FLUSH_BARRIER]		= "srpic_flush_barrier",
	[SRPIC_FLUSH_TIMESTAMP]		= "srpic_flush_timestamp",
	[SRPIC_FLUSH_OVERLAP]		= "srpic_flush_overlap",
	[SRPIC_FLUSH_EVICT]		= "srpic_flush_evict",
	[SRPIC_FLUSH_HOLE]		= "srpic_flush_hole",
	[SRPIC_FLUSH_DEADLINE]		= "srpic_flush_deadline",
	[SRPIC_PACKETS_TAKEN]		= "srpic_packets_taken",
	[SRPIC_PACKETS_PASSED]		= "srpic_packets_passed",
	[SRPIC_PACKETS_OUT_OF_ORDER]	= "srpic_packets_out_of_order",
	[SRPIC_BLOCKS]			= "srpic_blocks",
	[SRPIC_PACKETS_HELD]		= "srpic_packets_held",
	[SRPIC_HELD_USECS_MAX]		= "srpic_held_usecs_max",
};

/* What a cause is called in events. */
const char *srpic_cause_name(enum srpic_stat cause)
{
	return srpic_stat_names[cause] + strlen("srpic_flush_");
}

/* Adds what one context says to sum, but for what it holds now. */
void srpic_stats_add(const struct srpic *srpic, u64 *sum)
{
	u64 count[SRPIC_COUNTERS];
	unsigned int start, i;

	do {
		start = u64_stats_fetch_begin(&srpic->syncp);
		for (i = 0; i < SRPIC_COUNTERS; i++)
			count[i] = u64_stats_read(&srpic->count[i]);
	} while (u64_stats_fetch_retry(&srpic->syncp, start));

	for (i = 0; i < SRPIC_COUNTERS; i++)
		sum[i] += count[i];
	sum[SRPIC_HELD_USECS_MAX] = max_t(u64, sum[SRPIC_HELD_USECS_MAX],
					  READ_ONCE(srpic->held_usecs_max));
}

/**
 * srpic_get_strings - names of the statistics, for ethtool's get_strings
 * @data: where the SRPIC_NUM_STATS names go; advanced behind them
 *
 * Context: any.
 */
void srpic_get_strings(u8 **data)
{
	unsigned int i;

	for (i = 0; i < SRPIC_STATS; i++)
		ethtool_puts(data, srpic_stat_names[i]);
}
EXPORT_SYMBOL_GPL(srpic_get_strings);

/**
 * srpic_get_stats - statistics of a device, for ethtool's get_ethtool_stats
 * @sd: the device
 * @data: where the SRPIC_NUM_STATS values go; advanced behind them
 *
 * All but what is held now count up as long as the device exists, whatever
 * becomes of its NAPI instances and whether SRPIC is on or off.
 *
 * Context: process context; may sleep.
 */
void srpic_get_stats(struct srpic_dev *sd, u64 **data)
{
	u64 *sum = *data;
	struct srpic_napi *sn;
	unsigned int i;

	mutex_lock(&sd->lock);
	memcpy(sum, sd->retired, sizeof(sd->retired));
	list_for_each_entry(sn, &sd->napis, node) {
		if (!sn->srpic)
			continue;
		srpic_stats_add(sn->srpic, sum);
		sum[SRPIC_PACKETS_HELD] += READ_ONCE(sn->srpic->held_pkts);
	}
	mutex_unlock(&sd->lock);

	for (i = SRPIC_FLUSH_BLOCK; i <= SRPIC_FLUSH_DEADLINE; i++)
		sum[SRPIC_BLOCKS] += sum[i];
	*data += SRPIC_STATS;
}
EXPORT_SYMBOL_GPL(srpic_get_stats);
