// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of merging: the same frames go to GRO alone and to SRPIC, and what
 * comes up is judged frame by frame and field by field.
 *
 * srpic.merge_frames= sets how many are random, srpic.model_seed= repeats a run.
 */

#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/vmstat.h>
#include <net/page_pool/helpers.h>

#include "merge_cases.h"

static unsigned int merge_frames = 4000;
module_param(merge_frames, uint, 0644);
MODULE_PARM_DESC(merge_frames, "Number of random frames that the KUnit test merges");

KUNIT_ARRAY_PARAM_DESC(merge, merge_cases, name);

static rx_handler_result_t merge_capture(struct sk_buff **pskb)
{
	struct merge_fixture *fix;

	fix = container_of(rcu_dereference((*pskb)->dev->rx_handler_data),
			   struct merge_fixture, dev);
	__skb_queue_tail(&fix->out, *pskb);
	return RX_HANDLER_CONSUMED;
}

static int merge_init(struct kunit *test)
{
	struct page_pool_params params = {
		.pool_size = 2 * MERGE_FRAMES, .nid = NUMA_NO_NODE,
	};
	struct merge_fixture *fix;
	struct rnd_state rnd;
	unsigned int i;
	int err;

	fix = kvzalloc(sizeof(*fix), GFP_KERNEL);
	if (!fix)
		return -ENOMEM;
	__skb_queue_head_init(&fix->out);
	prandom_seed_state(&rnd, 1);
	prandom_bytes_state(&rnd, fix->noise, sizeof(fix->noise));
	for (i = 0; i < MERGE_FRAMES; i++)
		fix->arrival[i] = i;
	fix->pool = page_pool_create(&params);
	err = PTR_ERR_OR_ZERO(fix->pool);
	if (err)
		goto free;
	err = srpic_fixture_init(&fix->dev, merge_capture);
	if (err)
		goto destroy;
	fix->dev.netdev->features |= NETIF_F_GRO;
	srpic_set_ring(&fix->dev.sd, 2 * MERGE_FRAMES);
	WRITE_ONCE(fix->dev.settings->block_size, 2 * MERGE_FRAMES);
	test->priv = fix;
	return 0;

destroy:
	page_pool_destroy(fix->pool);
free:
	kvfree(fix);
	return err;
}

static void merge_exit(struct kunit *test)
{
	struct merge_fixture *fix = test->priv;

	if (!fix)
		return;
	__skb_queue_purge(&fix->out);
	srpic_fixture_exit(&fix->dev);
	page_pool_destroy(fix->pool);
	kvfree(fix);
}

/* All pages of the pool have come back to it, and none twice. */
static void expect_pool_is_whole(struct kunit *test)
{
	struct merge_fixture *fix = test->priv;

	KUNIT_EXPECT_LE(test, fix->pool->pages_state_hold_cnt, MERGE_FRAMES);
	KUNIT_EXPECT_EQ(test,
			atomic_read(&fix->pool->pages_state_release_cnt), 0);
}

static void merge_print(struct kunit *test, const char *who,
			const struct merge_piece *piece)
{
	kunit_info(test, "%s: len %u (%u), truesize %u, gso %u * %u type %#x, csum %u at %u + %u, frags %u, list %u of %u (%u), transport %u, stamp %lld, headers %*ph\n",
		   who, piece->len, piece->data_len, piece->truesize,
		   piece->gso_segs, piece->gso_size, piece->gso_type,
		   piece->ip_summed, piece->csum_start, piece->csum_offset,
		   piece->nr_frags, piece->list_skbs, piece->list_frags,
		   piece->list_truesize, piece->transport, piece->stamp,
		   60, piece->headers + ETH_HLEN);
}

/* What SRPIC makes is what GRO makes, field for field. */
static void merge_compare(struct kunit *test)
{
	struct merge_fixture *fix = test->priv;
	unsigned int i;

	for (i = 0; i < fix->num && !fix->wrong; i++) {
		const struct merge_piece *gro, *merged;

		gro = &fix->result[GRO_ALONE].piece[i];
		merged = &fix->result[MERGING].piece[i];
		if (!memcmp(gro, merged, sizeof(*gro)))
			continue;
		fix->wrong = "GRO makes other pieces";
		merge_print(test, "GRO", gro);
		merge_print(test, "SRPIC", merged);
	}
}

