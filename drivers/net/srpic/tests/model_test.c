// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit property tests: random traces through a NAPI instance, judged by the
 * reference model. One that fails is made as short as it can be and printed as
 * an entry of model_cases[].
 *
 * srpic.model_traces= sets how many, srpic.model_seed= repeats a run.
 */

#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/ktime.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sprintf.h>

#include "model_play.h"
#include "../srpic_priv.h"

static unsigned int model_traces = 2000;
module_param(model_traces, uint, 0644);
MODULE_PARM_DESC(model_traces, "Number of random traces in the KUnit test");

ulong srpic_model_seed;
module_param_named(model_seed, srpic_model_seed, ulong, 0644);
MODULE_PARM_DESC(model_seed, "Seed of the random traces, 0: a new one");

#define TRACE(...)							\
	.num = ARRAY_SIZE(((const struct model_pkt[]){ __VA_ARGS__ })),	\
	.pkt = (const struct model_pkt[]){ __VA_ARGS__ }

/* Where a random trace that failed is pasted, to be tried ever after. */
static const struct model_trace model_cases[] = {
	{
		.name = "wrap_within_a_block",
		.block_size = 32,
		.hash = 1,
		TRACE({ .seq = 0x00000014, .len = 20 },
		      { .seq = 0xffffffec, .len = 20 },
		      { .seq = 0x00000000, .len = 20 }),
	}, {
		/* all in one set of the table */
		.name = "flows_that_differ_in_one_thing",
		.block_size = 32,
		.limit = 7,
		TRACE({ .seq = 20, .len = 10 },
		      { .seq = 10, .len = 20, .flow = MODEL_FLOW_SOURCE },
		      { .seq = 15, .len = 10, .flow = MODEL_FLOW_PORT },
		      { .seq = 10, .len = 10 },
		      { .seq = 10, .len = 10, .flow = BIT(1) },
		      { .seq = 5, .len = 10, .flow = MODEL_FLOW_PORT },
		      { .seq = 0, .len = 10 }),
	}, {
		/* a block is refused a packet, and the limit is reached */
		.name = "two_flushes_for_one_packet",
		.block_size = 32,
		.limit = 3,
		.hash = 1,
		TRACE({ .seq = 20, .len = 10 },
		      { .seq = 10, .len = 10, .flow = MODEL_FLOW_IPV6 },
		      { .seq = 25, .len = 10 },
		      { .seq = 15, .len = 10 }),
	}, {
		.name = "retransmission_among_aggregates",
		.block_size = 32,
		.hash = 1,
		TRACE({ 14480, 0xfffffff0, 14480, .how = MODEL_STAMP },
		      { 28960, 0xfffffff0, 28960, .how = MODEL_STAMP },
		      { 0, 0x10, 14480, .how = MODEL_STAMP },
		      { 14480, 0x11, 14480, .how = MODEL_STAMP }),
	}, {
		.name = "fifth_flow_evicts_then_fragment",
		.block_size = 2,
		TRACE({ .seq = 10, .len = 10, .flow = BIT(0) },
		      { .seq = 10, .len = 10, .flow = BIT(1) },
		      { .seq = 10, .len = 10, .flow = BIT(2) },
		      { .seq = 10, .len = 10, .flow = BIT(3) },
		      { .seq = 0, .len = 10, .flow = BIT(0) },
		      { .seq = 10, .len = 10, .flow = BIT(0) },
		      { .seq = 10, .len = 10, .flow = BIT(4) },
		      { .seq = 0, .len = 10, .flow = BIT(1) },
		      { .len = 8, .flow = BIT(3), .kind = MODEL_FRAGMENT },
		      { .seq = 0, .len = 10, .flow = BIT(3) }),
	}, {
		/* the NIC's sum may cover the padding */
		.name = "padding_needs_a_verdict",
		.block_size = 32,
		.hash = 1,
		TRACE({ 20, .len = 5, .how = MODEL_PADDED },
		      { 15, .len = 5, .how = MODEL_PADDED },
		      { 10, .len = 5, .how = MODEL_PADDED | MODEL_UNSUMMED },
		      { 30, .len = 5, .how = MODEL_PADDED },
		      { 25, .len = 5, .how = MODEL_PADDED | MODEL_SUMMED },
		      { 5, .len = 5 }),
	}, {
		.name = "hole_filled_before_the_softirq_is_over",
		.block_size = 32,
		.hash = 1,
		.hold_usecs = 20,
		TRACE({ 0, .len = 10 },
		      { 20, .len = 10, .how = MODEL_LAST, .pause = 10 },
		      { 10, .len = 10, .how = MODEL_BUDGET, .pause = 5 },
		      { 0, .len = 10, .flow = MODEL_FLOW_PORT }),
	}, {
		/* what can leave ahead of it had waited since the first poll */
		.name = "late_pure_ack_behind_a_hole_that_was_filled",
		.block_size = 32,
		.hash = 1,
		.hold_usecs = 20,
		TRACE({ 0, .len = 10 },
		      { 20, .len = 10 },
		      { 40, .len = 10, .how = MODEL_LAST, .pause = 5 },
		      { 10, .len = 10 },
		      { 40, .kind = MODEL_PURE_ACK }),
	}, {
		/* of which nothing is held, so the next packet has no hole */
		.name = "fragment_ends_the_memory_of_a_flow",
		.block_size = 32,
		.hash = 1,
		.hold_usecs = 20,
		TRACE({ 0, .len = 10, .how = MODEL_LAST },
		      { .len = 8, .kind = MODEL_FRAGMENT },
		      { 20, .len = 10 }),
	}, {
		/* behind a barrier, a late one and one that is far above it */
		.name = "late_one_is_no_place_to_count_from",
		.block_size = 32,
		.hash = 1,
		.hold_usecs = 20,
		TRACE({ 100, .len = 50 },
		      { 150, .len = 10, .kind = MODEL_URG },
		      { 0, .len = 10 },
		      { BIT(30) + 2, .len = 10 },
		      { 2 * BIT(30) + 1, .len = 10 },
		      { 0, .len = 5 }),
	}, {
		.name = "syn_that_nobody_summed_begins_nothing",
		.block_size = 32,
		.hash = 1,
		.hold_usecs = 20,
		TRACE({ 100, .kind = MODEL_SYN, .how = MODEL_UNSUMMED },
		      { 0, .len = 10 },
		      { 20, .len = 10 }),
	}, {
		/* behind a tag, too, what continues it waits for nothing */
		.name = "syn_behind_a_tag_begins_a_flow",
		.block_size = 32,
		.hash = 1,
		.hold_usecs = 20,
		TRACE({ 100, .kind = MODEL_SYN,
		      .how = MODEL_IN_BAND | MODEL_PRIORITY | MODEL_SUMMED },
		      { 0, .len = 10 },
		      { 100, .len = 10 }),
	}, {
		/* so the hole is that behind the first packet */
		.name = "syn_passes_unseen_while_off",
		.block_size = 32,
		.hash = 1,
		.hold_usecs = 20,
		TRACE({ 0, .len = 10, .how = MODEL_LAST | MODEL_SWITCH },
		      { 50, .kind = MODEL_SYN,
			.how = MODEL_LAST | MODEL_SWITCH },
		      { 0, .len = 10 },
		      { 20, .len = 10 }),
	}, {
		/* so what follows it is late, but waits as if it were early */
		.name = "fifth_flow_forgets_a_syn",
		.block_size = 32,
		.hold_usecs = 20,
		TRACE({ 0, .len = 10, .flow = BIT(1) },
		      { 0, .len = 10, .flow = BIT(2) },
		      { 0, .len = 10, .flow = BIT(3) },
		      { 50, .kind = MODEL_SYN },
		      { 0, .len = 10, .flow = BIT(4) },
		      { 0, .len = 10 },
		      { 20, .len = 10 }),
	}, {
		/* a flow of which nothing else comes, and the first is forgotten */
		.name = "syn_takes_the_fourth_manager",
		.block_size = 32,
		.hold_usecs = 20,
		TRACE({ 100, .len = 10, .how = MODEL_LAST },
		      { 0, .len = 10, .flow = BIT(1) },
		      { 0, .len = 10, .flow = BIT(2) },
		      { 0, .kind = MODEL_SYN, .flow = BIT(3) },
		      { 0, .len = 10, .flow = BIT(4) },
		      { 0, .len = 10 },
		      { 20, .len = 10 }),
	},
};

