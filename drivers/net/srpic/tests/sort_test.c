// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the sorter: packets of one flow in, one ordered list out. */

#include <kunit/test.h>
#include <linux/slab.h>

#include "../srpic_priv.h"

#define MAX_PKTS	20

struct sort_pkt {
	u32 seq;
	u32 len;
	u32 tsval;			/* 0: without timestamp */
	enum srpic_place place;
};

struct sort_case {
	const char *name;
	unsigned int num;
	struct sort_pkt in[MAX_PKTS];	/* in order of arrival */
	u8 out[MAX_PKTS];		/* indices into in, as they leave */
};

#define CURR(seq, len, ts)	{ seq, len, ts, SRPIC_CURR }
#define PREV(seq, len, ts)	{ seq, len, ts, SRPIC_PREV }
#define AFTER(seq, len, ts)	{ seq, len, ts, SRPIC_AFTER }
/* refused: what is held leaves, and then the packet is added */
#define OVERLAP(seq, len, ts)	{ seq, len, ts, SRPIC_REFUSED_OVERLAP }
#define STAMP(seq, len, ts)	{ seq, len, ts, SRPIC_REFUSED_TIMESTAMP }

static const struct sort_case sort_cases[] = {
	{
		.name = "paper_table_2",
		.num = 7,
		.in = { CURR(2, 1, 0), CURR(3, 1, 0), PREV(1, 1, 0),
			CURR(4, 1, 0), AFTER(6, 1, 0), AFTER(7, 1, 0),
			CURR(5, 1, 0) },
		.out = { 2, 0, 1, 3, 6, 4, 5 },
	}, {
		.name = "in_order_goes_to_curr",
		.num = 4,
		.in = { CURR(100, 10, 7), CURR(110, 20, 7), CURR(130, 1, 8),
			CURR(131, 5, 8) },
		.out = { 0, 1, 2, 3 },
	}, {
		.name = "hole_is_released_at_flush",
		.num = 3,
		.in = { CURR(1, 1, 0), AFTER(3, 1, 0), AFTER(4, 1, 0) },
		.out = { 0, 1, 2 },
	}, {
		.name = "descending_is_sorted_in_prev",
		.num = 5,
		.in = { CURR(50, 10, 0), PREV(40, 10, 0), PREV(30, 10, 0),
			PREV(20, 10, 0), PREV(10, 10, 0) },
		.out = { 4, 3, 2, 1, 0 },
	}, {
		.name = "after_is_sorted",
		.num = 5,
		.in = { CURR(10, 10, 0), AFTER(70, 10, 0), AFTER(50, 10, 0),
			AFTER(30, 10, 0), AFTER(60, 10, 0) },
		.out = { 0, 3, 2, 4, 1 },
	}, {
		.name = "sequence_numbers_wrap",
		.num = 5,
		.in = { CURR(0xfffffff0, 0x20, 0), AFTER(0x30, 0x10, 0),
			PREV(0xffffffd0, 0x20, 0), CURR(0x10, 0x20, 0),
			CURR(0x40, 0x10, 0) },
		.out = { 2, 0, 3, 1, 4 },
	}, {
		.name = "wrap_within_prev",
		.num = 4,
		.in = { CURR(0x40, 0x10, 0), PREV(0x10, 0x10, 0),
			PREV(0xfffffff0, 0x10, 0), PREV(0, 0x10, 0) },
		.out = { 2, 3, 1, 0 },
	}, {
		.name = "equal_keeps_arrival_order_in_after",
		.num = 4,
		.in = { CURR(0, 10, 0), AFTER(20, 10, 0), AFTER(20, 5, 0),
			AFTER(20, 10, 0) },
		.out = { 0, 1, 2, 3 },
	}, {
		.name = "equal_keeps_arrival_order_in_prev",
		.num = 4,
		.in = { CURR(50, 10, 0), PREV(20, 10, 0), PREV(30, 10, 0),
			PREV(20, 5, 0) },
		.out = { 1, 3, 2, 0 },
	}, {
		.name = "duplicate_of_curr_opens_the_next_block",
		.num = 4,
		.in = { CURR(0, 10, 0), CURR(10, 10, 0), OVERLAP(0, 10, 0),
			PREV(10, 10, 0) },
		.out = { 0, 1, 2, 3 },
	}, {
		.name = "overlap_of_curr_opens_the_next_block",
		.num = 3,
		.in = { CURR(0, 10, 0), CURR(10, 10, 0), OVERLAP(15, 10, 0) },
		.out = { 0, 1, 2 },
	}, {
		.name = "hole_filled_exactly_then_duplicate_of_after",
		.num = 4,
		.in = { CURR(0, 10, 0), AFTER(20, 10, 0), CURR(10, 10, 0),
			OVERLAP(20, 10, 0) },
		.out = { 0, 2, 1, 3 },
	}, {
		.name = "in_sequence_beyond_head_of_after",
		.num = 4,
		.in = { CURR(0, 10, 0), AFTER(20, 10, 0), CURR(10, 11, 0),
			CURR(30, 10, 0) },
		.out = { 0, 2, 1, 3 },
	}, {
		.name = "in_sequence_beyond_all_of_after",
		.num = 4,
		.in = { CURR(0, 10, 0), AFTER(20, 10, 0), CURR(10, 40, 0),
			CURR(50, 10, 0) },
		.out = { 0, 2, 1, 3 },
	}, {
		.name = "filled_hole_goes_on_to_the_next",
		.num = 7,
		.in = { CURR(0, 10, 0), AFTER(20, 10, 0), AFTER(50, 10, 0),
			AFTER(30, 10, 0), CURR(10, 10, 0), CURR(40, 10, 0),
			CURR(60, 10, 0) },
		.out = { 0, 4, 1, 3, 5, 2, 6 },
	}, {
		.name = "filled_hole_takes_equal_ones_along",
		.num = 5,
		.in = { CURR(0, 10, 0), AFTER(20, 10, 0), AFTER(20, 10, 0),
			CURR(10, 10, 0), CURR(30, 10, 0) },
		.out = { 0, 3, 1, 2, 4 },
	}, {
		.name = "aggregate_is_a_range",
		.num = 4,
		.in = { CURR(14480, 14480, 5), AFTER(43440, 1448, 5),
			PREV(0, 14480, 5), CURR(28960, 14480, 5) },
		.out = { 2, 0, 3, 1 },
	}, {
		.name = "farthest_above_is_sorted",
		.num = 3,
		.in = { CURR(0, 10, 0), AFTER(0x3fffffff, 1, 0),
			AFTER(20, 1, 0) },
		.out = { 0, 2, 1 },
	}, {
		.name = "too_far_above_opens_the_next_block",
		.num = 2,
		.in = { CURR(0, 10, 0), OVERLAP(0x40000000, 1, 0) },
		.out = { 0, 1 },
	}, {
		.name = "farthest_below_is_sorted",
		.num = 3,
		.in = { CURR(0, 10, 0), PREV(0xc0000001, 1, 0),
			PREV(0xfffffff0, 1, 0) },
		.out = { 1, 2, 0 },
	}, {
		.name = "too_far_below_opens_the_next_block",
		.num = 2,
		.in = { CURR(0, 10, 0), OVERLAP(0xc0000000, 1, 0) },
		.out = { 0, 1 },
	}, {
		.name = "opposite_half_opens_the_next_block",
		.num = 2,
		.in = { CURR(0, 10, 0), OVERLAP(0x80000000, 1, 0) },
		.out = { 0, 1 },
	}, {
		/* PAWS: D1 D2 D3 (t), then the retransmission R0 (t + 50) */
		.name = "newer_stays_behind_older_curr",
		.num = 4,
		.in = { CURR(10, 10, 100), CURR(20, 10, 100),
			CURR(30, 10, 100), STAMP(0, 10, 150) },
		.out = { 0, 1, 2, 3 },
	}, {
		.name = "newer_stays_behind_older_after",
		.num = 3,
		.in = { CURR(10, 10, 150), AFTER(30, 10, 100),
			STAMP(0, 10, 150) },
		.out = { 0, 1, 2 },
	}, {
		.name = "newer_stays_behind_older_prev",
		.num = 3,
		.in = { CURR(50, 10, 150), PREV(30, 10, 100),
			STAMP(20, 10, 150) },
		.out = { 1, 0, 2 },
	}, {
		.name = "newer_may_follow_older_prev",
		.num = 3,
		.in = { CURR(50, 10, 150), PREV(30, 10, 100),
			PREV(40, 10, 150) },
		.out = { 1, 2, 0 },
	}, {
		.name = "newer_in_sequence_stays_behind_older_after",
		.num = 3,
		.in = { CURR(0, 10, 100), AFTER(20, 10, 100),
			STAMP(10, 10, 150) },
		.out = { 0, 1, 2 },
	}, {
		.name = "newer_stays_behind_older_within_after",
		.num = 4,
		.in = { CURR(0, 10, 100), AFTER(20, 10, 100),
			AFTER(50, 10, 100), STAMP(30, 10, 150) },
		.out = { 0, 1, 2, 3 },
	}, {
		.name = "newer_may_end_after",
		.num = 4,
		.in = { CURR(0, 10, 100), AFTER(50, 10, 100),
			AFTER(20, 10, 100), AFTER(60, 10, 150) },
		.out = { 0, 2, 1, 3 },
	}, {
		.name = "older_stays_behind_newer_within_after",
		.num = 3,
		.in = { CURR(0, 10, 100), AFTER(20, 10, 150),
			STAMP(40, 10, 100) },
		.out = { 0, 1, 2 },
	}, {
		.name = "older_stays_behind_newer_within_prev",
		.num = 3,
		.in = { CURR(50, 10, 150), PREV(20, 10, 120),
			STAMP(30, 10, 100) },
		.out = { 1, 0, 2 },
	}, {
		.name = "older_moves_ahead_freely",
		.num = 4,
		.in = { CURR(30, 10, 103), AFTER(60, 10, 106),
			PREV(10, 10, 101), AFTER(50, 10, 105) },
		.out = { 2, 0, 3, 1 },
	}, {
		.name = "older_after_is_remembered",
		.num = 4,
		.in = { CURR(0, 10, 100), AFTER(50, 10, 100),
			AFTER(60, 10, 120), STAMP(10, 10, 110) },
		.out = { 0, 1, 2, 3 },
	}, {
		.name = "older_after_is_found",
		.num = 4,
		.in = { CURR(0, 10, 100), AFTER(50, 10, 120),
			AFTER(40, 10, 100), STAMP(10, 10, 110) },
		.out = { 0, 2, 1, 3 },
	}, {
		.name = "oldest_curr_is_the_first",
		.num = 3,
		.in = { CURR(10, 10, 100), CURR(20, 10, 150),
			STAMP(0, 10, 120) },
		.out = { 0, 1, 2 },
	}, {
		.name = "older_curr_is_remembered",
		.num = 3,
		.in = { CURR(10, 10, 150), CURR(20, 10, 100),
			STAMP(0, 10, 150) },
		.out = { 0, 1, 2 },
	}, {
		.name = "timestamps_wrap",
		.num = 3,
		.in = { CURR(10, 10, 5), PREV(0, 10, 0xfffffff0),
			AFTER(30, 10, 6) },
		.out = { 1, 0, 2 },
	}, {
		.name = "newer_across_the_timestamp_wrap",
		.num = 2,
		.in = { CURR(10, 10, 0xfffffff0), STAMP(0, 10, 5) },
		.out = { 0, 1 },
	}, {
		.name = "timestamps_too_far_apart_to_compare",
		.num = 2,
		.in = { CURR(10, 10, 1), STAMP(20, 10, 0x40000001) },
		.out = { 0, 1 },
	}, {
		.name = "newer_across_the_timestamp_wrap_in_after",
		.num = 4,
		.in = { CURR(0, 10, 0xfffffff0), AFTER(20, 10, 0xfffffff0),
			AFTER(50, 10, 0xfffffff0), STAMP(30, 10, 5) },
		.out = { 0, 1, 2, 3 },
	}, {
		.name = "newer_passes_as_new_across_the_wrap",
		.num = 4,
		.in = { CURR(0xffffffc0, 0x10, 100), AFTER(0xffffffe0, 0x10, 100),
			AFTER(0x10, 0x10, 150), AFTER(0xfffffff0, 0x10, 150) },
		.out = { 0, 1, 3, 2 },
	}, {
		.name = "equal_keeps_arrival_order_behind_older",
		.num = 5,
		.in = { CURR(0, 10, 100), AFTER(20, 10, 100),
			AFTER(40, 10, 150), AFTER(40, 10, 150),
			AFTER(20, 10, 150) },
		.out = { 0, 1, 4, 2, 3 },
	}, {
		.name = "with_and_without_timestamp",
		.num = 4,
		.in = { CURR(0, 10, 1), STAMP(10, 10, 0), CURR(20, 10, 0),
			STAMP(30, 10, 1) },
		.out = { 0, 1, 2, 3 },
	},
};