static void merge_case_frames(struct merge_fixture *fix,
			      const struct merge_case *c)
{
	u32 seq = 0;
	unsigned int i, j;
	u16 id = c->base.id ?: 1000;

	fix->num = c->num ?: 4;
	for (i = 0; i < fix->num; i++) {
		struct merge_frame *mf = &fix->frame[i];

		*mf = c->base;
		for (j = 0; j < sizeof(*mf) && i < 8 && c->which & BIT(i); j++)
			((u8 *)mf)[j] ^= ((const u8 *)&c->vary)[j];
		mf->f.seq ^= seq;
		mf->f.len ^= LEN;
		mf->f.what ^= WHOLE;
		mf->id ^= c->base.id ^ id;
		mf->hash ^= 2;
		if (i < 8 && c->push & BIT(i))
			mf->f.flags |= PSH;
		seq += mf->f.len + !!(mf->f.flags & FIN);
		id += !c->fixed;
		srpic_merge_write(fix, i);
	}
}

static void merge_case_device(struct net_device *netdev,
			      const struct merge_case *c)
{
	static char program;

	if (c->device == NO_GRO)
		netdev->features &= ~NETIF_F_GRO;
	else if (c->device == GRO_LISTS)
		netdev->features |= NETIF_F_GRO_FRAGLIST;
	else if (c->device == XDP)
		rcu_assign_pointer(netdev->xdp_prog, (void *)&program);
	else if (c->device == LONG_HEADER)
		netdev->hard_header_len = ETH_HLEN + 4;
	if (!c->max_size)
		return;
	if (c->base.f.what & IPV6)
		netdev->gro_max_size = c->max_size;
	else
		netdev->gro_ipv4_max_size = c->max_size;
}

static void merge_case_test(struct kunit *test)
{
	static const netdev_features_t features[] = {
		0, NETIF_F_SG, NETIF_F_SG | NETIF_F_HW_CSUM,
	};
	const struct merge_case *c = test->param_value;
	struct merge_fixture *fix = test->priv;
	unsigned int i;

	merge_case_frames(fix, c);
	merge_case_device(fix->dev.netdev, c);
	if (c->block_size)
		WRITE_ONCE(fix->dev.settings->block_size, c->block_size);
	if (c->hold)
		WRITE_ONCE(fix->dev.settings->hold_usecs, SRPIC_HOLD_USECS_MAX);

	for (i = 0; i < (c->hold ? 1 : ARRAY_SIZE(features)); i++) {
		fix->features = features[i];
		if (!c->differs)
			srpic_merge_play(fix, GRO_ALONE);
		srpic_merge_play(fix, MERGING);
		if (!c->differs)
			merge_compare(test);
		KUNIT_EXPECT_NULL_MSG(test, fix->wrong, "%s", fix->wrong);
		KUNIT_EXPECT_STREQ(test, fix->result[MERGING].order, c->out);
		KUNIT_EXPECT_TRUE(test, fix->result[MERGING].sorted);
	}
	RCU_INIT_POINTER(fix->dev.netdev->xdp_prog, NULL);
	expect_pool_is_whole(test);
}

static unsigned int below(struct rnd_state *rnd, unsigned int ceiling)
{
	return prandom_u32_state(rnd) % ceiling;
}

/* What random frames of one poll have in common. */
struct merge_shape {
	bool hold;		/* packets may wait, so there are no holes */
	bool calm;		/* all are alike */
	bool shuffled;		/* as they arrive */
	bool mixed;		/* with some that SRPIC leaves to GRO */
	bool cut;		/* into blocks, of which GRO alone knows nothing */
};

/*
 * How much payload there is. Of a head that is no page fragment, 13 bytes may be
 * linear and the rest not; then no packet may have 13 bytes: as the last one of
 * those that GRO merged, it makes skb_segment() hit a BUG_ON().
 */
static u16 merge_random_len(struct rnd_state *rnd, unsigned int max)
{
	u16 len = 1 + below(rnd, max);

	return len == 13 ? 12 : len;
}

