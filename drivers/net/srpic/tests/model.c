// SPDX-License-Identifier: GPL-2.0
/*
 * The reference model: knows what went in, what came out and when, and judges
 * that by the invariants alone. It is as naive as can be, with plain arrays
 * and a look at each pair of packets, and it shares no code with the library.
 */

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "model.h"

/* Where in the order of leaving a packet was, and when it left. */
static void note(struct model *model)
{
	const struct model_run *run = model->run;
	unsigned int i;

	memset(model->place, 0xff, sizeof(model->place[0]) * run->trace->num);
	memset(model->left, 0xff, sizeof(model->left[0]) * run->trace->num);
	for (i = 0; i < run->num; i++) {
		u16 id = run->id[i];

		if (id >= run->trace->num || model->place[id] != MODEL_NONE)
			continue;
		model->place[id] = i;
		model->left[id] = run->time[i];
	}
}

static bool permutation(struct model *model)
{
	const struct model_run *run = model->run;
	unsigned int i;

	for (i = 0; i < run->num; i++)
		if (run->id[i] >= run->trace->num ||
		    model->place[run->id[i]] != i)
			return model_broken(model, MODEL_PERMUTATION,
					    run->id[i], -1);
	for (i = 0; i < run->trace->num; i++)
		if (model->place[i] == MODEL_NONE)
			return model_broken(model, MODEL_PERMUTATION, i, -1);
	return true;
}

static bool faultless(struct model *model, u8 fault,
		      enum model_invariant invariant)
{
	unsigned int i;

	for (i = 0; i < model->run->trace->num; i++)
		if (model->run->fault[i] & fault)
			return model_broken(model, invariant, i, -1);
	return true;
}

static bool unaltered(struct model *model)
{
	return faultless(model, MODEL_ALTERED, MODEL_UNALTERED);
}

static bool one_way_out(struct model *model)
{
	return faultless(model, MODEL_ASTRAY, MODEL_ONE_WAY_OUT);
}

/* Of two related packets, the later one may leave first unless it must not. */
static bool
no_overtaking(struct model *model, enum model_invariant invariant,
	      bool (*must_not)(const struct model *model, unsigned int early,
			       unsigned int late))
{
	const struct model_pkt *pkt = model->run->trace->pkt;
	unsigned int num = model->run->trace->num;
	unsigned int i, j;

	for (i = 0; i < num; i++)
		for (j = i + 1; j < num; j++)
			if (model->place[i] >= model->place[j] &&
			    model_is_related(&pkt[i], &pkt[j]) &&
			    must_not(model, i, j))
				return model_broken(model, invariant, i, j);
	return true;
}

/* A pure ACK that was sent ahead may overtake what waits on behind it. */
static bool is_in_order(const struct model *model, unsigned int early,
			unsigned int late)
{
	const struct model_trace *trace = model->run->trace;
	const struct model_pkt *pkt = trace->pkt;
	s64 above = model_above(pkt[late].seq, pkt[early].seq);

	if (!model_is_suitable(&pkt[early]))
		return true;
	if (pkt[late].kind == MODEL_PURE_ACK)
		return !trace->hold_usecs || above > 0 ||
		       model->left[early] == 2 * late;
	return !model_is_suitable(&pkt[late]) || above >= 0;
}

static bool no_new_reordering(struct model *model)
{
	return no_overtaking(model, MODEL_NO_NEW_REORDERING, is_in_order);
}

static bool is_newer(const struct model *model, unsigned int early,
		     unsigned int late)
{
	const struct model_pkt *pkt = model->run->trace->pkt;

	if ((pkt[early].how ^ pkt[late].how) & MODEL_STAMP)
		return true;
	return pkt[early].how & MODEL_STAMP &&
	       model_above(pkt[late].tsval, pkt[early].tsval) > 0;
}

static bool paws(struct model *model)
{
	return no_overtaking(model, MODEL_PAWS, is_newer);
}

