// SPDX-License-Identifier: GPL-2.0
/*
 * The reference model where packets may outlive a softirq. It does not foretell
 * when they leave, but sees when they did: a packet may leave as early as the
 * order lets it; it waits only as long as something is missing in front of it,
 * and not beyond its deadline.
 */

#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "model.h"

/* A number from so many bytes away may be forged: nobody knows what follows. */
#define FAR	BIT(26)

static bool is_taken(const struct model *model, unsigned int i)
{
	return model->block_of[i] != MODEL_NONE;
}

/* All packets of a poll come at one time. */
static void note_times(struct model *model)
{
	const struct model_trace *trace = model->run->trace;
	unsigned int i, usecs = 0;

	for (i = 0; i < trace->num; i++) {
		model->came[i] = usecs;
		if (model_ends_poll(trace, i))
			usecs += trace->pkt[i].pause;
	}
}

/* A SYN behind which a flow begins, if SRPIC is on. */
static bool is_begin(const struct model_pkt *pkt)
{
	return pkt->kind == MODEL_SYN && !pkt->len && !model_is_unsummed(pkt);
}

/* Whether packet i may have its flow be given a manager, */
static bool wants_manager(const struct model *model, unsigned int i)
{
	return is_taken(model, i) || is_begin(&model->run->trace->pkt[i]);
}

/* and is the first one of its flow. */
static bool is_new_flow(const struct model *model, unsigned int i)
{
	const struct model_pkt *pkt = model->run->trace->pkt;
	unsigned int j;

	for (j = 0; j < i; j++)
		if (pkt[j].flow == pkt[i].flow && wants_manager(model, j))
			return false;
	return wants_manager(model, i);
}

/*
 * What of a flow left at one time is a block. Only as a packet of the flow is
 * received may there be two: those that it must not join, and it alone.
 */
static void see_block(struct model *model, unsigned int i)
{
	const struct model_pkt *pkt = model->run->trace->pkt;
	bool at_once = model->left[i] == 2 * i;
	struct model_block *block;
	bool joins = false;
	unsigned int j;

	for (j = 0; j < i; j++) {
		if (!is_taken(model, j) || pkt[j].flow != pkt[i].flow ||
		    model->left[j] != model->left[i])
			continue;
		joins = true;
		model->block_of[i] = model->block_of[j];
	}
	model->one_or_two += joins && at_once;
	if (!joins || at_once) {
		model->block_of[i] = model->blocks;
		model->block[model->blocks++] = (struct model_block) {
			.flow = pkt[i].flow, .first = i,
			.left = model->left[i],
		};
	}
	block = &model->block[model->block_of[i]];
	block->last = i;
	block->pkts++;
}

/* Which packets left together. While off, each by itself. */
void srpic_model_see_blocks(struct model *model)
{
	const struct model_trace *trace = model->run->trace;
	unsigned int i, j, flows = 0;
	bool on = true;

	note_times(model);
	for (i = 0; i < trace->num; i++) {
		model->block_of[i] = MODEL_NONE;
		if (on && model_is_suitable(&trace->pkt[i])) {
			model->count[SRPIC_PACKETS_TAKEN]++;
			see_block(model, i);
		} else if (on) {
			model->count[SRPIC_PACKETS_PASSED]++;
			for (j = 0; j < model->blocks; j++)
				if (model->block[j].left == 2 * i)
					model->count[SRPIC_FLUSH_BARRIER]++;
		}
		flows += is_new_flow(model, i);
		model->flows[i] = flows;
		on ^= model_switches(trace, i);
	}
}

static unsigned int softirq_end(const struct model_trace *trace,
				unsigned int i)
{
	while (!model_is_last(trace, i))
		i++;
	return i;
}

/* Whether a packet was still there when its softirq was over. */
static bool outlives(const struct model *model, unsigned int i)
{
	return model->left[i] > 2 * softirq_end(model->run->trace, i) + 1;
}

/* Whether a packet of i's flow came from packet first on, up to last. */
static bool has_company(const struct model_pkt *pkt, unsigned int i,
			unsigned int first, unsigned int last)
{
	for (; first <= last; first++)
		if (model_is_related(&pkt[first], &pkt[i]))
			return true;
	return false;
}

