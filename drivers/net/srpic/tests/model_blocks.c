// SPDX-License-Identifier: GPL-2.0
/*
 * The reference model's blocks: which packets should leave together, when and
 * why. Each packet is compared with each one of its block.
 *
 * What it leaves to the library is which flow a full set of the table evicts,
 * and what to call a flush that has two causes.
 */

#include <linux/bitops.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "model.h"

#define FAR	BIT(30)

/* The block that holds packets of this flow. */
static struct model_block *open_block(struct model *model, u16 flow)
{
	unsigned int i;

	for (i = model->blocks; i-- > 0;)
		if (model->block[i].flow == flow &&
		    model->block[i].left == MODEL_NONE)
			return &model->block[i];
	return NULL;
}

static void close_block(struct model *model, struct model_block *block,
			unsigned int time, enum srpic_stat cause)
{
	block->left = time;
	model->count[cause]++;
	model->longest = max_t(unsigned int, model->longest, block->pkts);
}

static void close_all(struct model *model, unsigned int time,
		      enum srpic_stat cause)
{
	unsigned int i;

	for (i = 0; i < model->blocks; i++)
		if (model->block[i].left == MODEL_NONE)
			close_block(model, &model->block[i], time, cause);
}

static void close_pair(struct model *model, u16 flow, unsigned int time)
{
	unsigned int i;

	for (i = 0; i < model->blocks; i++)
		if (model->block[i].left == MODEL_NONE &&
		    model_is_same_pair(model->block[i].flow, flow))
			close_block(model, &model->block[i], time,
				    SRPIC_FLUSH_BARRIER);
}

/*
 * A new flow may put out another one where a set is full. With one set only,
 * that happens to the fifth flow and hits the least recently used one;
 * otherwise nobody can tell from outside, so see who left.
 */
static void evict(struct model *model, unsigned int i, bool is_full_flush)
{
	struct model_block *victim = NULL;
	unsigned int j, open = 0;

	for (j = 0; j < model->blocks; j++) {
		struct model_block *block = &model->block[j];

		if (block->left != MODEL_NONE)
			continue;
		open++;
		if (!model->run->trace->hash) {
			if (!victim || block->last < victim->last)
				victim = block;
		} else if (model->left[block->first] == 2 * i) {
			victim = block;
		}
	}
	if (open < MODEL_WAYS || !victim)
		return;
	if (model->run->trace->hash && is_full_flush) {
		/* leaves at that time in any case, and is then counted */
		model->count[SRPIC_FLUSH_RING]--;
		model->ring_or_evict++;
	} else {
		close_block(model, victim, 2 * i, SRPIC_FLUSH_EVICT);
	}
}

/* How far a block goes on, from its first packet, without a hole. */
static s64 end_of_run(const struct model *model,
		      const struct model_block *block)
{
	const struct model_pkt *pkt = model->run->trace->pkt;
	s64 next = 0, end = -1;
	unsigned int j;

	while (end != next) {
		end = next;
		for (j = block->first; j <= block->last; j++) {
			s64 at = model_above(pkt[j].seq, pkt[block->first].seq);

			if (model->block_of[j] == block - model->block &&
			    at >= 0 && at <= next)
				next = max(next, at + model_span(&pkt[j]));
		}
	}
	return next;
}

/*
 * The reasons why packet i cannot join a block, as bits of enum srpic_stat;
 * in_sequence: whether it continues the block's run of packets in sequence.
 */
static unsigned long refusal(struct model *model,
			     const struct model_block *block, unsigned int i,
			     bool *in_sequence)
{
	const struct model_pkt *pkt = model->run->trace->pkt;
	u32 base = pkt[block->first].seq;
	s64 at = model_above(pkt[i].seq, base);
	unsigned long reasons = 0;
	s64 next, newer;
	unsigned int j;

	next = end_of_run(model, block);
	*in_sequence = at == next;

	if (abs(at) >= FAR || (at >= 0 && at < next) ||
	    (at < next && at + model_span(&pkt[i]) > next))
		reasons |= BIT(SRPIC_FLUSH_OVERLAP);
	if ((pkt[i].how ^ pkt[block->first].how) & MODEL_STAMP)
		return reasons | BIT(SRPIC_FLUSH_TIMESTAMP);
	if (pkt[i].how & MODEL_STAMP &&
	    abs(model_above(pkt[i].tsval, pkt[block->first].tsval)) >= FAR)
		reasons |= BIT(SRPIC_FLUSH_TIMESTAMP);

	for (j = block->first; j <= block->last; j++) {
		s64 other = model_above(pkt[j].seq, base);

		if (model->block_of[j] != block - model->block)
			continue;
		if (!(pkt[i].how & MODEL_STAMP))
			continue;
		newer = model_above(pkt[i].tsval, pkt[j].tsval);
		if (other > at && newer > 0)
			reasons |= BIT(SRPIC_FLUSH_TIMESTAMP);
		/* early and late ones are sorted by their timestamps as well */
		if (other <= at && newer < 0 &&
		    ((other < 0 && at < 0) || (other > next && at > next)))
			reasons |= BIT(SRPIC_FLUSH_TIMESTAMP);
	}
	return reasons;
}

