// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the receive path: frames into srpic_receive() of a NAPI
 * instance, and what comes out of the network core above it.
 */

#include <kunit/test.h>
#include <linux/netdevice.h>

#include "fixture.h"
#include "rx_cases.h"
#include "rx_frame.h"
#include "../srpic_parse.h"

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

	if (fix)
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

	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < c->num; i++)
		srpic_receive(&fix->dev.sn, &fix->dev.napi, skb[i]);
	srpic_fixture_end(&fix->dev);

	KUNIT_ASSERT_EQ(test, fix->received, c->num);
	for (i = 0; i < c->num; i++)
		KUNIT_EXPECT_EQ_MSG(test, fix->id[i], c->out[i],
				    "place %u", i);
	for (i = 0; i < c->num; i++)
		KUNIT_EXPECT_EQ(test, fix->summed[i],
				srpic_frame_summed(&c->in[i]));

	srpic_get_stats(&fix->dev.sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], c->taken);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_PASSED], c->passed);
	if (c->cause < SRPIC_COUNTERS)
		KUNIT_EXPECT_GT(test, stats[c->cause], 0);
	else
		KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 0);
}

static bool rx_is_usual(const struct frame *f)
{
	return f->len > TCPOLEN_TSTAMP_ALIGNED && !f->no_ack &&
	       !(f->flags & ~PSH) &&
	       !(f->what & ~(IPV6 | STAMP | VLAN | VLAN_PRIORITY | VLAN_0 |
			     VLAN_SERVICE | OTHER_PORT | OTHER_ADDRESS |
			     OTHER_DEST | OTHER_SOURCE | WHOLE | SUM_CSUM |
			     BAD_HEADER));
}

static bool rx_look(struct sk_buff *skb, const struct srpic_key *key,
		    u64 *other)
{
	return srpic_is_usual(skb, key, other) ||
	       srpic_is_usual_sum(skb, key, other);
}

/* The fast look at a packet says what the thorough one does, or nothing. */
static void rx_usual_test(struct kunit *test)
{
	const struct rx_case *c = test->param_value;
	struct rx_fixture *fix = test->priv;
	unsigned int i, bit;

	for (i = 0; i < c->num; i++) {
		struct srpic_key key = {}, same = {};
		struct srpic_cb cb;
		struct sk_buff *skb;
		u64 other;

		skb = srpic_frame_skb(test, fix->dev.netdev, &c->in[i], i);
		if (!rx_look(skb, &key, &other)) {
			KUNIT_EXPECT_FALSE(test, rx_is_usual(&c->in[i]));
			consume_skb(skb);
			continue;
		}
		cb = *SRPIC_CB(skb);
		KUNIT_EXPECT_EQ(test, srpic_classify(skb, &key), SRPIC_TAKE);
		KUNIT_EXPECT_EQ(test, cb.stamp, SRPIC_CB(skb)->stamp);
		KUNIT_EXPECT_EQ(test, cb.seq, SRPIC_CB(skb)->seq);
		KUNIT_EXPECT_EQ(test, cb.end_seq, SRPIC_CB(skb)->end_seq);
		srpic_usual_key(skb, &same);
		KUNIT_EXPECT_MEMEQ(test, &same, &key, sizeof(key));

		KUNIT_EXPECT_TRUE(test, rx_look(skb, &key, &other));
		KUNIT_EXPECT_EQ(test, other, 0);
		for (bit = 0; bit < 64 * SRPIC_KEY_WORDS; bit++) {
			same = key;
			same.word[bit / 64] ^= BIT_ULL(bit % 64);
			rx_look(skb, &same, &other);
			KUNIT_EXPECT_EQ_MSG(test, !other,
					    srpic_key_equal(&same, &key),
					    "bit %u", bit);
		}
		consume_skb(skb);
	}
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
		srpic_receive(&fix->dev.sn, &fix->dev.napi, skb[i]);
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

	srpic_get_stats(&fix->dev.sd, stats);
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

	srpic_get_stats(&fix->dev.sd, stats);
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
		srpic_receive(&fix->dev.sn, &fix->dev.napi, skb[i]);
	KUNIT_EXPECT_EQ(test, fix->dev.sn.srpic->table.num_used, SRPIC_WAYS);
	srpic_fixture_end(&fix->dev);

	srpic_get_stats(&fix->dev.sd, stats);
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
			srpic_receive(&fix->dev.sn, &fix->dev.napi, skb);
		srpic_fixture_end(&fix->dev);
		KUNIT_EXPECT_EQ(test, fix->received, before + 2 + barrier);
		KUNIT_EXPECT_EQ(test, fix->id[before], 0);
		KUNIT_EXPECT_EQ(test, fix->id[before + 1], pushed + 1);
		KUNIT_EXPECT_EQ(test, fix->merged[0], (i + 1) * pushed);
		KUNIT_EXPECT_EQ(test, fix->merged[pushed + 1],
				(i + 1) * (c->num - pushed - 2));
	}
	srpic_get_stats(&fix->dev.sd, stats);
	KUNIT_EXPECT_EQ(test, stats[c->cause], 2);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
}