static void merge_random_head(struct rnd_state *rnd, struct merge_frame *mf)
{
	static const u16 linear[] = { 0, 0, 13, MERGE_ALL };

	mf->head_frag = below(rnd, 2);
	mf->linear = linear[below(rnd, ARRAY_SIZE(linear))];
	mf->frags = below(rnd, 8) ? 1 : 1 + below(rnd, 5);
}

static void merge_random_csum(struct rnd_state *rnd, struct merge_frame *mf)
{
	static const u32 csums[] = { 0, 0, NO_CSUM, SUM_CSUM };

	mf->f.what &= ~(NO_CSUM | SUM_CSUM);
	mf->f.what |= csums[below(rnd, ARRAY_SIZE(csums))];
}

/* Makes another byte of the headers another one. */
static void merge_random_byte(struct rnd_state *rnd, struct merge_frame *mf)
{
	static const struct { u8 at, flip; } v4[] = {
		{ IP(tos), 1 }, { IP(tos), 0x10 }, { IP(frag_off), 0x40 },
		{ IP(frag_off), 0x80 }, { IP(ttl), 1 },
	}, v6[] = {
		{ 0, 1 }, { 1, 0x10 }, { 1, 1 }, { 3, 1 }, { IP6(hop_limit), 1 },
	}, tcp[] = {
		{ offsetof(struct tcphdr, ack_seq), 1 },
		{ offsetof(struct tcphdr, window), 1 }, { 31, 1 },
	};
	unsigned int i = below(rnd, 8);

	if (i < 5) {
		mf->at = mf->f.what & IPV6 ? v6[i].at : v4[i].at;
		mf->flip = mf->f.what & IPV6 ? v6[i].flip : v4[i].flip;
	} else {
		mf->at = merge_ip_hlen(mf) + tcp[i - 5].at;
		mf->flip = tcp[i - 5].flip;
		if (mf->at >= merge_hlen(mf))
			mf->flip = 0;
	}
}

/* Makes something about a frame differ from those ahead of it. */
static void merge_random_change(struct rnd_state *rnd, struct merge_frame *mf,
				const struct merge_shape *shape)
{
	static const u8 flags[] = { FIN, URG, ECE, CWR };

	switch (below(rnd, shape->mixed ? 16 : 13)) {
	case 0:
	case 1:
		merge_random_byte(rnd, mf);
		break;
	case 2:
		mf->f.flags ^= PSH;
		break;
	case 3:
		mf->hash ^= 1;
		break;
	case 4:
		if (mf->f.what & VLAN)
			mf->f.what ^= VLAN_PRIORITY;
		break;
	case 5:
		mf->mac ^= 1;
		break;
	case 6:
		merge_random_csum(rnd, mf);
		break;
	case 7:
		mf->skb ^= RECYCLE;
		break;
	case 8:
		merge_random_head(rnd, mf);
		break;
	case 9:
		mf->f.seq += shape->hold ? 0 : below(rnd, 1000);
		break;
	case 10:
		mf->f.len = merge_random_len(rnd, 1448);
		break;
	case 11:
		mf->id += below(rnd, 3) - 1;
		break;
	case 12:
		mf->f.tsval += !shape->shuffled;
		break;
	case 13:
		mf->f.what ^= PAGED;
		break;
	case 14:
		mf->skb ^= below(rnd, 2) ? SLOW : SHARED;
		break;
	case 15:
		if (!shape->shuffled)
			mf->f.flags ^= flags[below(rnd, ARRAY_SIZE(flags))];
		break;
	}
}

/* What the frames are like at first. */
static void merge_random_flow(struct merge_fixture *fix, struct rnd_state *rnd,
			      struct merge_frame *mf)
{
	static const u16 lens[] = { 1, 12, 50, 100, 101, 101, 256, 1448 };

	memset(mf, 0, sizeof(*mf));
	mf->f.what = (below(rnd, 2) ? IPV6 : 0) | (below(rnd, 2) ? STAMP : 0) |
		     (below(rnd, 4) ? WHOLE : 0) | (below(rnd, 4) ? 0 : VLAN);
	mf->f.seq = prandom_u32_state(rnd);
	mf->f.len = lens[below(rnd, ARRAY_SIZE(lens))];
	mf->f.tsval = prandom_u32_state(rnd);
	mf->f.port = 1024 + fix->polls++ % 60000;	/* not known yet */
	mf->id = prandom_u32_state(rnd);
	mf->hash = 1 + below(rnd, 1000);
	mf->skb = below(rnd, 4) ? 0 : RECYCLE;
	merge_random_head(rnd, mf);
	merge_random_csum(rnd, mf);
}