KUNIT_ARRAY_PARAM_DESC(sort, sort_cases, name);

static struct net_device a_device;

struct sort_fixture {
	struct srpic_block block;
	struct sk_buff_head out;
	struct sk_buff *skb[MAX_PKTS];
};

static int sort_init(struct kunit *test)
{
	struct sort_fixture *fix;
	unsigned int i;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	if (!fix)
		return -ENOMEM;
	__skb_queue_head_init(&fix->out);
	srpic_block_init(&fix->block);
	fix->block.netdev = &a_device;
	for (i = 0; i < MAX_PKTS; i++) {
		fix->skb[i] = kunit_kzalloc(test, sizeof(*fix->skb[i]),
					    GFP_KERNEL);
		if (!fix->skb[i])
			return -ENOMEM;
	}
	test->priv = fix;
	return 0;
}

static struct sk_buff *sort_packet(struct sk_buff *skb,
				   const struct sort_pkt *pkt)
{
	const __be32 option[] = { htonl(0x0101080a), htonl(pkt->tsval) };

	*SRPIC_CB(skb) = (struct srpic_cb) {
		.stamp = pkt->tsval ? get_unaligned((const u64 *)option) : 0,
		.seq = pkt->seq,
		.end_seq = pkt->seq + pkt->len,
		.tsval = 0xdeadbeef,
	};
	/* lists must not rely on what was there */
	skb->next = LIST_POISON1;
	skb->prev = LIST_POISON2;
	skb->dev = &a_device;
	return skb;
}

