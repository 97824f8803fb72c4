/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPIC_PRIV_H
#define _SRPIC_PRIV_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>
#include <net/srpic.h>

/*
 * An insertion walks one list of a block at the most, so this bounds the work
 * for a packet. It is twice the budget of a NAPI poll: only a poll with a
 * raised budget can fill such a block at all.
 */
#define SRPIC_BLOCK_SIZE_MAX		128
#define SRPIC_BLOCK_SIZE_DEFAULT	32

/* More than the largest receive ring of any driver. */
#define SRPIC_FULL_FLUSH_PKTS_MAX	65536

/*
 * The table of managers is a set-associative cache: a flow hashes to one set
 * and takes one of its ways. A look-up compares SRPIC_WAYS keys at the most,
 * and 64 flows, one for each packet of a NAPI budget, seldom fill a set.
 */
#define SRPIC_SET_BITS			5
#define SRPIC_SETS			BIT(SRPIC_SET_BITS)
#define SRPIC_WAYS			4

/*
 * Sequence numbers and timestamps within this distance of one packet can be
 * compared with each other: before() is transitive among them.
 */
#define SRPIC_DISTANCE_MAX		BIT(30)

/* srpic_sort.c */

/**
 * struct srpic_cb - what the sorter knows of a packet, in skb->cb
 * @seq: sequence number of the first byte of payload
 * @end_seq: sequence number behind the last byte of payload
 * @tsval: TSval of the timestamp option, if there is one
 * @has_tsval: whether there is one
 */
struct srpic_cb {
	u32 seq;
	u32 end_seq;
	u32 tsval;
	bool has_tsval;
};

#define SRPIC_CB(skb)	((struct srpic_cb *)(skb)->cb)

/**
 * enum srpic_place - where srpic_block_add() put a packet
 * @SRPIC_CURR: in sequence
 * @SRPIC_PREV: below the first packet of curr
 * @SRPIC_AFTER: above next_exp
 * @SRPIC_REFUSED_OVERLAP: nowhere: the three lists would sort it wrongly
 * @SRPIC_REFUSED_TIMESTAMP: nowhere: it would overtake an older TSval
 *
 * After a refusal, the packet must open the next block.
 */
enum srpic_place {
	SRPIC_CURR,
	SRPIC_PREV,
	SRPIC_AFTER,
	SRPIC_REFUSED_OVERLAP,
	SRPIC_REFUSED_TIMESTAMP,
};

/**
 * struct srpic_block - packets of one flow that are being sorted
 * @pkts: packets in all three lists (the paper's PacketCnt)
 * @next_exp: sequence number that continues @curr (NextExp)
 * @seq: sequence number of the first packet of @curr
 * @tsval: TSval of the first packet of @curr
 * @has_tsval: whether the packets of this block carry a timestamp
 * @curr_oldest: oldest TSval in @curr
 * @after_oldest: oldest TSval in @after, valid while that holds a packet
 * @prev: below @seq, sorted (PrevPacketList)
 * @curr: from @seq to @next_exp without a hole (CurrPacketList)
 * @after: above @next_exp, sorted (AfterPacketList)
 */
struct srpic_block {
	unsigned int pkts;
	u32 next_exp;
	u32 seq;
	u32 tsval;
	bool has_tsval;
	u32 curr_oldest;
	u32 after_oldest;
	struct list_head prev;
	struct list_head curr;
	struct list_head after;
};

void srpic_block_init(struct srpic_block *block);
enum srpic_place srpic_block_add(struct srpic_block *block,
				 struct sk_buff *skb);
void srpic_block_take(struct srpic_block *block, struct list_head *out);

/* srpic_manager.c */

#define SRPIC_KEY_WORDS		5

/**
 * struct srpic_key - identity of a flow
 * @dev: device that the packets came from
 * @words: number of words used, 2 (IPv4) or 5 (IPv6); tells the family
 * @word: ports and VLAN, then source and destination address
 */
struct srpic_key {
	const struct net_device *dev;
	unsigned int words;
	u64 word[SRPIC_KEY_WORDS];
};

/**
 * struct srpic_manager - one flow that holds packets (SRPIC_manager)
 * @key: the flow, valid while @block holds packets
 * @used_at: when it was last used, in srpic_table.clock
 * @node: in srpic_table.used while @block holds packets
 * @block: its packets
 */
struct srpic_manager {
	struct srpic_key key;
	u32 used_at;
	struct list_head node;
	struct srpic_block block;
};

/**
 * struct srpic_table - the managers of one context
 * @used: managers that hold packets, in the order in which they were opened
 * @clock: counts look-ups
 * @multiplier: random odd numbers, the seed of the hash
 * @manager: all of them
 */
struct srpic_table {
	struct list_head used;
	u32 clock;
	u64 multiplier[SRPIC_KEY_WORDS];
	struct srpic_manager manager[SRPIC_SETS][SRPIC_WAYS];
};

void srpic_table_init(struct srpic_table *table);
struct srpic_manager *srpic_table_find(struct srpic_table *table,
				       const struct srpic_key *key);
struct srpic_manager *srpic_table_pick(struct srpic_table *table,
				       const struct srpic_key *key);
void srpic_table_open(struct srpic_table *table,
		      struct srpic_manager *manager,
		      const struct srpic_key *key);
void srpic_table_close(struct srpic_manager *manager);

/* srpic_main.c, srpic_rx.c */

/**
 * struct srpic - SRPIC's context of one NAPI instance
 * @dev: the device, whose network namespace has the settings
 * @taken: packets taken since the last full flush (Global_SRPIC_PacketCnt)
 * @block_size: setting at that time, in packets
 * @full_flush_pkts: setting at that time, in packets; never 0
 * @table: the managers
 * @syncp: protects @count on 32-bit machines
 * @count: by enum srpic_stat
 *
 * Only the owner of the NAPI instance touches it; @count may be read by all.
 */
struct srpic {
	const struct srpic_dev *dev;
	unsigned int taken;
	unsigned int block_size;
	unsigned int full_flush_pkts;
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
