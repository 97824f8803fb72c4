/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bounded table of managers. A manager is its flow's until another flow needs
 * it, or until the table is cleared: when the softirq ends, unless packets may be
 * held longer.
 */
#ifndef _SRPIC_MANAGER_H
#define _SRPIC_MANAGER_H

#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/unaligned.h>

#include "srpic_sort.h"

/*
 * The table is a set-associative cache: a flow hashes to one set and takes one
 * of its ways, so a look-up compares SRPIC_WAYS keys at the most, and 64 flows,
 * one for each packet of a NAPI budget, seldom fill a set.
 */
#define SRPIC_SET_BITS		5
#define SRPIC_SETS		BIT(SRPIC_SET_BITS)
#define SRPIC_WAYS		4

/* For so long a flow of which nothing is held is remembered. */
#define SRPIC_REMEMBER		HZ

/* What struct srpic_flow.id has besides the VLAN in its lower bits. */
#define SRPIC_FLOW_8021AD	BIT_ULL(12)
#define SRPIC_FLOW_IPV6		BIT_ULL(16)
#define SRPIC_FLOW_PORTS	GENMASK_ULL(63, 32)

/**
 * struct srpic_flow - whose a packet is, as its headers say
 * @id: ports, VLAN and whether it is IPv6
 * @addrs: source and destination address, where they are in the headers
 */
struct srpic_flow {
	u64 id;
	const u64 *addrs;
};

/**
 * struct srpic_key - identity of a flow
 * @netdev: device that its packets came from
 * @id: as in struct srpic_flow
 * @addrs: likewise, but a copy; those of IPv4 are one word
 */
struct srpic_key {
	const struct net_device *netdev;
	u64 id;
	u64 addrs[4];
};

/**
 * struct srpic_manager - one flow (SRPIC_manager)
 * @key: the flow; without a device while the manager is unused
 * @used_at: when it was last used, in srpic_table.clock
 * @active: whether it is in srpic_table.active
 * @waits: whether packets in after have outlived a softirq
 * @merged: whether packets of the flow were merged in this softirq, so that GRO is to
 *	keep none
 * @losses: how many holes in a row were not filled in time
 * @skip: how many of the next holes are not waited for
 * @known_at: when it was known last where the flow goes on, in jiffies
 * @block: the packets of the flow, if it holds any
 */
struct srpic_manager {
	struct srpic_key key;
	u32 used_at;
	bool active;
	bool waits;
	bool merged;
	u8 losses;
	u8 skip;
	unsigned long known_at;
	struct srpic_block block;
};

/**
 * struct srpic_table - the managers of one context
 * @last: the manager that was used last; no other has a higher used_at. After
 *	srpic_table_clear() it is unused, and matches no packet.
 * @clock: counts how often @last was set
 * @num_used: how many managers are in @used
 * @used: those that have a flow, in the order in which they came into use
 * @num_active: how many managers are in @active
 * @active: those that got a packet since they last left it, so all that hold some
 * @multiplier: random odd numbers, the seed of the hash
 * @manager: all of them; those of a set come into use from the first one on,
 *	and out of use together
 */
struct srpic_table {
	struct srpic_manager *last;
	u32 clock;
	unsigned int num_used;
	struct srpic_manager *used[SRPIC_SETS * SRPIC_WAYS];
	unsigned int num_active;
	struct srpic_manager *active[SRPIC_SETS * SRPIC_WAYS];
	u64 multiplier[5];
	struct srpic_manager manager[SRPIC_SETS][SRPIC_WAYS];
};

void srpic_table_init(struct srpic_table *table);
void srpic_table_open(struct srpic_table *table, struct srpic_manager *manager,
		      struct net_device *netdev, struct srpic_flow flow);
void srpic_table_clear(struct srpic_table *table);

static inline void srpic_table_activate(struct srpic_table *table,
					struct srpic_manager *manager)
{
	manager->active = true;
	table->active[table->num_active++] = manager;
}

