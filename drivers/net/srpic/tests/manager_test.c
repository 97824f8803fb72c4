// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the table of managers. */

#include <kunit/test.h>
#include <linux/slab.h>

#include "../srpic_manager.h"

static int table_init(struct kunit *test)
{
	struct srpic_table *table;

	table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	srpic_table_init(table);
	test->priv = table;
	return 0;
}

static struct net_device a_device, another_device;

static struct srpic_flow flow(u32 port)
{
	static const u64 addrs[] = { 1 };

	return (struct srpic_flow) { .id = port, .addrs = addrs };
}

/* All flows hash to the same set. */
static void use_one_set(struct srpic_table *table)
{
	memset(table->multiplier, 0, sizeof(table->multiplier));
}

static struct srpic_manager *find_on(struct srpic_table *table,
				     struct net_device *netdev,
				     struct srpic_flow flow)
{
	struct srpic_manager *manager;

	return srpic_table_search(table, netdev, flow, &manager) ? manager :
								   NULL;
}

static struct srpic_manager *find_flow(struct srpic_table *table,
				       struct srpic_flow flow)
{
	return find_on(table, &a_device, flow);
}

/* For a flow that has none. */
static struct srpic_manager *pick_manager(struct srpic_table *table,
					  struct srpic_flow flow)
{
	struct srpic_manager *manager;

	return srpic_table_search(table, &a_device, flow, &manager) ? NULL :
								      manager;
}

static struct srpic_manager *open_flow(struct srpic_table *table,
				       struct srpic_flow flow)
{
	struct srpic_manager *manager = pick_manager(table, flow);

	srpic_table_open(table, manager, &a_device, flow);
	manager->block.pkts = 1;
	return manager;
}

static void flow_is_found_until_the_table_is_cleared(struct kunit *test)
{
	struct srpic_table *table = test->priv;
	struct srpic_flow key = flow(80);
	struct srpic_manager *manager;

	KUNIT_EXPECT_NULL(test, find_flow(table, key));
	manager = open_flow(table, key);
	KUNIT_EXPECT_PTR_EQ(test, table->last, manager);
	KUNIT_EXPECT_PTR_EQ(test, find_flow(table, key), manager);
	manager->block.pkts = 0;
	KUNIT_EXPECT_PTR_EQ(test, find_flow(table, key), manager);
	srpic_table_clear(table);
	KUNIT_EXPECT_NULL(test, find_flow(table, key));
	KUNIT_EXPECT_EQ(test, table->num_used, 0);
}

static void every_part_of_a_flow_counts(struct kunit *test)
{
	u64 addrs[4] = { 1, 2, 3, 4 };
	struct srpic_flow flow = { .id = SRPIC_FLOW_IPV6, .addrs = addrs };
	struct srpic_table *table = test->priv;
	unsigned int bit;

	/* all flows in one set: nothing but the comparison tells them apart */
	use_one_set(table);
	open_flow(table, flow);
	for (bit = 0; bit < 64; bit++) {
		flow.id ^= BIT_ULL(bit);
		KUNIT_EXPECT_NULL_MSG(test, find_flow(table, flow),
				      "bit %u of the id", bit);
		flow.id ^= BIT_ULL(bit);
	}
	for (bit = 0; bit < 256; bit++) {
		addrs[bit / 64] ^= BIT_ULL(bit % 64);
		KUNIT_EXPECT_NULL_MSG(test, find_flow(table, flow),
				      "bit %u of the addresses", bit);
		addrs[bit / 64] ^= BIT_ULL(bit % 64);
	}
	KUNIT_EXPECT_NOT_NULL(test, find_flow(table, flow));
	KUNIT_EXPECT_NULL(test, find_on(table, &another_device, flow));
}

/* All but the ports, that is. */
static void every_part_of_a_pair_counts(struct kunit *test)
{
	u64 addrs[4] = { 1, 2, 3, 4 };
	struct srpic_flow flow = { .id = SRPIC_FLOW_IPV6, .addrs = addrs };
	struct srpic_table *table = test->priv;
	const struct srpic_key *key;
	unsigned int bit;

	key = &open_flow(table, flow)->key;
	for (bit = 0; bit < 64; bit++) {
		flow.id ^= BIT_ULL(bit);
		KUNIT_EXPECT_EQ_MSG(test,
				    srpic_key_is_pair(key, &a_device, flow),
				    bit >= 32, "bit %u of the id", bit);
		flow.id ^= BIT_ULL(bit);
	}
	for (bit = 0; bit < 256; bit++) {
		addrs[bit / 64] ^= BIT_ULL(bit % 64);
		KUNIT_EXPECT_FALSE_MSG(test,
				       srpic_key_is_pair(key, &a_device, flow),
				       "bit %u of the addresses", bit);
		addrs[bit / 64] ^= BIT_ULL(bit % 64);
	}
	KUNIT_EXPECT_FALSE(test, srpic_key_is_pair(key, &another_device, flow));
}

/* Opens flows until one meets a full set, and returns that one's number. */
static u32 fill_a_set(struct srpic_table *table, struct srpic_manager **victim)
{
	u32 port;

	for (port = 1;; port++) {
		struct srpic_flow key = flow(port);

		*victim = pick_manager(table, key);
		if ((*victim)->block.pkts)
			return port;
		open_flow(table, key);
	}
}