static bool empty_in_time(struct model *model)
{
	const struct model_trace *trace = model->run->trace;
	unsigned int i, first = 0;

	if (trace->hold_usecs)
		return srpic_model_keeps_deadlines(model);
	for (i = 0; i < trace->num; i++) {
		if (!model_is_last(trace, i))
			continue;
		for (; first <= i; first++)
			if (model->left[first] > 2 * i + 1)
				return model_broken(model, MODEL_EMPTY_IN_TIME,
						    first, i);
	}
	return true;
}

static bool waits_for_a_hole(struct model *model)
{
	return !model->run->trace->hold_usecs || srpic_model_waits(model);
}

/*
 * What is held when a packet has been received: packets, of a flow, flows. With
 * hold, packets that wait are not counted, so it does not matter how many.
 */
static bool bounded(struct model *model)
{
	const struct model_trace *trace = model->run->trace;
	unsigned int table = trace->hash ? MODEL_TABLE : MODEL_WAYS;
	const struct model_pkt *pkt = trace->pkt;
	unsigned int i, j;

	memset(model->seen, 0xff, sizeof(model->seen));
	for (i = 0; i < trace->num; i++) {
		unsigned int pkts = 0, of_flow = 0, flows = 0;

		for (j = 0; j <= i; j++) {
			if (!model_is_suitable(&pkt[j]) ||
			    model->left[j] <= 2 * i)
				continue;
			pkts++;
			if (pkt[j].flow == pkt[i].flow)
				of_flow++;
			if (model->seen[pkt[j].flow] != i)
				flows++;
			model->seen[pkt[j].flow] = i;
		}
		if (flows > table ||
		    (!trace->hold_usecs && (pkts >= model_limit(trace) ||
					    of_flow >= trace->block_size)))
			return model_broken(model, MODEL_BOUNDED, i, -1);
		model->most_flows = max(model->most_flows, flows);
	}
	return true;
}

/* Each block by itself, and equal sequence numbers as they came. */
static bool sorted(struct model *model)
{
	const struct model_pkt *pkt = model->run->trace->pkt;
	unsigned int num = model->run->trace->num;
	unsigned int i, j;
	bool lower, ahead;

	for (i = 0; i < num; i++) {
		u32 base;

		if (model->block_of[i] == MODEL_NONE)
			continue;
		base = pkt[model->block[model->block_of[i]].first].seq;
		for (j = i + 1; j < num; j++) {
			if (model->block_of[j] != model->block_of[i])
				continue;
			lower = model_above(pkt[j].seq, base) <
				model_above(pkt[i].seq, base);
			ahead = model->place[j] < model->place[i];
			if (lower != ahead)
				return model_broken(model, MODEL_SORTED, i, j);
		}
	}
	return true;
}

static bool flushed_for_a_cause(struct model *model)
{
	unsigned int i;

	for (i = 0; i < model->run->trace->num; i++) {
		unsigned int time = 2 * i;

		if (model->block_of[i] != MODEL_NONE)
			time = model->block[model->block_of[i]].left;
		if (model->left[i] != time)
			return model_broken(model, MODEL_FLUSHED_FOR_A_CAUSE, i,
					    time / 2);
	}
	return true;
}

/* One of two counters has what model is certain of, and both the rest. */
static bool either(struct model *model, enum srpic_stat a, enum srpic_stat b,
		   unsigned int rest)
{
	const u64 *is = model->run->count, *min = model->count;

	if (is[a] < min[a] || is[b] < min[b] ||
	    is[a] + is[b] != min[a] + min[b] + rest)
		return model_broken(model, MODEL_COUNTED, a, b);
	return true;
}

/* What the gauge says behind each softirq: what came, and has not left. */
static bool gauged(struct model *model)
{
	const struct model_run *run = model->run;
	unsigned int i, j;

	for (i = 0; i < run->trace->num; i++) {
		u64 held = 0;

		if (!model_is_last(run->trace, i))
			continue;
		for (j = 0; j <= i; j++)
			held += model->left[j] > 2 * i + 1;
		if (run->held[i] != held)
			return model_broken(model, MODEL_COUNTED,
					    SRPIC_PACKETS_HELD, i);
	}
	return true;
}

