// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the receive path: frames into srpic_receive() of a NAPI
 * instance, and what comes out of the network core above it.
 */

#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/nodemask.h>

#include "fixture.h"
#include "rx_cases.h"
#include "rx_frame.h"

#define MAX_FRAMES	140
#define LEN		20		/* enough to be of the usual form */

KUNIT_ARRAY_PARAM_DESC(rx, rx_cases, name);

struct rx_fixture {
	struct srpic_fixture dev;
	unsigned int received;
	u8 id[MAX_FRAMES];
	u8 summed[MAX_FRAMES];		/* ip_summed on the way out, by id */
	unsigned int merged[MAX_FRAMES]; /* by GRO into this one, by id */
};

/* Takes all that comes up; skb->mark says which frame it is. */
static rx_handler_result_t rx_capture(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb, *iter;
	struct rx_fixture *fix;
	unsigned int segs = 1;

	fix = container_of(rcu_dereference(skb->dev->rx_handler_data),
			   struct rx_fixture, dev);
	if (fix->received < MAX_FRAMES)
		fix->id[fix->received] = skb->mark;
	fix->received++;
	fix->summed[skb->mark] = skb->ip_summed;
	/* a chain that goes on behind its end is cut, and has a wrong length */
	skb_walk_frags(skb, iter) {
		fix->merged[skb->mark]++;
		if (++segs != skb_shinfo(skb)->gso_segs || !iter->next)
			continue;
		fix->merged[skb->mark] += MAX_FRAMES;
		iter->next = NULL;
	}
	consume_skb(skb);
	return RX_HANDLER_CONSUMED;
}

static int rx_init(struct kunit *test)
{
	struct rx_fixture *fix;
	int err;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	if (!fix)
		return -ENOMEM;
	err = srpic_fixture_init(&fix->dev, rx_capture);
	if (err)
		return err;
	srpic_set_ring(&fix->dev.sd, 256);
	test->priv = fix;
	return 0;
}

static void rx_exit(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;

	if (!fix)
		return;
	fix->dev.netdev->dev.parent = NULL;	/* of a test */
	srpic_fixture_exit(&fix->dev);
}

static void rx_case_test(struct kunit *test)
{
	const struct rx_case *c = test->param_value;
	struct rx_fixture *fix = test->priv;
	struct sk_buff *skb[ARRAY_SIZE(c->in)];
	u64 stats[SRPIC_STATS];
	unsigned int i;

	for (i = 0; i < c->num; i++)
		skb[i] = srpic_frame_skb(test, fix->dev.netdev, &c->in[i], i);
	if (c->gro)
		fix->dev.netdev->features |= NETIF_F_GRO;

	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < c->num; i++)
		srpic_receive(&fix->dev.sn, skb[i]);
	srpic_fixture_end(&fix->dev);

	KUNIT_ASSERT_EQ(test, fix->received, c->num);
	for (i = 0; i < c->num; i++)
		KUNIT_EXPECT_EQ_MSG(test, fix->id[i], c->out[i],
				    "place %u", i);
	for (i = 0; i < c->num; i++)
		KUNIT_EXPECT_EQ(test, fix->summed[i],
				srpic_frame_summed(&c->in[i], c->gro));

	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], c->taken);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_PASSED], c->passed);
	if (c->cause < SRPIC_COUNTERS)
		KUNIT_EXPECT_GT(test, stats[c->cause], 0);
	else
		KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 0);
}

/* Sends num frames of one flow, the last first; one has PSH. */
static void rx_descending_as(struct kunit *test, unsigned int num, u32 what,
			     int pushed)
{
	struct rx_fixture *fix = test->priv;
	struct sk_buff *skb[MAX_FRAMES];
	unsigned int i;

	for (i = 0; i < num; i++) {
		int id = num - 1 - i;
		struct frame f = {
			.seq = LEN * id, .len = LEN, .what = what,
			.flags = id == pushed ? PSH : 0,
		};

		skb[i] = srpic_frame_skb(test, fix->dev.netdev, &f, id);
	}
	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < num; i++)
		srpic_receive(&fix->dev.sn, skb[i]);
}

static void rx_descending(struct kunit *test, unsigned int num)
{
	rx_descending_as(test, num, 0, -1);
}

static void full_block_is_flushed(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];
	unsigned int i;

	rx_descending(test, 2 * SRPIC_BLOCK_SIZE_DEFAULT + 1);
	srpic_fixture_end(&fix->dev);

	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_BLOCK], 2);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_POLL], 1);
	for (i = 0; i < SRPIC_BLOCK_SIZE_DEFAULT; i++)
		KUNIT_EXPECT_EQ(test, fix->id[i],
				SRPIC_BLOCK_SIZE_DEFAULT + 1 + i);
}

