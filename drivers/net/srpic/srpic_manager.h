/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bounded table of managers. A manager is its flow's until the next full
 * flush, or until another flow needs it, so the table is empty between two
 * polls. Look-ups are inline: each packet of another flow than the one before
 * makes one.
 */
#ifndef _SRPIC_MANAGER_H
#define _SRPIC_MANAGER_H

#include <linux/string.h>

#include "srpic_sort.h"

/*
 * The table of managers is a set-associative cache: a flow hashes to one set
 * and takes one of its ways. A look-up compares that of the manager used last
 * and those of SRPIC_WAYS at the most, and 64 flows, one for each packet of a
 * NAPI budget, seldom fill a set.
 */
#define SRPIC_SET_BITS			5
#define SRPIC_SETS			BIT(SRPIC_SET_BITS)
#define SRPIC_WAYS			4

#define SRPIC_KEY_WORDS			5
#define SRPIC_KEY_WORDS_IPV4		2
#define SRPIC_KEY_IPV6			BIT_ULL(16)

/**
 * struct srpic_key - identity of a flow
 * @dev: device that the packets came from
 * @word: ports, VLAN and whether it is IPv6, then source and destination
 *	address; IPv4 has no more than SRPIC_KEY_WORDS_IPV4
 */
struct srpic_key {
	const struct net_device *dev;
	u64 word[SRPIC_KEY_WORDS];
};

static inline bool srpic_key_equal(const struct srpic_key *a,
				   const struct srpic_key *b)
{
	if (a->word[0] != b->word[0] || a->word[1] != b->word[1] ||
	    a->dev != b->dev)
		return false;
	return !(a->word[0] & SRPIC_KEY_IPV6) ||
	       !memcmp(&a->word[2], &b->word[2], 3 * sizeof(u64));
}

/**
 * struct srpic_manager - one flow (SRPIC_manager)
 * @key: the flow; without a device while the manager is unused
 * @used_at: when it was last used, in srpic_table.clock
 * @block: the packets of the flow, if it holds any
 */
struct srpic_manager {
	struct srpic_key key;
	u32 used_at;
	struct srpic_block block;
};

/**
 * struct srpic_table - the managers of one context
 * @last: the manager that was used last; no other has a higher used_at. After
 *	a full flush it has no flow any more, and no packet is of its device.
 * @clock: counts how often @last was set
 * @num_used: how many managers are in @used
 * @used: those that have a flow, in the order in which they came into use
 * @multiplier: random odd numbers, the seed of the hash
 * @manager: all of them; those of a set come into use from the first one on,
 *	and out of use together
 */
struct srpic_table {
	struct srpic_manager *last;
	u32 clock;
	unsigned int num_used;
	struct srpic_manager *used[SRPIC_SETS * SRPIC_WAYS];
	u64 multiplier[SRPIC_KEY_WORDS];
	struct srpic_manager manager[SRPIC_SETS][SRPIC_WAYS];
};

void srpic_table_init(struct srpic_table *table);
void srpic_table_open(struct srpic_table *table,
		      struct srpic_manager *manager,
		      const struct srpic_key *key);
void srpic_table_clear(struct srpic_table *table);

/*
 * Multiply-shift hashing with random multipliers. skb->hash would not do: it
 * is 0 without rxhash, and a NIC may hash a barrier of a flow in another way
 * than the flow's data.
 */
static inline struct srpic_manager *
srpic_table_set(struct srpic_table *table, const struct srpic_key *key)
{
	u64 hash = key->word[0] * table->multiplier[0] +
		   key->word[1] * table->multiplier[1];
	unsigned int i;

	if (key->word[0] & SRPIC_KEY_IPV6)
		for (i = SRPIC_KEY_WORDS_IPV4; i < SRPIC_KEY_WORDS; i++)
			hash += key->word[i] * table->multiplier[i];
	return table->manager[hash >> (64 - SRPIC_SET_BITS)];
}

/*
 * Whether a flow has a manager, and which. If it has none, that is the one to
 * take: one that holds nothing, or else the least recently used one of its set,
 * which must be flushed first.
 */
static __always_inline bool srpic_table_search(struct srpic_table *table,
					       const struct srpic_key *key,
					       struct srpic_manager **manager)
{
	struct srpic_manager *way = srpic_table_set(table, key);
	const struct srpic_manager *end = way + SRPIC_WAYS;
	struct srpic_manager *oldest = way;

	for (; way < end; way++) {
		if (!way->key.dev) {
			/* nor is one behind it in use */
			*manager = way;
			return false;
		}
		if (srpic_key_equal(&way->key, key)) {
			way->used_at = ++table->clock;
			table->last = way;
			*manager = way;
			return true;
		}
		if (oldest->block.pkts &&
		    (!way->block.pkts ||
		     before(way->used_at, oldest->used_at)))
			oldest = way;
	}
	*manager = oldest;
	return false;
}

/* The same, for a flow that is often that of the packet before. */
static inline bool srpic_table_find(struct srpic_table *table,
				    const struct srpic_key *key,
				    struct srpic_manager **manager)
{
	*manager = table->last;
	return srpic_key_equal(&table->last->key, key) ||
	       srpic_table_search(table, key, manager);
}

#endif /* _SRPIC_MANAGER_H */
