// SPDX-License-Identifier: GPL-2.0
/* The table of managers, see srpic_manager.h. */

#include <linux/random.h>

#include "srpic_manager.h"

void srpic_table_init(struct srpic_table *table)
{
	unsigned int set, way, i;

	for (i = 0; i < ARRAY_SIZE(table->multiplier); i++)
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
		      struct net_device *netdev, struct srpic_flow flow)
{
	unsigned int i, words = flow.id & SRPIC_FLOW_IPV6 ? 4 : 1;

	if (!manager->key.netdev)
		table->used[table->num_used++] = manager;
	manager->key.netdev = netdev;
	manager->key.id = flow.id;
	for (i = 0; i < words; i++)
		manager->key.addrs[i] = get_unaligned(&flow.addrs[i]);
	manager->block.netdev = netdev;
	srpic_block_forget(&manager->block);
	manager->waits = false;
	manager->merged = false;
	manager->losses = 0;
	manager->skip = 0;
	manager->used_at = ++table->clock;
	table->last = manager;
}

/* Takes all managers, which hold nothing, from their flows. */
void srpic_table_clear(struct srpic_table *table)
{
	while (table->num_active)
		table->active[--table->num_active]->active = false;
	while (table->num_used)
		table->used[--table->num_used]->key.netdev = NULL;
}