static void close_refused(struct model *model, struct model_block *block,
			  unsigned int time, unsigned long reasons)
{
	enum srpic_stat cause = SRPIC_FLUSH_OVERLAP;

	if (reasons == BIT(SRPIC_FLUSH_TIMESTAMP))
		cause = SRPIC_FLUSH_TIMESTAMP;
	close_block(model, block, time, cause);
	if (hweight_long(reasons) > 1) {
		model->count[cause]--;
		model->overlap_or_stamp++;
	}
}

static struct model_block *put(struct model *model, unsigned int i,
			       bool is_full_flush)
{
	u16 flow = model->run->trace->pkt[i].flow;
	struct model_block *block = open_block(model, flow);
	unsigned long reasons;
	bool in_sequence;

	if (block) {
		reasons = refusal(model, block, i, &in_sequence);
		if (!reasons) {
			model->count[SRPIC_PACKETS_OUT_OF_ORDER] +=
				!in_sequence;
			goto put;
		}
		close_refused(model, block, 2 * i, reasons);
	} else {
		evict(model, i, is_full_flush);
	}

	block = &model->block[model->blocks++];
	*block = (struct model_block) {
		.flow = flow, .first = i, .left = MODEL_NONE,
	};
put:
	model->block_of[i] = block - model->block;
	block->last = i;
	block->pkts++;
	return block;
}

static void take(struct model *model, unsigned int i, unsigned int *taken)
{
	const struct model_trace *trace = model->run->trace;
	struct model_block *block;
	bool is_full_flush;

	model->count[SRPIC_PACKETS_TAKEN]++;
	is_full_flush = ++*taken >= model_limit(trace);
	block = put(model, i, is_full_flush);
	if (block->pkts >= trace->block_size)
		close_block(model, block, 2 * i, SRPIC_FLUSH_BLOCK);
	if (is_full_flush) {
		close_all(model, 2 * i, SRPIC_FLUSH_RING);
		*taken = 0;
	}
}

static void pass(struct model *model, unsigned int i)
{
	const struct model_pkt *pkt = &model->run->trace->pkt[i];
	struct model_block *block;

	model->count[SRPIC_PACKETS_PASSED]++;
	switch (model_scope(pkt)) {
	case MODEL_SCOPE_NONE:
		break;
	case MODEL_SCOPE_FLOW:
		block = open_block(model, pkt->flow);
		if (block)
			close_block(model, block, 2 * i, SRPIC_FLUSH_BARRIER);
		break;
	case MODEL_SCOPE_HOSTS:
		close_pair(model, pkt->flow, 2 * i);
		break;
	}
}

/* Which packets should leave together, and when. While off, each by itself. */
void srpic_model_find_blocks(struct model *model)
{
	const struct model_trace *trace = model->run->trace;
	unsigned int i, taken = 0;
	bool on = true;

	model->blocks = 0;
	model->one_or_two = 0;
	model->overlap_or_stamp = 0;
	model->ring_or_evict = 0;
	memset(model->count, 0, sizeof(model->count));

	if (trace->hold_usecs) {
		srpic_model_see_blocks(model);
		return;
	}
	for (i = 0; i < trace->num; i++) {
		model->block_of[i] = MODEL_NONE;
		if (on && model_is_suitable(&trace->pkt[i]))
			take(model, i, &taken);
		else if (on)
			pass(model, i);
		if (model_is_last(trace, i)) {
			close_all(model, 2 * i + 1, SRPIC_FLUSH_POLL);
			taken = 0;
		}
		on ^= model_switches(trace, i);
	}
}