static void merge_random_frames(struct merge_fixture *fix, struct rnd_state *rnd,
				const struct merge_shape *shape)
{
	static const u8 id_steps[] = { 1, 1, 0, 2 };
	u16 id_step = id_steps[below(rnd, ARRAY_SIZE(id_steps))];
	struct merge_frame flow;
	unsigned int i, j;

	merge_random_flow(fix, rnd, &flow);
	fix->num = shape->calm ? MERGE_FRAMES : 2 + below(rnd, 30);
	for (i = 0; i < fix->num; i++) {
		struct merge_frame *mf = &fix->frame[i];

		if (!shape->calm && !below(rnd, 12))
			merge_random_change(rnd, &flow, shape);
		*mf = flow;
		if (!shape->calm && !below(rnd, 12))
			merge_random_change(rnd, mf, shape);
		if (!below(rnd, 32))
			mf->f.len = merge_random_len(rnd, flow.f.len);
		if (mf->head_frag && mf->linear)
			mf->skb |= below(rnd, 2) ? OTHER_CPU : 0;
		srpic_merge_write(fix, i);
		flow.f.seq = mf->f.seq + mf->f.len + !!(mf->f.flags & FIN);
		flow.id += id_step;
	}
	for (i = 0; i < fix->num; i++)
		fix->arrival[i] = i;
	for (i = fix->num - 1; i && shape->shuffled; i--) {
		j = below(rnd, i + 1);
		swap(fix->arrival[i], fix->arrival[j]);
	}
}

/* Where packets arrive, and for which device they are segmented. */
static void merge_random_device(struct merge_fixture *fix,
				struct rnd_state *rnd,
				const struct merge_shape *shape)
{
	static const netdev_features_t features[] = {
		0, NETIF_F_SG, NETIF_F_SG | NETIF_F_HW_CSUM,
	};
	u32 max_size = below(rnd, 4) ? GRO_LEGACY_MAX_SIZE :
		       100 + below(rnd, 3000);

	WRITE_ONCE(fix->dev.settings->block_size,
		   shape->cut ? 2 + below(rnd, 16) : 2 * MERGE_FRAMES);
	fix->dev.netdev->gro_max_size = max_size;
	fix->dev.netdev->gro_ipv4_max_size = max_size;
	fix->features = features[below(rnd, ARRAY_SIZE(features))];
}

/* GRO sorts by the hash what it holds when it is flushed. */
static bool merge_has_one_hash(const struct merge_fixture *fix)
{
	unsigned int i = 1;

	while (i < fix->num && fix->frame[i].hash == fix->frame[0].hash)
		i++;
	return i == fix->num;
}

static void merge_report(struct kunit *test, const struct merge_shape *shape)
{
	struct merge_fixture *fix = test->priv;
	unsigned int i;

	kunit_info(test, "calm %u, shuffled %u, mixed %u, cut %u, features %#llx, max %u\n",
		   shape->calm, shape->shuffled, shape->mixed, shape->cut,
		   fix->features, fix->dev.netdev->gro_max_size);
	for (i = 0; i < fix->num; i++) {
		const struct merge_frame *mf = &fix->frame[i];

		kunit_info(test, "%u: seq %u len %u what %#x flags %#x tsval %u id %u at %u flip %#x mac %u hash %u head %u linear %u frags %u skb %#x\n",
			   i, mf->f.seq - fix->frame[0].f.seq, mf->f.len,
			   mf->f.what, mf->f.flags, mf->f.tsval, mf->id, mf->at,
			   mf->flip, mf->mac, mf->hash, mf->head_frag,
			   mf->linear, mf->frags, mf->skb);
	}
	kunit_info(test, "GRO: %s\n", fix->result[GRO_ALONE].order);
	kunit_info(test, "SRPIC: %s\n", fix->result[MERGING].order);
}

