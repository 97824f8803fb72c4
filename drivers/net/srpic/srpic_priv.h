/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPIC_PRIV_H
#define _SRPIC_PRIV_H

#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>
#include <net/srpic.h>

#include "srpic_manager.h"

/*
 * An insertion walks one list of a block, so this bounds the work for a packet.
 * It is twice the budget of a NAPI poll: only a poll with a raised budget can
 * fill such a block at all.
 */
#define SRPIC_BLOCK_SIZE_MAX		128
#define SRPIC_BLOCK_SIZE_DEFAULT	32

/* More than the largest receive ring of any driver. */
#define SRPIC_FULL_FLUSH_PKTS_MAX	65536

/* srpic_main.c, srpic_rx.c */

/**
 * struct srpic - SRPIC's context of one NAPI instance
 * @dev: the device, whose network namespace has the settings
 * @left: packets to take until the next full flush, 0 while no manager has a
 *	flow; counts down what Global_SRPIC_PacketCnt counts up
 * @block_size: setting at the time when @left was set, in packets
 * @table: the managers
 * @syncp: protects @count on 32-bit machines
 * @count: by enum srpic_stat
 *
 * Only the owner of the NAPI instance touches it; @count may be read by all.
 */
struct srpic {
	const struct srpic_dev *dev;
	unsigned int left;
	unsigned int block_size;
	struct srpic_table table;

	struct u64_stats_sync syncp;
	u64_stats_t count[SRPIC_COUNTERS];
};

struct srpic *srpic_create(const struct srpic_dev *sd);
void srpic_destroy(struct srpic *srpic);

/* srpic_sysctl.c */

/**
 * struct srpic_net - settings of one network namespace
 * @header: registration of the sysctls
 * @block_size: net.srpic.block_size
 * @full_flush_pkts: net.srpic.full_flush_pkts
 */
struct srpic_net {
	struct ctl_table_header *header;
	int block_size;
	int full_flush_pkts;
};

struct srpic_net *srpic_net(const struct net *net);
int srpic_sysctl_init(void);
void srpic_sysctl_exit(void);

/* srpic_stats.c */

void srpic_stats_add(const struct srpic *srpic, u64 *sum);

#endif /* _SRPIC_PRIV_H */