/* How many packets are held. */
static unsigned int sort_held(const struct sort_fixture *fix)
{
	return fix->block.pkts + srpic_list_len(&fix->block.after);
}

static void sort_deliver(struct kunit *test)
{
	struct sort_fixture *fix = test->priv;
	struct sk_buff *skb, *next;

	skb_list_walk_safe(srpic_block_take(&fix->block, true), skb, next) {
		KUNIT_EXPECT_PTR_EQ(test, skb->dev, &a_device);
		__skb_queue_tail(&fix->out, skb);
	}
}

static void sort_case_test(struct kunit *test)
{
	const struct sort_case *c = test->param_value;
	struct sort_fixture *fix = test->priv;
	struct srpic_block *block = &fix->block;
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < c->num; i++) {
		unsigned int pkts = sort_held(fix);
		enum srpic_place place;

		skb = sort_packet(fix->skb[i], &c->in[i]);
		place = srpic_block_add(block, skb);
		KUNIT_EXPECT_EQ_MSG(test, place, c->in[i].place,
				    "packet %u", i);
		if (place < SRPIC_REFUSED_OVERLAP) {
			KUNIT_EXPECT_EQ(test, sort_held(fix), pkts + 1);
			continue;
		}
		KUNIT_EXPECT_EQ(test, sort_held(fix), pkts);
		sort_deliver(test);
		KUNIT_EXPECT_LT(test, srpic_block_add(block, skb),
				SRPIC_REFUSED_OVERLAP);
	}
	sort_deliver(test);
	KUNIT_EXPECT_TRUE(test, srpic_block_is_empty(block));

	i = 0;
	skb_queue_walk(&fix->out, skb) {
		KUNIT_ASSERT_LT(test, i, c->num);
		KUNIT_EXPECT_PTR_EQ_MSG(test, skb, fix->skb[c->out[i]],
					"place %u", i);
		i++;
	}
	KUNIT_EXPECT_EQ(test, i, c->num);
}