static const struct merge_mode {
	const char *name;
	bool hold;
} merge_modes[] = {
	{ "softirq", false },
	{ "hold", true },
};

KUNIT_ARRAY_PARAM_DESC(mode, merge_modes, name);

static void random_frames_leave_as_from_gro(struct kunit *test)
{
	u64 seed = srpic_model_seed ?: get_random_u32_inclusive(1, U32_MAX);
	const struct merge_mode *mode = test->param_value;
	unsigned int frames = 0, pieces = 0, i;
	struct merge_fixture *fix = test->priv;
	ktime_t begin = ktime_get();
	struct rnd_state rnd;

	kunit_info(test, "%u frames, srpic.model_seed=%llu\n", merge_frames / 2,
		   seed);
	prandom_seed_state(&rnd, seed);
	prandom_bytes_state(&rnd, fix->noise, sizeof(fix->noise));
	if (mode->hold)
		WRITE_ONCE(fix->dev.settings->hold_usecs, SRPIC_HOLD_USECS_MAX);
	for (; frames < merge_frames / 2; frames += fix->num) {
		struct merge_shape shape = {
			.hold = mode->hold,
			.calm = !below(&rnd, 4),
			.shuffled = !mode->hold && !below(&rnd, 4),
			.mixed = !below(&rnd, 4),
		};

		shape.cut = !shape.shuffled && !below(&rnd, 4);
		merge_random_device(fix, &rnd, &shape);
		merge_random_frames(fix, &rnd, &shape);
		srpic_merge_play(fix, GRO_ALONE);
		if (!fix->wrong)
			srpic_merge_play(fix, MERGING);
		if (!shape.mixed && !shape.cut)
			merge_compare(test);
		/* GRO takes another priority or address for another flow */
		if (!fix->wrong && fix->result[GRO_ALONE].sorted &&
		    !fix->result[MERGING].sorted && merge_has_one_hash(fix))
			fix->wrong = "GRO sorts them";
		if (fix->wrong) {
			merge_report(test, &shape);
			KUNIT_FAIL(test, "seed_%llu_poll_%u: %s", seed,
				   fix->polls, fix->wrong);
			return;
		}
		for (i = 0; i < fix->num; i++)
			pieces += !!fix->result[MERGING].piece[i].len;
		cond_resched();
	}
	kunit_info(test, "%u frames of %u polls left in %u pieces, %lld ms\n",
		   frames, fix->polls, pieces, ktime_ms_delta(ktime_get(), begin));
	/* a third, but of a few frames it is chance how many are alike */
	if (merge_frames >= 100000)
		KUNIT_EXPECT_LT(test, pieces, frames / 2);
	expect_pool_is_whole(test);
}

/* So many skbs that it shows if they are. */
static void heads_of_another_cpu_are_not_lost(struct kunit *test)
{
	static const struct merge_case c = {
		.num = MERGE_FRAMES,
		.base = {
			.head_frag = true, .linear = MERGE_ALL,
			.skb = OTHER_CPU,
		},
	};
	struct merge_fixture *fix = test->priv;
	unsigned long before = 0;
	unsigned int i;

	if (IS_ENABLED(CONFIG_KASAN))
		kunit_skip(test, "what is freed is kept for a while");
	merge_case_frames(fix, &c);
	for (i = 0; i < 400; i++) {
		if (i == 10)
			before = global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B);
		srpic_merge_play(fix, MERGING);
		KUNIT_ASSERT_NULL(test, fix->wrong);
	}
	KUNIT_EXPECT_LT(test,
			global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B),
			before + 390 * MERGE_FRAMES * sizeof(struct sk_buff) /
			PAGE_SIZE / 4);
}

static struct kunit_case merge_test_cases[] = {
	KUNIT_CASE_PARAM(merge_case_test, merge_gen_params),
	KUNIT_CASE_PARAM(random_frames_leave_as_from_gro, mode_gen_params),
	KUNIT_CASE(heads_of_another_cpu_are_not_lost),
	{ }
};

static struct kunit_suite merge_test_suite = {
	.name = "srpic_merge",
	.init = merge_init,
	.exit = merge_exit,
	.test_cases = merge_test_cases,
};

kunit_test_suite(merge_test_suite);