/*
 * Whether a packet is still there behind a poll at or after its deadline. If
 * the softirq goes on, that is right where the hole may have been filled in it,
 * by what came of the flow: then the packet leaves when the softirq is over.
 */
static bool is_overdue(const struct model *model, unsigned int i,
		       unsigned int end, unsigned int begin)
{
	const struct model_trace *trace = model->run->trace;

	return model->left[i] > 2 * end + 1 &&
	       model->came[i] + trace->hold_usecs <= model->came[end] &&
	       (model_is_last(trace, end) ||
		(i < begin && !has_company(trace->pkt, i, begin, end)));
}

/* And the timer is for the first deadline; all have left when NAPI stopped. */
bool srpic_model_keeps_deadlines(struct model *model)
{
	const struct model_trace *trace = model->run->trace;
	unsigned int i, end, begin = 0;

	for (end = 0; end < trace->num; end++) {
		if (!model_ends_poll(trace, end))
			continue;
		for (i = 0; i <= end; i++)
			if (is_overdue(model, i, end, begin) ||
			    (model_is_last(trace, end) &&
			     model->left[i] > 2 * end + 1 &&
			     model->run->alarm[end] >
			     model->came[i] + trace->hold_usecs))
				return model_broken(model, MODEL_EMPTY_IN_TIME,
						    i, end);
		if (model_is_last(trace, end))
			begin = end + 1;
	}
	for (i = 0; i < trace->num; i++)
		if (model->left[i] > 2 * trace->num)
			return model_broken(model, MODEL_EMPTY_IN_TIME, i,
					    trace->num);
	return true;
}

/*
 * Whether packet i has something to wait for at this time, when packet last was
 * the last one received. What it continues, or is below of, must not have left;
 * but something of its flow must have, or it would be the first one. That is
 * since the last barrier with data, or SRPIC was switched on; a SYN that somebody
 * summed counts as what comes first. Other flows where the table is too small
 * may have made the library forget more, and that SYN.
 */
static bool has_hole(const struct model *model, unsigned int i,
		     unsigned int last, unsigned int time)
{
	const struct model_trace *trace = model->run->trace;
	const struct model_pkt *pkt = trace->pkt;
	bool evicts = model->flows[last] > MODEL_WAYS;
	bool begun = false, continues = false;
	unsigned int j;

	for (j = last + 1; j-- > 0;) {
		s64 above = model_above(pkt[j].seq, pkt[i].seq);
		bool barrier = !model_is_suitable(&pkt[j]) &&
			       model_is_related(&pkt[j], &pkt[i]);

		if (j < last && model_switches(trace, j))
			return j < i && begun && !continues;
		if (barrier && j > i && pkt[j].kind == MODEL_PURE_ACK &&
		    above <= 0)
			continue;	/* it was sent ahead of i */
		if (barrier && j > i)
			return false;
		if (barrier && is_begin(&pkt[j]))
			return (above + 1 < 0 || (evicts && begun)) &&
			       !continues;
		if (barrier && pkt[j].kind != MODEL_PURE_ACK)
			return j < i && begun && !continues;
		if (!is_taken(model, j) || pkt[j].flow != pkt[i].flow)
			continue;
		if (model->left[j] > time)
			continue;
		begun = true;
		if (above + model_span(&pkt[j]) >= 0 &&
		    !(evicts && model->left[j] < 2 * i))
			continues = true;
	}
	return begun && !continues;
}

/* Packets from far away may have made the library forget anything. */
static bool has_far_ones(const struct model *model, unsigned int i,
			 unsigned int last)
{
	const struct model_pkt *pkt = model->run->trace->pkt;
	unsigned int j;

	for (j = 0; j <= last; j++)
		if ((is_taken(model, j) || pkt[j].kind == MODEL_SYN) &&
		    pkt[j].flow == pkt[i].flow &&
		    abs(model_above(pkt[j].seq, pkt[i].seq)) >= FAR)
			return true;
	return false;
}