static void ring_full_of_packets_is_flushed(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];

	srpic_set_ring(&fix->dev.sd, 10);
	rx_descending(test, 25);
	srpic_fixture_end(&fix->dev);

	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_RING], 2);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_POLL], 1);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 25);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_OUT_OF_ORDER], 22);
}

/* As many flows of one packet as there are managers, and some more. */
static void eviction_delivers_the_evicted(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];
	struct sk_buff *skb[8];
	unsigned int i;

	/* all flows in one set of SRPIC_WAYS managers */
	memset(fix->dev.sn.srpic->table.multiplier, 0,
	       sizeof(fix->dev.sn.srpic->table.multiplier));
	for (i = 0; i < ARRAY_SIZE(skb); i++) {
		struct frame f = { .len = LEN, .port = 4000 + i };

		skb[i] = srpic_frame_skb(test, fix->dev.netdev, &f, i);
	}

	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < ARRAY_SIZE(skb); i++)
		srpic_receive(&fix->dev.sn, skb[i]);
	KUNIT_EXPECT_EQ(test, fix->dev.sn.srpic->table.num_used, SRPIC_WAYS);
	srpic_fixture_end(&fix->dev);

	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_EVICT],
			ARRAY_SIZE(skb) - SRPIC_WAYS);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_POLL], SRPIC_WAYS);

	KUNIT_ASSERT_EQ(test, fix->received, ARRAY_SIZE(skb));
	for (i = 0; i < ARRAY_SIZE(skb); i++)
		KUNIT_EXPECT_EQ(test, fix->id[i], i);
}

static void nothing_outlives_a_poll(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;

	rx_descending(test, 3);
	KUNIT_EXPECT_EQ(test, fix->received, 0);
	srpic_fixture_end(&fix->dev);
	KUNIT_EXPECT_EQ(test, fix->received, 3);
	KUNIT_EXPECT_EQ(test, fix->dev.sn.srpic->table.num_used, 0);
}

static const struct gro_case {
	const char *name;
	enum srpic_stat cause;
	unsigned int num;
} gro_cases[] = {
	{ "flushed_by_poll", SRPIC_FLUSH_POLL, 8 },
	{ "flushed_by_block", SRPIC_FLUSH_BLOCK, SRPIC_BLOCK_SIZE_DEFAULT },
	{ "flushed_by_barrier", SRPIC_FLUSH_BARRIER, 8 },
};

KUNIT_ARRAY_PARAM_DESC(gro, gro_cases, name);

/*
 * GRO makes chains of them, which end where skb->next is NULL: with PSH in the
 * middle of the block, and at its end. IPv6, because GRO merges IPv4 only with
 * DF or with an identifier that counts up, and these frames have neither.
 */
static void gro_merges_what_was_sorted(struct kunit *test)
{
	static const struct frame urgent = { 0, LEN, IPV6, URG };
	const struct gro_case *c = test->param_value;
	bool barrier = c->cause == SRPIC_FLUSH_BARRIER;
	unsigned int pushed = c->num / 2;
	struct rx_fixture *fix = test->priv;
	struct sk_buff *skb = NULL;
	u64 stats[SRPIC_STATS];
	unsigned int i;

	fix->dev.netdev->features |= NETIF_F_GRO;
	for (i = 0; i < 2; i++) {
		unsigned int before = fix->received;

		if (barrier)
			skb = srpic_frame_skb(test, fix->dev.netdev, &urgent,
					      c->num);
		rx_descending_as(test, c->num, IPV6, pushed);
		if (barrier)
			srpic_receive(&fix->dev.sn, skb);
		srpic_fixture_end(&fix->dev);
		KUNIT_EXPECT_EQ(test, fix->received, before + 2 + barrier);
		KUNIT_EXPECT_EQ(test, fix->id[before], 0);
		KUNIT_EXPECT_EQ(test, fix->id[before + 1], pushed + 1);
		KUNIT_EXPECT_EQ(test, fix->merged[0], (i + 1) * pushed);
		KUNIT_EXPECT_EQ(test, fix->merged[pushed + 1],
				(i + 1) * (c->num - pushed - 2));
	}
	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[c->cause], 2);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
}

