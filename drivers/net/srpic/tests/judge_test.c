// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the reference model: it sees each fault that there can be. */

#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/if_vlan.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <net/checksum.h>

#include "model_play.h"

enum tampering {
	TWICE, NEVER, SWAP, FAULT, TIME, GAUGE, ALARM, COUNT, PAIR, MOVE,
	SMALLER, LIMIT
};

/* What is done to the account of a run, and what the judge must see then. */
struct tampered {
	enum model_invariant broken;
	enum tampering what;
	unsigned int where;
	unsigned int value;
};

static const struct tampered tamperings[] = {
	{ MODEL_PERMUTATION, TWICE, 1, 0 },
	{ MODEL_PERMUTATION, NEVER },
	{ MODEL_UNALTERED, FAULT, 3, MODEL_ALTERED },
	{ MODEL_ONE_WAY_OUT, FAULT, 3, MODEL_ASTRAY },
	{ MODEL_SORTED, SWAP, 0, 1 },
	{ MODEL_NO_NEW_REORDERING, SWAP, 1, 2 },	/* the barrier */
	{ MODEL_NO_NEW_REORDERING, SWAP, 4, 5 },
	{ MODEL_PAWS, SWAP, 4, 5 },
	{ MODEL_PAWS, SWAP, 6, 7 },			/* with and without */
	{ MODEL_EMPTY_IN_TIME, TIME, 3, 8 },		/* the next poll */
	{ MODEL_EMPTY_IN_TIME, TIME, 5, MODEL_LATE },
	{ MODEL_EMPTY_IN_TIME, NEVER },
	{ MODEL_BOUNDED, SMALLER, 0, 2 },
	{ MODEL_BOUNDED, LIMIT, 0, 2 },
	{ MODEL_BOUNDED, TIME, 8, 26 },			/* five flows */
	{ MODEL_FLUSHED_FOR_A_CAUSE, TIME, 0, 2 },	/* too early */
	{ MODEL_FLUSHED_FOR_A_CAUSE, SMALLER, 0, 2 },	/* too late */
	{ MODEL_COUNTED, COUNT, SRPIC_FLUSH_POLL, 1 },
	{ MODEL_COUNTED, COUNT, SRPIC_FLUSH_EVICT, 1 },
	{ MODEL_COUNTED, COUNT, SRPIC_PACKETS_OUT_OF_ORDER, -1 },
	{ MODEL_COUNTED, COUNT, SRPIC_BLOCKS, 1 },
	/* and nothing but that one of two counters is too high */
	{ MODEL_COUNTED, PAIR, SRPIC_FLUSH_RING, 1 },
	{ MODEL_COUNTED, PAIR, SRPIC_FLUSH_EVICT, 1 },
	{ MODEL_COUNTED, PAIR, SRPIC_FLUSH_OVERLAP, 1 },
	{ MODEL_COUNTED, PAIR, SRPIC_FLUSH_TIMESTAMP, 1 },
	/* and that a flush is counted as another one */
	{ MODEL_COUNTED, MOVE, SRPIC_FLUSH_RING, SRPIC_FLUSH_EVICT },
	{ MODEL_COUNTED, MOVE, SRPIC_FLUSH_EVICT, SRPIC_FLUSH_RING },
	{ MODEL_COUNTED, MOVE, SRPIC_FLUSH_OVERLAP, SRPIC_FLUSH_TIMESTAMP },
	{ MODEL_COUNTED, MOVE, SRPIC_FLUSH_TIMESTAMP, SRPIC_FLUSH_OVERLAP },
};

/* Three polls, in which blocks are flushed for six causes. */
static const struct model_pkt flushed[] = {
	{ 20, 5, 10, .how = MODEL_STAMP },
	{ 10, 5, 10, .how = MODEL_STAMP },
	{ 30, 5, 10, .how = MODEL_STAMP, .kind = MODEL_URG },
	{ 50, 5, 10, .how = MODEL_STAMP | MODEL_LAST },
	{ 40, 5, 10, .how = MODEL_STAMP },
	{ 70, 9, 10, .how = MODEL_STAMP | MODEL_LAST },
	{ 80, 9, 10, .how = MODEL_STAMP },
	{ 90, .len = 10 },	/* flushes: has no timestamp */
	{ 95, .len = 10 },	/* flushes: overlaps */
	{ 10, .len = 10, .flow = BIT(0) },
	{ 10, .len = 10, .flow = BIT(1) },
	{ 10, .len = 10, .flow = BIT(2) },
	{ 10, .len = 10, .flow = BIT(3) },	/* evicts 95 */
	{ 20, .len = 10, .flow = BIT(3) },	/* reaches the limit */
};

