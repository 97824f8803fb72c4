// SPDX-License-Identifier: GPL-2.0
/*
 * A bounded table of managers. A manager is in use as long as it holds
 * packets, so the table is empty between two polls.
 */

#include <linux/random.h>
#include <net/tcp.h>

#include "srpic_priv.h"

void srpic_table_init(struct srpic_table *table)
{
	unsigned int set, way, i;

	INIT_LIST_HEAD(&table->used);
	table->clock = 0;
	for (i = 0; i < SRPIC_KEY_WORDS; i++)
		table->multiplier[i] = get_random_u64() | 1;
	for (set = 0; set < SRPIC_SETS; set++)
		for (way = 0; way < SRPIC_WAYS; way++)
			srpic_block_init(&table->manager[set][way].block);
}

/*
 * Multiply-shift hashing with random multipliers. skb->hash would not do: it
 * is 0 without rxhash, and a NIC may hash a barrier of a flow in another way
 * than the flow's data.
 */
static struct srpic_manager *srpic_table_set(struct srpic_table *table,
					     const struct srpic_key *key)
{
	u64 hash = 0;
	unsigned int i;

	for (i = 0; i < key->words; i++)
		hash += key->word[i] * table->multiplier[i];
	return table->manager[hash >> (64 - SRPIC_SET_BITS)];
}

static bool srpic_key_equal(const struct srpic_key *a,
			    const struct srpic_key *b)
{
	unsigned int i;

	if (a->words != b->words || a->dev != b->dev)
		return false;
	for (i = 0; i < a->words; i++)
		if (a->word[i] != b->word[i])
			return false;
	return true;
}

/* The manager that holds packets of this flow, or NULL. */
struct srpic_manager *srpic_table_find(struct srpic_table *table,
				       const struct srpic_key *key)
{
	struct srpic_manager *way = srpic_table_set(table, key);
	const struct srpic_manager *end = way + SRPIC_WAYS;

	for (; way < end; way++) {
		if (!way->block.pkts || !srpic_key_equal(&way->key, key))
			continue;
		way->used_at = ++table->clock;
		return way;
	}
	return NULL;
}

/*
 * The manager that a new flow should take: an unused one, or else the least
 * recently used one of its set, which must be flushed and closed first.
 */
struct srpic_manager *srpic_table_pick(struct srpic_table *table,
				       const struct srpic_key *key)
{
	struct srpic_manager *way = srpic_table_set(table, key);
	const struct srpic_manager *end = way + SRPIC_WAYS;
	struct srpic_manager *oldest = way;

	for (; way < end; way++) {
		if (!way->block.pkts)
			return way;
		if (before(way->used_at, oldest->used_at))
			oldest = way;
	}
	return oldest;
}

/* Opens an unused manager for a flow. */
void srpic_table_open(struct srpic_table *table, struct srpic_manager *manager,
		      const struct srpic_key *key)
{
	manager->key = *key;
	manager->used_at = ++table->clock;
	list_add_tail(&manager->node, &table->used);
}

/* Closes a manager whose block is empty. */
void srpic_table_close(struct srpic_manager *manager)
{
	list_del(&manager->node);
}