/* Blocks become shorter while one is held, and only then. */
static void settings_change_at_a_full_flush(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];
	struct sk_buff *skb[6];
	unsigned int i;

	srpic_set_ring(&fix->dev.sd, 4);
	for (i = 0; i < ARRAY_SIZE(skb); i++) {
		struct frame f = { .seq = LEN * i, .len = LEN };

		skb[i] = srpic_frame_skb(test, fix->dev.netdev, &f, i);
	}

	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < ARRAY_SIZE(skb); i++) {
		srpic_receive(&fix->dev.sn, skb[i]);
		WRITE_ONCE(fix->dev.settings->block_size, 2);
	}
	srpic_fixture_end(&fix->dev);

	/* four packets in one block, then two */
	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_RING], 1);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_BLOCK], 1);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
}

/* What is left until a full flush is counted anew in each poll. */
static void full_flush_begins_the_count_anew(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];
	unsigned int i;

	srpic_set_ring(&fix->dev.sd, 4);
	for (i = 0; i < 2; i++) {
		rx_descending(test, 3);
		srpic_fixture_end(&fix->dev);
	}
	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_RING], 0);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_POLL], 2);
}

/* What is passed by takes no part in it, whatever it flushes. */
static void fragment_leaves_the_count_as_it_is(struct kunit *test)
{
	static const struct frame f[] = {
		{ 60, LEN }, { 40, LEN }, { 20, LEN }, { 0, LEN, FRAGMENT },
		{ 0, LEN },
	};
	struct rx_fixture *fix = test->priv;
	struct sk_buff *skb[ARRAY_SIZE(f)];
	u64 stats[SRPIC_STATS];
	unsigned int i;

	srpic_set_ring(&fix->dev.sd, 4);
	for (i = 0; i < ARRAY_SIZE(f); i++)
		skb[i] = srpic_frame_skb(test, fix->dev.netdev, &f[i], i);

	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < ARRAY_SIZE(f); i++)
		srpic_receive(&fix->dev.sn, skb[i]);
	KUNIT_EXPECT_EQ(test, fix->received, ARRAY_SIZE(f));
	srpic_fixture_end(&fix->dev);

	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_BARRIER], 1);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_RING], 1);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
}

/* The first packet of a flow can fill a block, and the ring. */
static void one_packet_can_be_all(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];

	WRITE_ONCE(fix->dev.settings->block_size, 1);
	rx_descending(test, 3);
	KUNIT_EXPECT_EQ(test, fix->received, 3);
	srpic_fixture_end(&fix->dev);
	WRITE_ONCE(fix->dev.settings->block_size, SRPIC_BLOCK_SIZE_DEFAULT);

	srpic_set_ring(&fix->dev.sd, 1);
	rx_descending(test, 3);
	KUNIT_EXPECT_EQ(test, fix->received, 6);
	srpic_fixture_end(&fix->dev);

	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_BLOCK], 3);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_RING], 3);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 6);
}

/* The loopback device, which has no use for them, and drops them. */
static void devices_do_not_mix(struct kunit *test)
{
	static const struct frame f[] = { { LEN, LEN }, { 0, LEN } };
	struct rx_fixture *fix = test->priv;
	struct sk_buff *skb[ARRAY_SIZE(f)];
	u64 stats[SRPIC_STATS];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(f); i++)
		skb[i] = srpic_frame_skb(test, fix->dev.netdev, &f[i], i);
	skb[1]->dev = dev_net(fix->dev.netdev)->loopback_dev;

	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < ARRAY_SIZE(f); i++)
		srpic_receive(&fix->dev.sn, skb[i]);
	srpic_fixture_end(&fix->dev);

	KUNIT_EXPECT_EQ(test, fix->received, 1);
	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 2);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
}

/* What any host can send us. */
static const struct frame strangers[] = {
	{ 0, 20, FRAGMENT | OTHER_ADDRESS },
	{ 0, 20, FRAGMENT | OTHER_ADDRESS, .form = 1 },
	{ 0, 20, IP_OPTION | OTHER_ADDRESS },
	{ 0, 0, SHORT_TCP | OTHER_ADDRESS },
	{ 0, 0, SHORT_TCP | OTHER_ADDRESS, .form = 1 },
	{ 0, 20, IPV6 | FRAGMENT },
	{ 0, 20, IPV6 | FRAGMENT | UDP },
	{ 0, 20, IPV6 | IP_OPTION },
	{ 0, 20, IPV6 | NO_NEXT },
	{ 0, 0, IPV6 | SHORT_TCP },
	{ 0, 0, IPV6 | SHORT_TCP, .form = 1 },
};

static void rx_stranger_desc(const struct frame *f, char *desc)
{
	sprintf(desc, "what_%#x_form_%u", f->what, f->form);
}

KUNIT_ARRAY_PARAM(rx_stranger, strangers, rx_stranger_desc);