/* Takes manager i, which holds nothing, from those that are active. */
static inline void srpic_table_deactivate(struct srpic_table *table,
					  unsigned int i)
{
	struct srpic_manager *manager = table->active[i];

	manager->active = false;
	if (manager->block.known == SRPIC_KNOWN)
		manager->known_at = jiffies;
	table->active[i] = table->active[--table->num_active];
}

/* Whether it is a flow's that holds packets, or is remembered. */
static inline bool srpic_manager_is_used(const struct srpic_manager *manager)
{
	return manager->key.netdev &&
	       (manager->active ||
		!time_after(jiffies, manager->known_at + SRPIC_REMEMBER));
}

/* Whether the addresses are those of a key. */
static inline bool srpic_key_has_addrs(const struct srpic_key *key,
				       struct srpic_flow flow)
{
	if (get_unaligned(&flow.addrs[0]) != key->addrs[0])
		return false;
	return !(flow.id & SRPIC_FLOW_IPV6) ||
	       !((get_unaligned(&flow.addrs[1]) ^ key->addrs[1]) |
		 (get_unaligned(&flow.addrs[2]) ^ key->addrs[2]) |
		 (get_unaligned(&flow.addrs[3]) ^ key->addrs[3]));
}

static inline bool srpic_key_is(const struct srpic_key *key,
				const struct net_device *netdev,
				struct srpic_flow flow)
{
	return key->id == flow.id && key->netdev == netdev &&
	       srpic_key_has_addrs(key, flow);
}

/* The same, whatever the ports are. */
static inline bool srpic_key_is_pair(const struct srpic_key *key,
				     const struct net_device *netdev,
				     struct srpic_flow flow)
{
	return !((key->id ^ flow.id) & ~SRPIC_FLOW_PORTS) &&
	       key->netdev == netdev && srpic_key_has_addrs(key, flow);
}

/*
 * Multiply-shift hashing with random multipliers. skb->hash would not do: it
 * is 0 without rxhash, and a NIC may hash a barrier of a flow in another way
 * than the flow's data.
 */
static inline struct srpic_manager *
srpic_table_set(struct srpic_table *table, struct srpic_flow flow)
{
	u64 hash = flow.id * table->multiplier[0] +
		   get_unaligned(&flow.addrs[0]) * table->multiplier[1];
	unsigned int i;

	if (flow.id & SRPIC_FLOW_IPV6)
		for (i = 1; i < 4; i++)
			hash += get_unaligned(&flow.addrs[i]) *
				table->multiplier[1 + i];
	return table->manager[hash >> (64 - SRPIC_SET_BITS)];
}

/*
 * Whether a flow has a manager, and which. If it has none, that is the one to
 * take: one that holds nothing, or else the least recently used one of its set,
 * which must be flushed first.
 */
static inline bool
srpic_table_search(struct srpic_table *table, const struct net_device *netdev,
		   struct srpic_flow flow, struct srpic_manager **found)
{
	struct srpic_manager *manager = srpic_table_set(table, flow);
	const struct srpic_manager *end = manager + SRPIC_WAYS;
	struct srpic_manager *oldest = manager;
	bool is_empty, has_empty = false;

	for (; manager < end; manager++) {
		if (!manager->key.netdev) {
			/* nor is one behind it in use */
			*found = manager;
			return false;
		}
		if (srpic_key_is(&manager->key, netdev, flow)) {
			manager->used_at = ++table->clock;
			table->last = manager;
			*found = manager;
			return true;
		}
		is_empty = srpic_block_is_empty(&manager->block);
		if (is_empty == has_empty ?
		    before(manager->used_at, oldest->used_at) : is_empty) {
			has_empty = is_empty;
			oldest = manager;
		}
	}
	*found = oldest;
	return false;
}

#endif /* _SRPIC_MANAGER_H */
