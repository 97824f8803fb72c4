// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the table of managers. */

#include <kunit/test.h>
#include <linux/slab.h>

#include "../srpic_priv.h"

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

static struct srpic_key flow(u32 port)
{
	return (struct srpic_key) { .words = 2, .word = { port, 1 } };
}

/* A manager counts as used while its block holds packets. */
static struct srpic_manager *open_flow(struct srpic_table *table,
				       const struct srpic_key *key)
{
	struct srpic_manager *manager = srpic_table_pick(table, key);

	srpic_table_open(table, manager, key);
	manager->block.pkts = 1;
	return manager;
}

static void close_flow(struct srpic_manager *manager)
{
	manager->block.pkts = 0;
	srpic_table_close(manager);
}

static void flow_is_found_while_it_holds_packets(struct kunit *test)
{
	struct srpic_table *table = test->priv;
	struct srpic_key key = flow(80);
	struct srpic_manager *manager;

	KUNIT_EXPECT_NULL(test, srpic_table_find(table, &key));
	manager = open_flow(table, &key);
	KUNIT_EXPECT_PTR_EQ(test, srpic_table_find(table, &key), manager);
	close_flow(manager);
	KUNIT_EXPECT_NULL(test, srpic_table_find(table, &key));
	KUNIT_EXPECT_TRUE(test, list_empty(&table->used));
}

static void every_part_of_the_key_counts(struct kunit *test)
{
	struct srpic_key key = { .words = SRPIC_KEY_WORDS };
	struct srpic_table *table = test->priv;
	unsigned int word, bit;

	/* all keys in one set: nothing but the comparison tells them apart */
	memset(table->multiplier, 0, sizeof(table->multiplier));
	open_flow(table, &key);
	for (word = 0; word < SRPIC_KEY_WORDS; word++) {
		for (bit = 0; bit < 64; bit++) {
			struct srpic_key other = key;

			other.word[word] ^= BIT_ULL(bit);
			KUNIT_EXPECT_NULL_MSG(test,
					      srpic_table_find(table, &other),
					      "bit %u of word %u", bit, word);
		}
	}

	key.words = 2;
	KUNIT_EXPECT_NULL(test, srpic_table_find(table, &key));
	key.words = SRPIC_KEY_WORDS;
	key.dev = (void *)table;
	KUNIT_EXPECT_NULL(test, srpic_table_find(table, &key));
}

/* Opens flows until one meets a full set, and returns that one's number. */
static u32 fill_a_set(struct srpic_table *table, struct srpic_manager **victim)
{
	u32 port;

	for (port = 1;; port++) {
		struct srpic_key key = flow(port);

		*victim = srpic_table_pick(table, &key);
		if ((*victim)->block.pkts)
			return port;
		open_flow(table, &key);
	}
}

static void full_set_evicts_the_least_recently_used(struct kunit *test)
{
	struct srpic_table *table = test->priv;
	struct srpic_manager *first, *second;
	struct srpic_key newcomer, used;

	newcomer = flow(fill_a_set(table, &first));

	/* once the victim is used again, it is another one's turn */
	used = first->key;
	KUNIT_EXPECT_PTR_EQ(test, srpic_table_find(table, &used), first);
	second = srpic_table_pick(table, &newcomer);
	KUNIT_EXPECT_PTR_NE(test, second, first);
	KUNIT_EXPECT_NE(test, second->block.pkts, 0);

	/* flows have ascending numbers: the second one is younger */
	KUNIT_EXPECT_GT(test, second->key.word[0], first->key.word[0]);

	close_flow(second);
	KUNIT_EXPECT_PTR_EQ(test, open_flow(table, &newcomer), second);
	KUNIT_EXPECT_PTR_EQ(test, srpic_table_find(table, &newcomer), second);
}

static void flows_are_listed_in_the_order_of_opening(struct kunit *test)
{
	struct srpic_table *table = test->priv;
	struct srpic_manager *manager;
	u32 expected = 1;
	u32 port;

	for (port = 1; port <= 3; port++) {
		struct srpic_key key = flow(port);

		open_flow(table, &key);
	}
	list_for_each_entry(manager, &table->used, node)
		KUNIT_EXPECT_EQ(test, manager->key.word[0], expected++);
	KUNIT_EXPECT_EQ(test, expected, port);
}

static struct kunit_case manager_test_cases[] = {
	KUNIT_CASE(flow_is_found_while_it_holds_packets),
	KUNIT_CASE(every_part_of_the_key_counts),
	KUNIT_CASE(full_set_evicts_the_least_recently_used),
	KUNIT_CASE(flows_are_listed_in_the_order_of_opening),
	{ }
};

static struct kunit_suite manager_test_suite = {
	.name = "srpic_manager",
	.init = table_init,
	.test_cases = manager_test_cases,
};

kunit_test_suite(manager_test_suite);