KUNIT_ARRAY_PARAM_DESC(model, model_cases, name);

static void model_case_test(struct kunit *test)
{
	const struct model_trace *trace = test->param_value;
	struct model_fixture *fix = test->priv;
	unsigned long wrong;

	wrong = srpic_model_play(fix, trace);
	KUNIT_ASSERT_FALSE(test, fix->no_memory);
	srpic_model_complain(test, wrong);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* What only some traces have in them. */
enum {
	AGGREGATE,
	SMALL_LIMIT,			/* ends a block ahead of its size */
	DUPLICATE,			/* in one block with the same */
	WRAP,				/* of the numbers in a block */
	DISTANT,			/* too far from another to be compared */
	OVERTAKEN,			/* by a pure ACK, while it waits */
	PROPERTIES
};

/**
 * struct model_tally - what the random traces had in them
 * @pkts: packets
 * @kinds: kinds of packets, as bits
 * @how: what else there was to packets that were sorted, as bits
 * @properties: of traces, as bits
 * @held: packets that were held when a softirq was over, once for each
 * @padded_out: packets of data that were not sorted, for their padding
 * @reordered: traces from which a packet left ahead of an earlier one
 * @count: sum of the counters
 */
struct model_tally {
	u64 pkts;
	unsigned long kinds;
	unsigned long how;
	unsigned long properties;
	u64 held;
	unsigned int padded_out;
	unsigned int reordered;
	u64 count[SRPIC_STATS];
};

static unsigned long pair_properties(const struct model *model,
				     unsigned int i, unsigned int j)
{
	const struct model_pkt *a = &model->run->trace->pkt[i];
	const struct model_pkt *b = &model->run->trace->pkt[j];
	s64 above = model_above(b->seq, a->seq);

	if (a->flow == b->flow && model_is_suitable(a) &&
	    b->kind == MODEL_PURE_ACK && model->place[j] < model->place[i])
		return BIT(OVERTAKEN);
	if (a->flow != b->flow || model->block_of[i] == MODEL_NONE ||
	    model->block_of[j] == MODEL_NONE)
		return 0;
	if (abs(above) >= BIT(30))
		return BIT(DISTANT);
	if (model->block_of[i] != model->block_of[j])
		return 0;
	return (!above && a->len == b->len) << DUPLICATE |
	       (above > 0 && b->seq < a->seq) << WRAP;
}

static unsigned long model_properties(const struct model *model)
{
	const struct model_run *run = model->run;
	const struct model_trace *trace = run->trace;
	unsigned long properties = 0;
	unsigned int i, j;

	if (model_limit(trace) < trace->block_size &&
	    run->count[SRPIC_FLUSH_RING])
		properties |= BIT(SMALL_LIMIT);
	for (i = 0; i < trace->num; i++) {
		if (model->block_of[i] != MODEL_NONE &&
		    trace->pkt[i].len > MODEL_LINEAR)
			properties |= BIT(AGGREGATE);
		for (j = i + 1; j < trace->num; j++)
			properties |= pair_properties(model, i, j);
	}
	return properties;
}

static void model_add(struct model_tally *tally, const struct model *model)
{
	const struct model_run *run = model->run;
	bool reordered = false;
	unsigned int i;

	tally->pkts += run->trace->num;
	for (i = 0; i < run->trace->num; i++) {
		const struct model_pkt *pkt = &run->trace->pkt[i];

		tally->kinds |= BIT(pkt->kind);
		tally->how |= pkt->how & MODEL_UNSUMMED;
		if (model_is_suitable(pkt))
			tally->how |= pkt->how & ~MODEL_PADDED;
		if (model_is_suitable(pkt) && model_is_padded(pkt))
			tally->how |= MODEL_PADDED;
		if (!model_is_suitable(pkt) && model_is_padded(pkt))
			tally->padded_out++;
		if (model_is_last(run->trace, i))
			tally->held += run->held[i];
		reordered |= run->id[i] != i;
	}
	tally->reordered += reordered;
	tally->properties |= model_properties(model);
	for (i = 0; i < SRPIC_STATS; i++)
		tally->count[i] += run->count[i];
}

/* The traces are worth nothing if they do not go everywhere. */
static void model_expect_coverage(struct kunit *test,
				  const struct model_tally *tally)
{
	struct model_fixture *fix = test->priv;
	unsigned int i;

	kunit_info(test, "%llu packets, %u traces sorted, longest block %u, up to %u flows\n",
		   tally->pkts, tally->reordered, fix->model.longest,
		   fix->model.most_flows);
	kunit_info(test, "%llu blocks: block %llu ring %llu poll %llu barrier %llu timestamp %llu overlap %llu evict %llu\n",
		   tally->count[SRPIC_BLOCKS],
		   tally->count[SRPIC_FLUSH_BLOCK],
		   tally->count[SRPIC_FLUSH_RING],
		   tally->count[SRPIC_FLUSH_POLL],
		   tally->count[SRPIC_FLUSH_BARRIER],
		   tally->count[SRPIC_FLUSH_TIMESTAMP],
		   tally->count[SRPIC_FLUSH_OVERLAP],
		   tally->count[SRPIC_FLUSH_EVICT]);
	kunit_info(test, "with hold: hole %llu deadline %llu, packets outlived softirqs %llu times\n",
		   tally->count[SRPIC_FLUSH_HOLE],
		   tally->count[SRPIC_FLUSH_DEADLINE], tally->held);
	kunit_info(test, "packets: taken %llu passed %llu (padded data %u) out of order %llu\n",
		   tally->count[SRPIC_PACKETS_TAKEN],
		   tally->count[SRPIC_PACKETS_PASSED], tally->padded_out,
		   tally->count[SRPIC_PACKETS_OUT_OF_ORDER]);

	if (model_traces < 10000)
		return;
	for (i = 0; i <= SRPIC_BLOCKS; i++)
		KUNIT_EXPECT_GT(test, tally->count[i], model_traces / 100);
	KUNIT_EXPECT_EQ(test, tally->kinds, GENMASK(MODEL_KINDS - 1, 0));
	KUNIT_EXPECT_EQ(test, tally->how, GENMASK(MODEL_HOWS - 1, 0));
	KUNIT_EXPECT_EQ(test, tally->properties, GENMASK(PROPERTIES - 1, 0));
	KUNIT_EXPECT_GT(test, tally->padded_out, 0);
	KUNIT_EXPECT_GT(test, tally->reordered, model_traces / 10);
	KUNIT_EXPECT_EQ(test, fix->model.longest, MODEL_BLOCK);
	KUNIT_EXPECT_GT(test, fix->model.most_flows,
			SRPIC_SETS * SRPIC_WAYS * 3 / 4);
}

static void random_traces_obey_the_invariants(struct kunit *test)
{
	u64 seed = srpic_model_seed ?: get_random_u32_inclusive(1, U32_MAX);
	struct model_fixture *fix = test->priv;
	struct model_trace trace = { };
	struct model_tally tally = { };
	ktime_t begin = ktime_get();
	struct rnd_state rnd;
	char name[64];
	unsigned int i;

	KUNIT_ASSERT_GT(test, model_traces, 0);
	if (!MODEL_SEES_WAY_OUT)
		kunit_info(test, "one way out is not judged: that needs CONFIG_NET_RX_BUSY_POLL\n");
	kunit_info(test, "%u traces, srpic.model_seed=%llu\n", model_traces,
		   seed);
	prandom_seed_state(&rnd, seed);
	for (i = 0; i < model_traces; i++) {
		/* what must occur comes first, the rest is left to chance */
		srpic_model_trace(&rnd, i + 1 < MODEL_SHAPES ? i + 1 :
				  MODEL_RANDOM, &trace, fix->pkt);
		srpic_model_play(fix, &trace);
		KUNIT_ASSERT_FALSE(test, fix->no_memory);
		if (fix->wrong) {
			snprintf(name, sizeof(name), "seed_%llu_trace_%u",
				 seed, i);
			srpic_model_report(test, &trace, name);
			KUNIT_FAIL(test, "%s", name);
			return;
		}
		model_add(&tally, &fix->model);
		cond_resched();
	}
	kunit_info(test, "%lld ms\n", ktime_ms_delta(ktime_get(), begin));
	model_expect_coverage(test, &tally);
}

static struct kunit_case model_test_cases[] = {
	KUNIT_CASE_PARAM(model_case_test, model_gen_params),
	KUNIT_CASE_SLOW(random_traces_obey_the_invariants),
	{ }
};

static struct kunit_suite model_test_suite = {
	.name = "srpic_model",
	.init = srpic_model_init,
	.exit = srpic_model_exit,
	.test_cases = model_test_cases,
};

kunit_test_suite(model_test_suite);