/* Blocks become shorter while one is held, and only then. */
static void settings_change_at_a_full_flush(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	struct srpic_net *settings = srpic_net(dev_net(fix->dev.netdev));
	int block_size = READ_ONCE(settings->block_size);
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
		srpic_receive(&fix->dev.sn, &fix->dev.napi, skb[i]);
		WRITE_ONCE(settings->block_size, 2);
	}
	srpic_fixture_end(&fix->dev);
	WRITE_ONCE(settings->block_size, block_size);

	/* four packets in one block, then two */
	srpic_get_stats(&fix->dev.sd, stats);
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
	srpic_get_stats(&fix->dev.sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_RING], 0);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_POLL], 2);
}

/* The first packet of a flow can fill a block, and the ring. */
static void one_packet_can_be_all(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	struct srpic_net *settings = srpic_net(dev_net(fix->dev.netdev));
	int block_size = READ_ONCE(settings->block_size);
	u64 stats[SRPIC_STATS];

	WRITE_ONCE(settings->block_size, 1);
	rx_descending(test, 3);
	KUNIT_EXPECT_EQ(test, fix->received, 3);
	srpic_fixture_end(&fix->dev);
	WRITE_ONCE(settings->block_size, block_size);

	srpic_set_ring(&fix->dev.sd, 1);
	rx_descending(test, 3);
	KUNIT_EXPECT_EQ(test, fix->received, 6);
	srpic_fixture_end(&fix->dev);

	srpic_get_stats(&fix->dev.sd, stats);
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
		srpic_receive(&fix->dev.sn, &fix->dev.napi, skb[i]);
	srpic_fixture_end(&fix->dev);

	KUNIT_EXPECT_EQ(test, fix->received, 1);
	srpic_get_stats(&fix->dev.sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 2);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
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
	srpic_add_napi(&fix->dev.sd, &fix->dev.sn);
	KUNIT_EXPECT_NOT_NULL(test, fix->dev.sn.active);

	rx_descending(test, 3);
	srpic_fixture_end(&fix->dev);
	srpic_get_stats(&fix->dev.sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 6);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
}

static void added_twice_is_added_once(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];

	srpic_add_napi(&fix->dev.sd, &fix->dev.sn);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&fix->dev.sd.napis));

	rx_descending(test, 3);
	srpic_fixture_end(&fix->dev);
	srpic_get_stats(&fix->dev.sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 3);
}

static struct kunit_case rx_test_cases[] = {
	KUNIT_CASE_PARAM(rx_case_test, rx_gen_params),
	KUNIT_CASE_PARAM(rx_usual_test, rx_gen_params),
	KUNIT_CASE(full_block_is_flushed),
	KUNIT_CASE(ring_full_of_packets_is_flushed),
	KUNIT_CASE(eviction_delivers_the_evicted),
	KUNIT_CASE(nothing_outlives_a_poll),
	KUNIT_CASE_PARAM(gro_merges_what_was_sorted, gro_gen_params),
	KUNIT_CASE(settings_change_at_a_full_flush),
	KUNIT_CASE(full_flush_begins_the_count_anew),
	KUNIT_CASE(one_packet_can_be_all),
	KUNIT_CASE(devices_do_not_mix),
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
