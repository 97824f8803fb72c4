/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPIC_PRIV_H
#define _SRPIC_PRIV_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>
#include <net/srpic.h>

#include "srpic_manager.h"

#define SRPIC_BLOCK_SIZE_DEFAULT	32

/* More than the largest receive ring of any driver. */
#define SRPIC_PKTS_MAX			65536

#define SRPIC_HOLD_USECS_MAX		100000

/*
 * What waits belongs to no socket, so it is bounded, for each NAPI instance: 4096
 * packets are what 40 Gbit/s bring within 1.2 ms.
 */
#define SRPIC_HELD_PKTS_MAX		4096
#define SRPIC_HELD_BYTES_MAX		SZ_16M

/*
 * So many holes of a flow that are not filled in time, one after the other, are
 * taken for losses: it is tried less and less often whether the next one is.
 */
#define SRPIC_LOSSES_MAX		3
#define SRPIC_SKIP_BITS			6

/**
 * enum srpic_stat - what is counted, per network device
 * @SRPIC_FLUSH_BLOCK: blocks flushed because they were full
 * @SRPIC_FLUSH_RING: blocks flushed because the context took as many packets
 *	as the receive ring has descriptors (or net.srpic.full_flush_pkts)
 * @SRPIC_FLUSH_POLL: blocks flushed because the softirq was over for this NAPI
 *	instance: a poll completed, or somebody polls busily
 * @SRPIC_FLUSH_BARRIER: blocks flushed ahead of a packet that is not suitable
 * @SRPIC_FLUSH_TIMESTAMP: blocks flushed to keep the order of TCP timestamps,
 *	or because the next packet's cannot be compared with those held
 * @SRPIC_FLUSH_OVERLAP: blocks flushed because a packet overlaps what is held,
 *	or is too far away from it to be compared
 * @SRPIC_FLUSH_EVICT: blocks flushed because all managers of a set held
 *	packets, or too much was held
 * @SRPIC_FLUSH_HOLE: blocks flushed in which a hole was filled that packets had
 *	been waiting for since an earlier poll
 * @SRPIC_FLUSH_DEADLINE: blocks flushed because a packet had waited for
 *	net.srpic.hold_usecs
 * @SRPIC_PACKETS_TAKEN: packets that went through a block
 * @SRPIC_PACKETS_PASSED: packets that were not suitable
 * @SRPIC_PACKETS_OUT_OF_ORDER: packets that went to prev or after, be it that
 *	they still wait there
 * @SRPIC_COUNTERS: number of counters above
 * @SRPIC_BLOCKS: blocks flushed, the sum of all causes
 * @SRPIC_PACKETS_HELD: packets that wait now, beyond the poll
 * @SRPIC_HELD_USECS_MAX: the longest that a packet has waited so, in us
 * @SRPIC_STATS: number of statistics in ``ethtool -S``
 */
enum srpic_stat {
	SRPIC_FLUSH_BLOCK,
	SRPIC_FLUSH_RING,
	SRPIC_FLUSH_POLL,
	SRPIC_FLUSH_BARRIER,
	SRPIC_FLUSH_TIMESTAMP,
	SRPIC_FLUSH_OVERLAP,
	SRPIC_FLUSH_EVICT,
	SRPIC_FLUSH_HOLE,
	SRPIC_FLUSH_DEADLINE,
	SRPIC_PACKETS_TAKEN,
	SRPIC_PACKETS_PASSED,
	SRPIC_PACKETS_OUT_OF_ORDER,
	SRPIC_COUNTERS,
	SRPIC_BLOCKS = SRPIC_COUNTERS,
	SRPIC_PACKETS_HELD,
	SRPIC_HELD_USECS_MAX,
	SRPIC_STATS
};

static_assert(SRPIC_NUM_STATS == SRPIC_STATS);

/* srpic_main.c, srpic_rx.c */

/**
 * struct srpic - SRPIC's context of one NAPI instance
 * @napi: the NAPI instance, by which all packets leave
 * @sd: the device, whose network namespace has the settings
 * @left: packets to take until the next full flush, 0 after one; counts down
 *	what Global_SRPIC_PacketCnt counts up
 * @block_size: setting at the time when @left was set, in packets
 * @hold_ns: likewise, how long a packet may wait beyond the poll
 * @now: time of this poll in ns, 0 if nobody asked for it
 * @held_pkts: packets in after, beyond those of the last poll an upper bound
 * @held_bytes: likewise their memory
 * @held_usecs_max: the longest that a packet has waited beyond the poll
 * @timer: schedules the NAPI instance when a packet has waited for too long
 * @table: the managers
 * @syncp: protects @count on 32-bit machines
 * @count: by enum srpic_stat
 *
 * Only the owner of the NAPI instance touches it; @count may be read by all.
 */
struct srpic {
	struct napi_struct *napi;
	const struct srpic_dev *sd;
	unsigned int left;
	unsigned int block_size;
	u64 hold_ns;
	u64 now;
	unsigned int held_pkts;
	unsigned int held_bytes;
	u32 held_usecs_max;
	struct hrtimer timer;
	struct srpic_table table;

	struct u64_stats_sync syncp;
	u64_stats_t count[SRPIC_COUNTERS];
};

/* The time, in ns: that of the poll, so it is read once, and if needed only. */
static inline u64 srpic_now(struct srpic *srpic)
{
	if (!srpic->now)
		srpic->now = ktime_get_ns();
	return srpic->now;
}

struct srpic *srpic_create(const struct srpic_napi *sn);
void srpic_destroy(struct srpic *srpic);
void srpic_set_timer(struct srpic *srpic, u64 deadline);
void srpic_leave(struct srpic *srpic, struct srpic_manager *manager,
		 enum srpic_stat cause, bool everything);
void srpic_deliver(struct srpic *srpic, struct srpic_manager *manager,
		   enum srpic_stat cause);

/* srpic_hold.c */

void srpic_note_filled(struct srpic *srpic, struct srpic_manager *manager);
void srpic_release(struct srpic *srpic, struct srpic_manager *manager,
		   enum srpic_stat cause);
void srpic_make_room(struct srpic *srpic);
void srpic_end_holding(struct srpic *srpic, bool complete);

/* srpic_sysctl.c */

/**
 * struct srpic_net - settings of one network namespace
 * @header: registration of the sysctls
 * @block_size: net.srpic.block_size
 * @full_flush_pkts: net.srpic.full_flush_pkts
 * @hold_usecs: net.srpic.hold_usecs
 */
struct srpic_net {
	struct ctl_table_header *header;
	int block_size;
	int full_flush_pkts;
	int hold_usecs;
};

struct srpic_net *srpic_net(const struct net *net);
int srpic_sysctl_init(void);
void srpic_sysctl_exit(void);

/* srpic_stats.c */

const char *srpic_cause_name(enum srpic_stat cause);
void srpic_stats_add(const struct srpic *srpic, u64 *sum);

#endif /* _SRPIC_PRIV_H */
