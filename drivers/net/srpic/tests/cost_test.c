// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit measurements: what a packet costs in srpic_receive() and as its share
 * of srpic_end(), and what it costs in GRO, without SRPIC and behind it.
 *
 * Each case prints one line, "cost: " and an object of JSON: sums over so many
 * polls of so many packets, in cycles of the CPU's counter. Where time is
 * virtual, as in the testbed, a cycle is an instruction. What is judged is that
 * all packets come out, sorted, and that usual forms do not cost twice as much
 * as the most usual one.
 *
 * srpic.cost_polls= sets how many polls.
 */

#include <kunit/test.h>
#include <linux/hash.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/timex.h>
#include <net/gro.h>
#include <net/hotdata.h>

#include "cost_cases.h"
#include "fixture.h"

#define MAX_PKTS	128
#define PAYLOAD		100

static s64 cost_in_order;		/* of the first case, to compare with */

static unsigned int cost_polls = 2;
module_param(cost_polls, uint, 0644);
MODULE_PARM_DESC(cost_polls, "Number of polls that the KUnit test measures");

KUNIT_ARRAY_PARAM_DESC(cost, cost_cases, name);

/* The same packets go each way. */
enum cost_way {
	PLAIN		= 0,
	SRPIC_ON	= BIT(0),	/* as the case has it */
	GRO_ON		= BIT(1),	/* or a packet is put on a list and no more */
	SRPIC_GRO	= SRPIC_ON | GRO_ON,
	WAYS
};

/**
 * struct cost_fixture - a device, and the poll that it has
 * @dev: the device
 * @c: what is measured
 * @rnd: source of all that is random, the same in each run
 * @arrival: packets by place in the order that was sent, as they arrive
 * @port: of a flow, what the flows differ in
 * @skb: packets as they arrive
 * @left: how many packets came out
 * @skbs: in how many pieces, of which GRO makes larger ones
 * @unsorted: packets that came out before or after one that they should not
 * @next: of a flow, the packet that should come out next
 * @base: packets of former polls, if the flow goes on
 */
struct cost_fixture {
	struct srpic_fixture dev;
	const struct cost_case *c;
	struct rnd_state rnd;
	u8 arrival[MAX_PKTS];
	u16 port[MAX_PKTS];
	struct sk_buff *skb[MAX_PKTS];
	unsigned int left;
	unsigned int skbs;
	unsigned int unsorted;
	unsigned int next[MAX_PKTS];
	unsigned int base;
};

static unsigned int below(struct cost_fixture *fix, unsigned int ceiling)
{
	return prandom_u32_state(&fix->rnd) % ceiling;
}

static void cost_see(struct cost_fixture *fix, const struct sk_buff *skb)
{
	unsigned int *next = &fix->next[skb->mark % fix->c->flows];

	fix->left++;
	fix->unsorted += skb->mark != *next;
	*next = skb->mark + fix->c->flows;
}

static rx_handler_result_t cost_capture(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb, *iter;
	struct cost_fixture *fix;

	fix = container_of(rcu_dereference(skb->dev->rx_handler_data),
			   struct cost_fixture, dev);
	fix->skbs++;
	cost_see(fix, skb);
	skb_walk_frags(skb, iter)
		cost_see(fix, iter);
	consume_skb(skb);
	return RX_HANDLER_CONSUMED;
}

static int cost_init(struct kunit *test)
{
	struct cost_fixture *fix;
	int err;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	if (!fix)
		return -ENOMEM;
	err = srpic_fixture_init(&fix->dev, cost_capture);
	if (err)
		return err;

	/* what leaves GRO waits for the end of the poll, unmeasured */
	WRITE_ONCE(net_hotdata.gro_normal_batch, 2 * MAX_PKTS);
	srpic_set_ring(&fix->dev.sd, 2 * MAX_PKTS);
	prandom_seed_state(&fix->rnd, 1);
	test->priv = fix;
	return 0;
}

static void cost_exit(struct kunit *test)
{
	struct cost_fixture *fix = test->priv;

	if (fix)
		srpic_fixture_exit(&fix->dev);
}

/* Has the packets of one block, which are in order, arrive. */
static void cost_reorder(struct cost_fixture *fix, u8 *pkt)
{
	const struct cost_case *c = fix->c;
	unsigned int i, j;

	switch (c->order) {
	case IN_ORDER:
	case PATHS:
		break;
	case LATE:
		pkt += below(fix, c->block - c->late_by);
		for (i = 0; i < c->late_by; i++)
			swap(pkt[i], pkt[i + 1]);
		break;
	case SHUFFLED:
		for (i = c->block - 1; i; i--) {
			j = below(fix, i + 1);
			swap(pkt[i], pkt[j]);
		}
		break;
	case DESCENDING:
	case DEEPEST:
		for (i = 0; i < c->block / 2; i++)
			swap(pkt[i], pkt[c->block - 1 - i]);
		if (c->order == DESCENDING)
			break;
		/* the lowest one second: the others belong behind it */
		for (i = c->block - 1; i > 1; i--)
			swap(pkt[i], pkt[i - 1]);
		break;
	}
}

/* What arrives in the next poll, whichever way it goes. */
static void cost_arrange(struct cost_fixture *fix)
{
	const struct cost_case *c = fix->c;
	unsigned int i;

	for (i = 0; i < c->pkts; i++)
		fix->arrival[i] = i;
	for (i = 0; i < c->pkts; i += c->block)
		cost_reorder(fix, fix->arrival + i);
	for (i = 0; i < c->flows && !c->hold; i++)
		fix->port[i] = 1024 + 1000 * i + below(fix, 1000);
}