/* Likewise with hold, of what waits. */
static const struct tampered hold_tamperings[] = {
	{ MODEL_EMPTY_IN_TIME, TIME, 4, 13 },		/* not the first poll */
	{ MODEL_EMPTY_IN_TIME, TIME, 4, 19 },
	{ MODEL_EMPTY_IN_TIME, TIME, 14, MODEL_LATE },	/* stranded */
	{ MODEL_EMPTY_IN_TIME, NEVER },
	{ MODEL_EMPTY_IN_TIME, ALARM, 2, 101 },
	{ MODEL_EMPTY_IN_TIME, ALARM, 6, UINT_MAX },
	{ MODEL_WAITS_FOR_A_HOLE, TIME, 0, 9 },		/* the first packet */
	{ MODEL_WAITS_FOR_A_HOLE, TIME, 5, 19 },	/* in order */
	{ MODEL_WAITS_FOR_A_HOLE, TIME, 1, 13 },	/* fills the hole */
	{ MODEL_WAITS_FOR_A_HOLE, TIME, 2, 11 },	/* behind it */
	{ MODEL_WAITS_FOR_A_HOLE, TIME, 6, 20 },	/* over the barrier */
	{ MODEL_WAITS_FOR_A_HOLE, TIME, 8, 20 },	/* first behind it */
	{ MODEL_WAITS_FOR_A_HOLE, TIME, 11, 26 },	/* below the SYN */
	{ MODEL_WAITS_FOR_A_HOLE, LIMIT, 0, 2 },
	{ MODEL_SORTED, SWAP, 1, 2 },
	{ MODEL_NO_NEW_REORDERING, SWAP, 8, 9 },	/* is below the ACK */
	{ MODEL_NO_NEW_REORDERING, TIME, 14, 20 },	/* leaves for the ACK */
	{ MODEL_FLUSHED_FOR_A_CAUSE, TIME, 7, 15 },	/* the barrier itself */
	{ MODEL_COUNTED, GAUGE, 2, 1 },
	{ MODEL_COUNTED, GAUGE, 9, 0 },
	{ MODEL_COUNTED, COUNT, SRPIC_PACKETS_TAKEN, 1 },
	{ MODEL_COUNTED, COUNT, SRPIC_PACKETS_PASSED, 1 },
	{ MODEL_COUNTED, COUNT, SRPIC_PACKETS_OUT_OF_ORDER, -2 },
	{ MODEL_COUNTED, COUNT, SRPIC_PACKETS_OUT_OF_ORDER, 9 },
	{ MODEL_COUNTED, COUNT, SRPIC_BLOCKS, 1 },
	{ MODEL_COUNTED, COUNT, SRPIC_HELD_USECS_MAX, -1 },
	{ MODEL_COUNTED, COUNT, SRPIC_HELD_USECS_MAX, 1000 },
	{ MODEL_COUNTED, PAIR, SRPIC_FLUSH_POLL, 1 },
	{ MODEL_COUNTED, PAIR, SRPIC_FLUSH_POLL, -1 },
	{ MODEL_COUNTED, MOVE, SRPIC_FLUSH_BARRIER, SRPIC_FLUSH_POLL },
	{ MODEL_COUNTED, MOVE, SRPIC_FLUSH_DEADLINE, SRPIC_FLUSH_POLL },
	{ MODEL_COUNTED, MOVE, SRPIC_FLUSH_HOLE, SRPIC_FLUSH_POLL },
};

/* Packets wait for a hole, a deadline, a barrier, and until NAPI stops. */
static const struct model_pkt waiting[] = {
	{ 10, .len = 10 },
	{ 30, .len = 10 },
	{ 50, .len = 10, .how = MODEL_LAST, .pause = 40 },
	{ 20, .len = 10 },	/* takes 30 along */
	{ 70, .len = 10, .flow = BIT(0), .how = MODEL_LAST, .pause = 60 },
	{ 80, .len = 10, .flow = BIT(0), .how = MODEL_BUDGET },	/* 50 leaves */
	{ 80, .len = 10, .how = MODEL_LAST, .pause = 20 },
	{ 90, .len = 10, .kind = MODEL_URG },
	{ 200, .len = 10 },
	{ 220, .len = 10, .how = MODEL_LAST },
	{ 210, .kind = MODEL_PURE_ACK },	/* overtakes 220 */
	{ 100, .kind = MODEL_SYN, .flow = BIT(1) },
	{ 90, .len = 10, .flow = BIT(1), .how = MODEL_LAST },
	/* a fourth and a fifth flow: too late to excuse what waited before */
	{ 10, .len = 10, .flow = BIT(2) },
	{ 10, .len = 10, .flow = BIT(3) },
};