static bool sort_append(struct sort_fixture *fix, unsigned int i, u32 seq,
			u32 tsval)
{
	struct sort_pkt pkt = { .seq = seq, .len = 10, .tsval = tsval };

	return srpic_block_append(&fix->block, sort_packet(fix->skb[i], &pkt));
}

static void sort_add(struct sort_fixture *fix, unsigned int i, u32 seq,
		     u32 len, u32 tsval)
{
	struct sort_pkt pkt = { .seq = seq, .len = len, .tsval = tsval };

	srpic_block_add(&fix->block, sort_packet(fix->skb[i], &pkt));
}

static void only_what_continues_is_appended(struct kunit *test)
{
	struct sort_fixture *fix = test->priv;

	KUNIT_EXPECT_FALSE(test, sort_append(fix, 0, 0, 0));
	sort_add(fix, 0, 10, 10, 5);
	KUNIT_EXPECT_TRUE(test, sort_append(fix, 1, 20, 5));
	KUNIT_EXPECT_FALSE(test, sort_append(fix, 2, 20, 5));
	KUNIT_EXPECT_FALSE(test, sort_append(fix, 2, 40, 5));
	KUNIT_EXPECT_FALSE(test, sort_append(fix, 2, 30, 6));
	KUNIT_EXPECT_FALSE(test, sort_append(fix, 2, 30, 0));
	KUNIT_EXPECT_TRUE(test, sort_append(fix, 2, 30, 5));
	sort_add(fix, 3, 0, 10, 5);
	KUNIT_EXPECT_TRUE(test, sort_append(fix, 4, 40, 5));
	sort_add(fix, 5, 70, 10, 5);
	KUNIT_EXPECT_FALSE(test, sort_append(fix, 6, 50, 5));
	KUNIT_EXPECT_EQ(test, sort_held(fix), 6);

	sort_deliver(test);
	KUNIT_EXPECT_FALSE(test, sort_append(fix, 6, 50, 5));
	KUNIT_EXPECT_TRUE(test, srpic_block_is_empty(&fix->block));
}