/* One for each packet of a busy flow. */
static void flood_of_strangers_does_not_shorten_blocks(struct kunit *test)
{
	const struct frame *stranger = test->param_value;
	const unsigned int num = SRPIC_BLOCK_SIZE_DEFAULT;
	struct rx_fixture *fix = test->priv;
	struct sk_buff *skb[2 * SRPIC_BLOCK_SIZE_DEFAULT];
	u64 stats[SRPIC_STATS];
	unsigned int i;

	for (i = 0; i < num; i++) {
		struct frame f = { .seq = LEN * (num - i), .len = LEN };

		skb[2 * i] = srpic_frame_skb(test, fix->dev.netdev, &f, 0);
		skb[2 * i + 1] = srpic_frame_skb(test, fix->dev.netdev,
						 stranger, 0);
	}
	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < 2 * num; i++)
		srpic_receive(&fix->dev.sn, skb[i]);
	srpic_fixture_end(&fix->dev);

	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], num);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_PASSED], num);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 1);
}

/* Wherever the CPU that switches SRPIC on is. */
static void context_is_on_the_node_of_the_device(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	struct device *parent;
	int node;

	if (num_online_nodes() < 2)
		kunit_skip(test, "needs two NUMA nodes, such as numa=fake=2");
	parent = kunit_device_register(test, "srpic");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, parent);
	fix->dev.netdev->dev.parent = parent;
	for_each_online_node(node) {
		set_dev_node(parent, node);
		srpic_del_napi(&fix->dev.sn);
		srpic_add_napi(&fix->dev.sd, &fix->dev.sn, &fix->dev.napi);
		KUNIT_ASSERT_NOT_NULL(test, fix->dev.sn.srpic);
		KUNIT_EXPECT_EQ(test, node,
				page_to_nid(virt_to_page(fix->dev.sn.srpic)));
	}
}

static void switched_off_in_a_poll_strands_nothing(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;

	rx_descending(test, 3);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, srpic_enable(&fix->dev.sd, false), 0);
	local_bh_disable();
	srpic_fixture_end(&fix->dev);
	KUNIT_EXPECT_EQ(test, fix->received, 3);
	KUNIT_EXPECT_EQ(test, fix->id[0], 0);

	/* and the next poll does not sort */
	rx_descending(test, 3);
	KUNIT_EXPECT_NULL(test, fix->dev.sn.poll);
	srpic_fixture_end(&fix->dev);
	KUNIT_EXPECT_EQ(test, fix->received, 6);
	KUNIT_EXPECT_EQ(test, fix->id[3], 2);
}

static void counters_outlive_the_napi_instance(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];

	rx_descending(test, 3);
	srpic_fixture_end(&fix->dev);
	srpic_del_napi(&fix->dev.sn);
	srpic_add_napi(&fix->dev.sd, &fix->dev.sn, &fix->dev.napi);
	KUNIT_EXPECT_NOT_NULL(test, fix->dev.sn.active);

	rx_descending(test, 3);
	srpic_fixture_end(&fix->dev);
	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 6);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
}

static void added_twice_is_added_once(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];

	srpic_add_napi(&fix->dev.sd, &fix->dev.sn, &fix->dev.napi);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&fix->dev.sd.napis));

	rx_descending(test, 3);
	srpic_fixture_end(&fix->dev);
	srpic_fixture_stats(&fix->dev, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 3);
}

static struct kunit_case rx_test_cases[] = {
	KUNIT_CASE_PARAM(rx_case_test, rx_gen_params),
	KUNIT_CASE(full_block_is_flushed),
	KUNIT_CASE(ring_full_of_packets_is_flushed),
	KUNIT_CASE(eviction_delivers_the_evicted),
	KUNIT_CASE(nothing_outlives_a_poll),
	KUNIT_CASE_PARAM(gro_merges_what_was_sorted, gro_gen_params),
	KUNIT_CASE(settings_change_at_a_full_flush),
	KUNIT_CASE(full_flush_begins_the_count_anew),
	KUNIT_CASE(fragment_leaves_the_count_as_it_is),
	KUNIT_CASE(one_packet_can_be_all),
	KUNIT_CASE(devices_do_not_mix),
	KUNIT_CASE_PARAM(flood_of_strangers_does_not_shorten_blocks,
			 rx_stranger_gen_params),
	KUNIT_CASE(context_is_on_the_node_of_the_device),
	KUNIT_CASE(switched_off_in_a_poll_strands_nothing),
	KUNIT_CASE(counters_outlive_the_napi_instance),
	KUNIT_CASE(added_twice_is_added_once),
	{ }
};

static struct kunit_suite rx_test_suite = {
	.name = "srpic_rx",
	.init = rx_init,
	.exit = rx_exit,
	.test_cases = rx_test_cases,
};

kunit_test_suite(rx_test_suite);