/* All packets that are still there then; or those of the last one's flow. */
static bool all_have_holes(struct model *model, unsigned int last,
			   unsigned int time, bool of_flow)
{
	const struct model_pkt *pkt = model->run->trace->pkt;
	unsigned int i;

	for (i = 0; i <= last; i++)
		if (model->left[i] > time && !has_hole(model, i, last, time) &&
		    !(of_flow && pkt[i].flow != pkt[last].flow) &&
		    !has_far_ones(model, i, last))
			return model_broken(model, MODEL_WAITS_FOR_A_HOLE, i,
					    last);
	return true;
}

/*
 * All others leave with a full flush: at the limit, or as the softirq ends. Those
 * of a flow leave ahead of its pure ACKs, too.
 */
bool srpic_model_waits(struct model *model)
{
	const struct model_trace *trace = model->run->trace;
	unsigned int i, taken = 0;

	for (i = 0; i < trace->num; i++) {
		taken += is_taken(model, i);
		if (taken >= model_limit(trace)) {
			if (!all_have_holes(model, i, 2 * i, false))
				return false;
			taken = 0;
		}
		if (model_is_last(trace, i)) {
			if (!all_have_holes(model, i, 2 * i + 1, false))
				return false;
			taken = 0;
		}
		if (trace->pkt[i].kind == MODEL_PURE_ACK &&
		    !all_have_holes(model, i, 2 * i, true))
			return false;
	}
	return true;
}

/* How long packet i waited, if beyond its softirq and until a poll ended. */
static unsigned int waited(const struct model *model, unsigned int i)
{
	unsigned int end = model->left[i] / 2;

	if (!is_taken(model, i) || !outlives(model, i) ||
	    model->left[i] % 2 == 0 || end >= model->run->trace->num)
		return 0;
	return model->came[end] - model->came[i];
}

/*
 * What waited was out of order. If it left behind a poll, its hole was filled
 * or its time had come. Whether one that a flush took along counts as the
 * longest is left to the library.
 */
static bool waiting_counted(struct model *model)
{
	const struct model_trace *trace = model->run->trace;
	const u64 *is = model->run->count;
	unsigned int i, pkts = 0, blocks = 0;
	u64 longest = 0;

	for (i = 0; i < trace->num; i++) {
		pkts += is_taken(model, i) && outlives(model, i);
		longest = max_t(u64, longest, waited(model, i));
	}
	for (i = 0; i < model->blocks; i++)
		blocks += waited(model, model->block[i].first) > 0;

	if (is[SRPIC_FLUSH_HOLE] + is[SRPIC_FLUSH_DEADLINE] < blocks)
		return model_broken(model, MODEL_COUNTED, SRPIC_FLUSH_HOLE,
				    SRPIC_FLUSH_DEADLINE);
	if (is[SRPIC_PACKETS_OUT_OF_ORDER] < pkts ||
	    is[SRPIC_PACKETS_OUT_OF_ORDER] > is[SRPIC_PACKETS_TAKEN])
		return model_broken(model, MODEL_COUNTED,
				    SRPIC_PACKETS_OUT_OF_ORDER, -1);
	if (is[SRPIC_HELD_USECS_MAX] < longest ||
	    is[SRPIC_HELD_USECS_MAX] > model->came[trace->num - 1])
		return model_broken(model, MODEL_COUNTED,
				    SRPIC_HELD_USECS_MAX, -1);
	return true;
}

/* Which blocks there were is known, but for most not why they left. */
bool srpic_model_hold_counted(struct model *model)
{
	static const enum srpic_stat exact[] = {
		SRPIC_PACKETS_TAKEN, SRPIC_PACKETS_PASSED, SRPIC_FLUSH_BARRIER,
	};
	const u64 *is = model->run->count;
	unsigned int i;
	u64 blocks = 0;

	for (i = 0; i < ARRAY_SIZE(exact); i++)
		if (is[exact[i]] != model->count[exact[i]])
			return model_broken(model, MODEL_COUNTED, exact[i],
					    exact[i]);
	for (i = 0; i <= SRPIC_FLUSH_DEADLINE; i++)
		blocks += is[i];
	if (is[SRPIC_BLOCKS] != blocks || blocks > model->blocks ||
	    blocks + model->one_or_two < model->blocks)
		return model_broken(model, MODEL_COUNTED, SRPIC_BLOCKS,
				    model->blocks);
	return waiting_counted(model);
}