static unsigned int list_seqs(const struct srpic_list *list, u32 *seq)
{
	struct sk_buff *skb;
	unsigned int num = 0;

	skb_queue_walk(&list->skbs, skb)
		seq[num++] = SRPIC_CB(skb)->seq;
	return num;
}

static unsigned int curr_seqs(const struct srpic_block *block, u32 *seq)
{
	const struct sk_buff *skb = block->curr;
	unsigned int num = 0;

	seq[num++] = SRPIC_CB(skb)->seq;
	for (; skb != block->curr_tail; skb = skb->next)
		seq[num++] = SRPIC_CB(skb->next)->seq;
	return num;
}

/*
 * The lists themselves, as the last column of the paper's Table 2 has them, but
 * for the last packet: it fills the hole, so all of after joins curr.
 */
static void paper_table_2_lists(struct kunit *test)
{
	static const u32 arrival[] = { 2, 3, 1, 4, 6, 7, 5 };
	static const u32 prev[] = { 1 }, curr[] = { 2, 3, 4 };
	static const u32 after[] = { 6, 7 }, all[] = { 2, 3, 4, 5, 6, 7 };
	struct sort_fixture *fix = test->priv;
	struct srpic_block *block = &fix->block;
	u32 seq[MAX_PKTS];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arrival) - 1; i++)
		sort_add(fix, i, arrival[i], 1, 0);

	KUNIT_ASSERT_EQ(test, list_seqs(&block->prev, seq), ARRAY_SIZE(prev));
	KUNIT_EXPECT_MEMEQ(test, seq, prev, sizeof(prev));
	KUNIT_ASSERT_EQ(test, curr_seqs(block, seq), ARRAY_SIZE(curr));
	KUNIT_EXPECT_MEMEQ(test, seq, curr, sizeof(curr));
	KUNIT_ASSERT_EQ(test, list_seqs(&block->after, seq), ARRAY_SIZE(after));
	KUNIT_EXPECT_MEMEQ(test, seq, after, sizeof(after));
	KUNIT_EXPECT_EQ(test, block->next_exp, 5);

	sort_add(fix, i, arrival[i], 1, 0);
	KUNIT_ASSERT_EQ(test, curr_seqs(block, seq), ARRAY_SIZE(all));
	KUNIT_EXPECT_MEMEQ(test, seq, all, sizeof(all));
	KUNIT_EXPECT_EQ(test, srpic_list_len(&block->after), 0);
	KUNIT_EXPECT_EQ(test, block->next_exp, 8);
}

#define MANY_PKTS	1000