static bool counted(struct model *model)
{
	const u64 *is = model->run->count;
	u64 blocks = 0;
	unsigned int i;

	if (!gauged(model))
		return false;
	if (model->run->trace->hold_usecs)
		return srpic_model_hold_counted(model);
	for (i = 0; i < SRPIC_COUNTERS; i++) {
		if (i <= SRPIC_FLUSH_EVICT)
			blocks += is[i];
		if (i != SRPIC_FLUSH_RING && i != SRPIC_FLUSH_EVICT &&
		    i != SRPIC_FLUSH_OVERLAP && i != SRPIC_FLUSH_TIMESTAMP &&
		    is[i] != model->count[i])
			return model_broken(model, MODEL_COUNTED, i, i);
	}
	if (is[SRPIC_BLOCKS] != blocks)
		return model_broken(model, MODEL_COUNTED, SRPIC_BLOCKS,
				    SRPIC_BLOCKS);
	return either(model, SRPIC_FLUSH_RING, SRPIC_FLUSH_EVICT,
		      model->ring_or_evict) &&
	       either(model, SRPIC_FLUSH_OVERLAP, SRPIC_FLUSH_TIMESTAMP,
		      model->overlap_or_stamp);
}

/* Returns which invariants are broken, as bits; 0 if all is well. */
unsigned long srpic_model_judge(struct model *model,
				const struct model_run *run)
{
	static bool (*const holds[MODEL_INVARIANTS])(struct model *model) = {
		[MODEL_PERMUTATION]		= permutation,
		[MODEL_UNALTERED]		= unaltered,
		[MODEL_SORTED]			= sorted,
		[MODEL_NO_NEW_REORDERING]	= no_new_reordering,
		[MODEL_PAWS]			= paws,
		[MODEL_ONE_WAY_OUT]		= one_way_out,
		[MODEL_EMPTY_IN_TIME]		= empty_in_time,
		[MODEL_WAITS_FOR_A_HOLE]	= waits_for_a_hole,
		[MODEL_BOUNDED]			= bounded,
		[MODEL_FLUSHED_FOR_A_CAUSE]	= flushed_for_a_cause,
		[MODEL_COUNTED]			= counted,
	};
	/* these compare two packets, both of which must have left */
	const unsigned long order = BIT(MODEL_SORTED) | BIT(MODEL_PAWS) |
				    BIT(MODEL_NO_NEW_REORDERING);
	unsigned long wrong = 0;
	unsigned int i;

	model->run = run;
	note(model);
	srpic_model_find_blocks(model);
	for (i = 0; i < MODEL_INVARIANTS; i++) {
		if (wrong & BIT(MODEL_PERMUTATION) && order & BIT(i))
			continue;
		if (!holds[i](model))
			wrong |= BIT(i);
	}
	return wrong;
}

/* What is broken in the run that was judged last, and by which packets. */
void srpic_model_explain(const struct model *model,
			 enum model_invariant invariant, char *buf, size_t len)
{
	static const char *const texts[MODEL_INVARIANTS] = {
		[MODEL_PERMUTATION] = "permutation: left twice or never",
		[MODEL_UNALTERED] = "unaltered: is not what it was",
		[MODEL_SORTED] = "sorted: these two of a block are not",
		[MODEL_NO_NEW_REORDERING] =
			"no new reordering: the first should leave first",
		[MODEL_PAWS] =
			"PAWS: the first is older and leaves last",
		[MODEL_ONE_WAY_OUT] = "one way out: took another",
		[MODEL_EMPTY_IN_TIME] =
			"empty in time: outlived the poll that ended with",
		[MODEL_WAITS_FOR_A_HOLE] =
			"waits for a hole: the first has none in front, behind",
		[MODEL_BOUNDED] = "bounded: made the held ones too many",
		[MODEL_FLUSHED_FOR_A_CAUSE] =
			"flushed for a cause: the first should leave with",
		[MODEL_COUNTED] = "counted: one of enum srpic_stat is wrong",
	};
	const int *culprit = model->culprit[invariant];

	if (culprit[1] < 0)
		snprintf(buf, len, "%s: %d", texts[invariant], culprit[0]);
	else
		snprintf(buf, len, "%s: %d, %d", texts[invariant], culprit[0],
			 culprit[1]);
}
