// SPDX-License-Identifier: GPL-2.0
/* The table of managers: what is not inline, see srpic_manager.h. */

#include <linux/random.h>

#include "srpic_manager.h"

void srpic_table_init(struct srpic_table *table)
{
	unsigned int set, way, i;

	for (i = 0; i < SRPIC_KEY_WORDS; i++)
		table->multiplier[i] = get_random_u64() | 1;
	for (set = 0; set < SRPIC_SETS; set++)
		for (way = 0; way < SRPIC_WAYS; way++)
			srpic_block_init(&table->manager[set][way].block);
	table->last = table->manager[0];
}

/*
 * Gives a flow the manager that srpic_table_search() named, and that holds
 * nothing now.
 */
void srpic_table_open(struct srpic_table *table, struct srpic_manager *manager,
		      const struct srpic_key *key)
{
	if (!manager->key.dev)
		table->used[table->num_used++] = manager;
	manager->key = *key;
	manager->used_at = ++table->clock;
	table->last = manager;
}

/* Takes all managers, which hold nothing, from their flows. */
void srpic_table_clear(struct srpic_table *table)
{
	while (table->num_used)
		table->used[--table->num_used]->key.dev = NULL;
}