static void full_set_evicts_the_least_recently_used(struct kunit *test)
{
	struct srpic_table *table = test->priv;
	struct srpic_manager *first, *second;
	struct srpic_flow newcomer, used;

	newcomer = flow(fill_a_set(table, &first));

	/* once the victim is used again, it is another one's turn */
	used = flow(first->key.id);
	KUNIT_EXPECT_PTR_EQ(test, find_flow(table, used), first);
	second = pick_manager(table, newcomer);
	KUNIT_EXPECT_PTR_NE(test, second, first);
	KUNIT_EXPECT_NE(test, second->block.pkts, 0);

	/* flows have ascending numbers: the second one is younger */
	KUNIT_EXPECT_GT(test, second->key.id, first->key.id);

	second->block.pkts = 0;
	KUNIT_EXPECT_PTR_EQ(test, open_flow(table, newcomer), second);
	KUNIT_EXPECT_PTR_EQ(test, find_flow(table, newcomer), second);
}

static void repeated_use_is_use(struct kunit *test)
{
	static const u32 used[] = { 1, 4, 4, 2, 3 };
	struct srpic_flow newcomer = flow(5), key;
	struct srpic_table *table = test->priv;
	u32 port, i;

	use_one_set(table);
	for (port = 1; port <= SRPIC_WAYS; port++) {
		key = flow(port);
		open_flow(table, key);
	}
	for (i = 0; i < ARRAY_SIZE(used); i++) {
		key = flow(used[i]);
		KUNIT_ASSERT_PTR_EQ(test, find_flow(table, key), table->last);
	}
	KUNIT_EXPECT_EQ(test, pick_manager(table, newcomer)->key.id,
			used[0]);
}

/* A flow keeps a manager that holds nothing while there are unused ones. */
static void empty_manager_is_not_unused(struct kunit *test)
{
	struct srpic_flow first = flow(1), second = flow(2), third = flow(3);
	struct srpic_manager *empty, *behind;
	struct srpic_table *table = test->priv;
	struct srpic_flow newcomer = flow(4);

	use_one_set(table);
	empty = open_flow(table, first);
	behind = open_flow(table, second);
	open_flow(table, third);	/* the one used last */
	empty->block.pkts = 0;

	KUNIT_EXPECT_NULL(test, pick_manager(table, newcomer)->key.netdev);
	KUNIT_EXPECT_PTR_EQ(test, find_flow(table, second), behind);
	KUNIT_EXPECT_PTR_EQ(test, find_flow(table, first), empty);
}

/* Of a full set, wherever the one used least recently is. */
static void empty_manager_is_evicted_first(struct kunit *test)
{
	struct srpic_table *table = test->priv;
	struct srpic_manager *empty;
	struct srpic_flow newcomer;
	u32 i;

	use_one_set(table);
	newcomer = flow(fill_a_set(table, &empty));
	/* younger ones, and then the youngest of all ahead of older ones */
	for (i = 1; i <= SRPIC_WAYS; i++) {
		struct srpic_flow key = flow(i % SRPIC_WAYS + 1);

		empty = find_flow(table, key);
		KUNIT_ASSERT_PTR_EQ(test, empty,
				    &table->manager[0][i % SRPIC_WAYS]);
		empty->block.pkts = 0;
		KUNIT_EXPECT_PTR_EQ(test, pick_manager(table, newcomer),
				    empty);
		empty->block.pkts = 1;
	}
}

static void longest_empty_one_is_evicted(struct kunit *test)
{
	struct srpic_table *table = test->priv;
	struct srpic_manager *empty;
	struct srpic_flow newcomer;
	u32 port;

	use_one_set(table);
	newcomer = flow(fill_a_set(table, &empty));
	for (port = 1; port <= SRPIC_WAYS; port++)
		find_flow(table, flow(port))->block.pkts = 0;
	find_flow(table, flow(1));
	KUNIT_EXPECT_PTR_EQ(test, pick_manager(table, newcomer),
			    &table->manager[0][1]);
}

static void flows_are_listed_in_the_order_of_opening(struct kunit *test)
{
	struct srpic_table *table = test->priv;
	u32 port;

	for (port = 1; port <= 3; port++) {
		struct srpic_flow key = flow(port);

		open_flow(table, key);
	}
	KUNIT_ASSERT_EQ(test, table->num_used, 3);
	for (port = 1; port <= 3; port++)
		KUNIT_EXPECT_EQ(test, table->used[port - 1]->key.id,
				port);
}

static struct kunit_case manager_test_cases[] = {
	KUNIT_CASE(flow_is_found_until_the_table_is_cleared),
	KUNIT_CASE(every_part_of_a_flow_counts),
	KUNIT_CASE(every_part_of_a_pair_counts),
	KUNIT_CASE(full_set_evicts_the_least_recently_used),
	KUNIT_CASE(repeated_use_is_use),
	KUNIT_CASE(empty_manager_is_not_unused),
	KUNIT_CASE(empty_manager_is_evicted_first),
	KUNIT_CASE(longest_empty_one_is_evicted),
	KUNIT_CASE(flows_are_listed_in_the_order_of_opening),
	{ }
};

static struct kunit_suite manager_test_suite = {
	.name = "srpic_manager",
	.init = table_init,
	.test_cases = manager_test_cases,
};

kunit_test_suite(manager_test_suite);