static void tamper(struct model_run *run, struct model_trace *trace,
		   const struct tampered *t)
{
	switch (t->what) {
	case TWICE:
		run->id[t->where] = run->id[t->value];
		break;
	case NEVER:
		run->num--;
		break;
	case SWAP:
		swap(run->id[t->where], run->id[t->value]);
		break;
	case FAULT:
		run->fault[t->where] |= t->value;
		break;
	case TIME:
		run->time[t->where] = t->value;
		break;
	case GAUGE:
		run->held[t->where] = t->value;
		break;
	case ALARM:
		run->alarm[t->where] = t->value;
		break;
	case COUNT:
		run->count[t->where] += (int)t->value;
		break;
	case PAIR:
		run->count[t->where] += (int)t->value;
		run->count[SRPIC_BLOCKS] += (int)t->value;
		break;
	case MOVE:
		run->count[t->where]--;
		run->count[t->value]++;
		break;
	case SMALLER:
		trace->block_size = t->value;
		break;
	case LIMIT:
		trace->limit = t->value;
		break;
	}
}

static void expect_seen(struct kunit *test, struct model_trace trace,
			const struct tampered *t, unsigned int num)
{
	struct model_trace original = trace;
	struct model_fixture *fix = test->priv;
	struct model_run *run = &fix->run;
	unsigned int i;

	for (i = 0; i < num; i++) {
		trace = original;
		KUNIT_ASSERT_EQ(test, srpic_model_play(fix, &trace), 0);
		KUNIT_ASSERT_FALSE(test, fix->no_memory);
		tamper(run, &trace, &t[i]);
		KUNIT_EXPECT_TRUE_MSG(test,
				      srpic_model_judge(&fix->model, run) &
				      BIT(t[i].broken), "tampering %u", i);
	}
}

static void judge_sees_each_fault(struct kunit *test)
{
	const struct model_trace trace = {
		.block_size = 32, .limit = 8,
		.num = ARRAY_SIZE(flushed), .pkt = flushed,
	};

	expect_seen(test, trace, tamperings, ARRAY_SIZE(tamperings));
}

static void judge_sees_each_fault_with_hold(struct kunit *test)
{
	const struct model_trace trace = {
		.block_size = 32, .hold_usecs = 100,
		.num = ARRAY_SIZE(waiting), .pkt = waiting,
	};

	expect_seen(test, trace, hold_tamperings, ARRAY_SIZE(hold_tamperings));
}

enum alteration {
	NOTHING, BYTE, LENGTH, NO_TAG, TAG, TAG_PROTO, PROTOCOL, GSO_SIZE,
	GSO_SEGS, GSO_TYPE, MISPLACED, SUM, LEVEL, NONE, COMPLETE, UNNECESSARY,
	HASH, L4_HASH, QUEUE, TSTAMP, TRUESIZE, CLONE
};

static void alter(struct sk_buff *skb, enum alteration what)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	switch (what) {
	case BYTE:
		skb->data[skb_headlen(skb) - 1] ^= 1;
		break;
	case LENGTH:
		skb->len--;
		break;
	case NO_TAG:
		__vlan_hwaccel_clear_tag(skb);
		break;
	case TAG:
		skb->vlan_tci ^= 1;
		break;
	case TAG_PROTO:
		skb->vlan_proto = htons(ETH_P_8021AD);
		break;
	case PROTOCOL:
		skb->protocol = htons(ETH_P_IPV6);
		break;
	case GSO_SIZE:
		info->gso_size++;
		break;
	case GSO_SEGS:
		info->gso_segs++;
		break;
	case GSO_TYPE:
		info->gso_type ^= SKB_GSO_TCPV4;
		break;
	case MISPLACED:
		skb_frag_off_add(&info->frags[info->nr_frags - 1], 1);
		break;
	case SUM:
		skb->csum = csum_add(skb->csum, (__force __wsum)1);
		break;
	case LEVEL:
		skb->csum_level++;
		break;
	case NONE:
		skb->ip_summed = CHECKSUM_NONE;
		break;
	case COMPLETE:
		skb->ip_summed = CHECKSUM_COMPLETE;
		break;
	case UNNECESSARY:
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		break;
	default:
		break;
	}
}

/* Returns the packet, or a clone; NULL if there is no memory. */
static struct sk_buff *alter_metadata(struct sk_buff *skb, enum alteration what)
{
	struct sk_buff *clone;