static void cost_make(struct kunit *test, struct cost_fixture *fix)
{
	const struct cost_case *c = fix->c;
	unsigned int i;

	for (i = 0; i < c->pkts; i++) {
		unsigned int pkt = fix->arrival[i];
		unsigned int early = c->order == PATHS && !(pkt % 2) ?
				     c->late_by : 0;
		struct frame f = {
			.seq = (fix->base + pkt / c->flows + early) * PAYLOAD,
			.len = PAYLOAD,
			.what = c->what | WHOLE,
			.tsval = 1000 + (c->ticked && pkt % c->block),
			.port = fix->port[pkt % c->flows], .form = c->linear,
		};

		fix->skb[i] = srpic_frame_skb(test, fix->dev.netdev, &f, pkt);
		/* GRO goes by it */
		skb_set_hash(fix->skb[i], hash_32(f.port, 32),
			     PKT_HASH_TYPE_L4);
	}
}

/* Receives the packets, and returns how many cycles that takes. */
static u64 cost_receive(struct cost_fixture *fix, enum cost_way way)
{
	struct napi_struct *napi = &fix->dev.napi;
	struct srpic_napi *sn = &fix->dev.sn;
	unsigned int i, num = fix->c->pkts;
	cycles_t begin, end;
	unsigned long flags;

	local_irq_save(flags);
	begin = get_cycles();
	if (way & SRPIC_ON) {
		srpic_begin(sn);
		for (i = 0; i < num; i++)
			srpic_receive(sn, fix->skb[i]);
		srpic_end(sn, true);
	} else {
		for (i = 0; i < num; i++)
			napi_gro_receive(napi, fix->skb[i]);
	}
	napi_gro_flush(napi, false);
	end = get_cycles();
	local_irq_restore(flags);
	return end - begin;
}

static u64 cost_poll(struct kunit *test, enum cost_way way)
{
	struct cost_fixture *fix = test->priv;
	u64 cycles;
	u8 flow;

	cost_make(test, fix);
	if (fix->c->hold && way & SRPIC_ON)
		fix->base += fix->c->pkts;
	fix->left = 0;
	fix->unsorted = 0;
	for (flow = 0; flow < fix->c->flows; flow++)
		fix->next[flow] = flow;
	if (way & GRO_ON)
		fix->dev.netdev->features |= NETIF_F_GRO;
	else
		fix->dev.netdev->features &= ~NETIF_F_GRO;

	srpic_fixture_begin(&fix->dev);
	cycles = cost_receive(fix, way);
	srpic_fixture_end(&fix->dev);

	/* GRO merges what is in fragments already without a trace */
	if (fix->c->order != PATHS &&
	    (!(way & GRO_ON) || !(fix->c->what & (PAGED | SPLIT)))) {
		KUNIT_EXPECT_EQ(test, fix->left, fix->c->pkts);
		if (way & SRPIC_ON)
			KUNIT_EXPECT_EQ(test, fix->unsorted, 0);
	}
	return cycles;
}

static void cost_case_test(struct kunit *test)
{
	s64 sum[WAYS] = {}, min = S64_MAX, max = S64_MIN;
	const struct cost_case *c = test->param_value;
	struct cost_fixture *fix = test->priv;
	unsigned int poll, way, skbs[WAYS] = {};

	fix->c = c;
	WRITE_ONCE(fix->dev.settings->block_size, c->block);
	if (c->hold)
		WRITE_ONCE(fix->dev.settings->hold_usecs, SRPIC_HOLD_USECS_MAX);
	if (c->off)
		KUNIT_ASSERT_EQ(test, srpic_enable(&fix->dev.sd, false), 0);

	/* the first poll warms up */
	for (poll = 0; poll <= cost_polls; poll++) {
		s64 cycles[WAYS];

		cost_arrange(fix);
		for (way = 0; way < WAYS; way++) {
			fix->skbs = 0;
			cycles[way] = cost_poll(test, way);
			if (!poll)
				continue;
			sum[way] += cycles[way];
			skbs[way] += fix->skbs;
		}
		if (!poll)
			continue;
		min = min(min, cycles[SRPIC_ON] - cycles[PLAIN]);
		max = max(max, cycles[SRPIC_ON] - cycles[PLAIN]);
	}

	if (c == cost_cases)
		cost_in_order = sum[SRPIC_ON] - sum[PLAIN];
	if (c->usual)
		KUNIT_EXPECT_LT(test, sum[SRPIC_ON] - sum[PLAIN],
				2 * cost_in_order);
	kunit_info(test, "cost: {\"case\": \"%s\", \"flows\": %u, \"block\": %u, \"timestamp\": %u, \"ipv6\": %u, \"pkts\": %u, \"polls\": %u, \"srpic\": %lld, \"srpic_min\": %lld, \"srpic_max\": %lld, \"gro\": %lld, \"srpic_and_gro\": %lld, \"gro_skbs\": %u, \"srpic_and_gro_skbs\": %u}",
		   c->name, c->flows, c->block, !!(c->what & STAMP),
		   !!(c->what & IPV6), c->pkts, cost_polls,
		   sum[SRPIC_ON] - sum[PLAIN], min, max, sum[GRO_ON],
		   sum[SRPIC_GRO], skbs[GRO_ON], skbs[SRPIC_GRO]);
}

static struct kunit_case cost_test_cases[] = {
	KUNIT_CASE_PARAM(cost_case_test, cost_gen_params),
	{ }
};

static struct kunit_suite cost_test_suite = {
	.name = "srpic_cost",
	.init = cost_init,
	.exit = cost_exit,
	.test_cases = cost_test_cases,
};

kunit_test_suite(cost_test_suite);