/* Longer than what is walked: every other packet, in an order that jumps. */
static void long_list_is_sorted(struct kunit *test)
{
	struct sort_fixture *fix = test->priv;
	struct sk_buff *skb, *next;
	unsigned int i, num = 0;
	u32 seq;

	for (i = 0; i < MANY_PKTS; i++) {
		/* 7 has no divisor in common with that */
		u32 place = i ? 1 + 7 * i % (MANY_PKTS - 1) : 0;
		struct sort_pkt pkt = { .seq = 20 * place, .len = 10 };

		skb = kunit_kzalloc(test, sizeof(*skb), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_ASSERT_EQ(test, i ? SRPIC_AFTER : SRPIC_CURR,
				srpic_block_add(&fix->block,
						sort_packet(skb, &pkt)));
	}
	/* the hole in front, and another one above */
	sort_add(fix, 0, 10, 10, 0);
	sort_add(fix, 1, 50, 10, 0);
	KUNIT_EXPECT_EQ(test, fix->block.pkts, 3);
	KUNIT_EXPECT_EQ(test, fix->block.next_exp, 30);

	seq = 0;
	skb_list_walk_safe(srpic_block_take(&fix->block, true), skb, next) {
		KUNIT_EXPECT_FALSE(test, before(SRPIC_CB(skb)->seq, seq));
		KUNIT_EXPECT_PTR_EQ(test, skb->dev, &a_device);
		seq = SRPIC_CB(skb)->end_seq;
		num++;
	}
	KUNIT_EXPECT_EQ(test, num, MANY_PKTS + 2);
	KUNIT_EXPECT_EQ(test, fix->block.next_exp, 20 * MANY_PKTS - 10);
}

/*
 * The paper's Table 1 and Figure 3. The text of the paper does not give the
 * sequence in the figure: this one was built to have its figures.
 */
static const u32 figure_3[] = {
	1, 3, 4, 6, 2, 5, 7, 8, 9, 11, 10, 13, 12, 14, 16, 15, 18, 17, 19, 20
};

struct table_1 {
	const char *name;
	unsigned int block_size;
	unsigned int reordered;
	unsigned int max_extent;
};

static const struct table_1 table_1_rows[] = {
	{ "block_size_1", 1, 6, 3 },
	{ "block_size_5", 5, 3, 1 },
	{ "block_size_10", 10, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(table_1, table_1_rows, name);

/* RFC 4737: reordered (3.3) and its extent (4.2.1), packet by packet. */
static unsigned int reordering_extent(const u32 *seq, unsigned int i)
{
	unsigned int j;

	for (j = 0; j < i; j++)
		if (seq[j] > seq[i])
			return i - j;
	return 0;
}

static void paper_table_1(struct kunit *test)
{
	const struct table_1 *row = test->param_value;
	unsigned int i, reordered = 0, max_extent = 0;
	struct sort_fixture *fix = test->priv;
	u32 seq[ARRAY_SIZE(figure_3)];
	struct sk_buff *skb;

	for (i = 0; i < ARRAY_SIZE(figure_3); i++) {
		struct sort_pkt pkt = { .seq = figure_3[i], .len = 1 };

		srpic_block_add(&fix->block, sort_packet(fix->skb[i], &pkt));
		if (sort_held(fix) == row->block_size)
			sort_deliver(test);
	}
	i = 0;
	skb_queue_walk(&fix->out, skb)
		seq[i++] = SRPIC_CB(skb)->seq;
	KUNIT_ASSERT_EQ(test, i, ARRAY_SIZE(figure_3));

	for (i = 0; i < ARRAY_SIZE(figure_3); i++) {
		unsigned int extent = reordering_extent(seq, i);

		reordered += !!extent;
		max_extent = max(max_extent, extent);
	}
	KUNIT_EXPECT_EQ(test, reordered, row->reordered);
	KUNIT_EXPECT_EQ(test, max_extent, row->max_extent);
}

static struct kunit_case sort_test_cases[] = {
	KUNIT_CASE_PARAM(sort_case_test, sort_gen_params),
	KUNIT_CASE(only_what_continues_is_appended),
	KUNIT_CASE(paper_table_2_lists),
	KUNIT_CASE(long_list_is_sorted),
	KUNIT_CASE_PARAM(paper_table_1, table_1_gen_params),
	{ }
};

static struct kunit_suite sort_test_suite = {
	.name = "srpic_sort",
	.init = sort_init,
	.test_cases = sort_test_cases,
};

kunit_test_suite(sort_test_suite);