	switch (what) {
	case HASH:
		skb->hash ^= 1;
		break;
	case L4_HASH:
		skb->l4_hash = 0;
		break;
	case QUEUE:
		skb->queue_mapping = 0;
		break;
	case TSTAMP:
		skb->tstamp = 0;
		break;
	case TRUESIZE:
		skb->truesize++;
		break;
	case CLONE:
		clone = skb_clone(skb, GFP_KERNEL);
		consume_skb(skb);
		return clone;
	default:
		break;
	}
	return skb;
}

#define AGGREGATE	{ .len = 14480, .flow = BIT(1) }
#define DATA(sum)	{ .len = 10, .flow = BIT(1), .how = (sum) }
#define BAD		{ .len = 10, .flow = BIT(1), .kind = MODEL_BAD_CSUM }

/* A packet, what is done to it, and whether it should be. */
static const struct {
	struct model_pkt pkt;
	enum alteration what;
	bool is_right;
} alterations[] = {
	{ AGGREGATE, NOTHING, true },
	{ AGGREGATE, BYTE },
	{ AGGREGATE, LENGTH },
	{ AGGREGATE, NO_TAG },
	{ AGGREGATE, TAG },
	{ AGGREGATE, TAG_PROTO },
	{ AGGREGATE, PROTOCOL },
	{ AGGREGATE, GSO_SIZE },
	{ AGGREGATE, GSO_SEGS },
	{ AGGREGATE, GSO_TYPE },
	{ AGGREGATE, MISPLACED },
	{ AGGREGATE, NONE },
	{ DATA(0), NOTHING, true },
	{ DATA(0), BYTE },
	{ DATA(0), GSO_SIZE },
	{ DATA(0), LEVEL },
	{ DATA(0), COMPLETE },
	{ DATA(MODEL_UNSUMMED), NOTHING, true },
	{ DATA(MODEL_UNSUMMED), UNNECESSARY },
	{ DATA(MODEL_SUMMED), NOTHING, true },
	{ DATA(MODEL_SUMMED), SUM },
	{ DATA(MODEL_SUMMED), UNNECESSARY },
	{ DATA(0), HASH },
	{ DATA(0), L4_HASH },
	{ DATA(0), QUEUE },
	{ DATA(0), TSTAMP },
	{ DATA(0), TRUESIZE },
	{ DATA(0), CLONE },
	{ BAD, NOTHING, true },
	{ BAD, UNNECESSARY },
};

static void each_alteration_is_seen(struct kunit *test)
{
	struct model_fixture *fix = test->priv;
	unsigned int i;
	bool altered;

	for (i = 0; i < ARRAY_SIZE(alterations); i++) {
		struct model_trace trace = {
			.num = 1, .pkt = &alterations[i].pkt,
		};
		struct sk_buff *skb;

		srpic_model_begin(fix, &trace);
		local_bh_disable();
		skb = srpic_model_make(fix, 0);
		local_bh_enable();
		KUNIT_ASSERT_NOT_NULL(test, skb);
		alter(skb, alterations[i].what);
		skb = alter_metadata(skb, alterations[i].what);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		altered = srpic_model_is_altered(skb, fix->page, trace.pkt,
						 &fix->frame[0]);
		KUNIT_EXPECT_EQ_MSG(test, altered, !alterations[i].is_right,
				    "alteration %u", i);
		/* or it could not be freed */
		if (alterations[i].what == LENGTH)
			skb->len++;
		kfree_skb(skb);
	}
}

static void another_way_out_is_seen(struct kunit *test)
{
	static const struct model_pkt pkt = { .len = 10 };
	struct model_trace trace = { .num = 1, .pkt = &pkt };
	struct model_fixture *fix = test->priv;
	struct sk_buff *skb;

	if (!MODEL_SEES_WAY_OUT)
		kunit_skip(test, "needs CONFIG_NET_RX_BUSY_POLL");
	srpic_model_begin(fix, &trace);
	local_bh_disable();
	skb = srpic_model_make(fix, 0);
	if (skb)
		netif_receive_skb(skb);
	local_bh_enable();
	KUNIT_ASSERT_FALSE(test, fix->no_memory);
	KUNIT_EXPECT_EQ(test, fix->run.num, 1);
	KUNIT_EXPECT_EQ(test, fix->run.fault[0], MODEL_ASTRAY);
}

static struct kunit_case judge_test_cases[] = {
	KUNIT_CASE(judge_sees_each_fault),
	KUNIT_CASE(judge_sees_each_fault_with_hold),
	KUNIT_CASE(each_alteration_is_seen),
	KUNIT_CASE(another_way_out_is_seen),
	{ }
};

static struct kunit_suite judge_test_suite = {
	.name = "srpic_judge",
	.init = srpic_model_init,
	.exit = srpic_model_exit,
	.test_cases = judge_test_cases,
};

kunit_test_suite(judge_test_suite);
