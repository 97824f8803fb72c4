// SPDX-License-Identifier: GPL-2.0
/*
 * The sorter: packets of one flow in, one ordered list out. It knows no
 * device, no header and no other flow; a packet is what struct srpic_cb says.
 *
 * Wu, DeMar, Crawford: "Sorting Reordered Packets with Interrupt Coalescing",
 * Computer Networks 53 (2009), section 3.3, Listing 1 and Table 2.
 */

#include <net/tcp.h>

#include "srpic_priv.h"

void srpic_block_init(struct srpic_block *block)
{
	block->pkts = 0;
	INIT_LIST_HEAD(&block->prev);
	INIT_LIST_HEAD(&block->curr);
	INIT_LIST_HEAD(&block->after);
}

/* The first packet of a block always goes to curr. */
static void srpic_open(struct srpic_block *block, struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	block->seq = cb->seq;
	block->next_exp = cb->end_seq;
	block->tsval = cb->tsval;
	block->curr_oldest = cb->tsval;
	block->has_tsval = cb->has_tsval;
	list_add_tail(&skb->list, &block->curr);
}

/*
 * Whether all sequence numbers stay comparable: those held lie between
 * next_exp - 2^30, for any past or present next_exp, and seq + 2^30.
 */
static bool srpic_seq_is_near(const struct srpic_block *block,
			      const struct srpic_cb *cb)
{
	return before(cb->seq, block->seq + SRPIC_DISTANCE_MAX) &&
	       after(cb->seq, block->next_exp - SRPIC_DISTANCE_MAX);
}

static bool srpic_tsval_is_near(const struct srpic_block *block,
				const struct srpic_cb *cb)
{
	return before(cb->tsval, block->tsval + SRPIC_DISTANCE_MAX) &&
	       after(cb->tsval, block->tsval - SRPIC_DISTANCE_MAX);
}

/*
 * Inserts skb behind all packets that are not above it. False, and nothing
 * done, if a packet that it would overtake carries an older TSval: TCP would
 * drop that one (RFC 7323, section 5, PAWS).
 *
 * From the tail: what is late by little has little to pass.
 */
static bool srpic_insert(struct list_head *list, struct sk_buff *skb,
			 bool has_tsval)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);
	struct sk_buff *pos;

	list_for_each_entry_reverse(pos, list, list) {
		if (!before(cb->seq, SRPIC_CB(pos)->seq))
			break;
		if (has_tsval && before(SRPIC_CB(pos)->tsval, cb->tsval))
			return false;
	}
	list_add(&skb->list, &pos->list);
	return true;
}

static enum srpic_place srpic_add_curr(struct srpic_block *block,
				       struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	if (!list_empty(&block->after)) {
		const struct sk_buff *head;

		/* next_exp must not pass what is in after */
		head = list_first_entry(&block->after, struct sk_buff, list);
		if (after(cb->end_seq, SRPIC_CB(head)->seq))
			return SRPIC_REFUSED_OVERLAP;
		if (block->has_tsval && before(block->after_oldest, cb->tsval))
			return SRPIC_REFUSED_TIMESTAMP;
	}

	if (before(cb->tsval, block->curr_oldest))
		block->curr_oldest = cb->tsval;
	block->next_exp = cb->end_seq;
	list_add_tail(&skb->list, &block->curr);
	return SRPIC_CURR;
}

static enum srpic_place srpic_add_after(struct srpic_block *block,
					struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);
	bool first = list_empty(&block->after);

	if (!srpic_insert(&block->after, skb, block->has_tsval))
		return SRPIC_REFUSED_TIMESTAMP;

	if (first || before(cb->tsval, block->after_oldest))
		block->after_oldest = cb->tsval;
	return SRPIC_AFTER;
}

static enum srpic_place srpic_add_prev(struct srpic_block *block,
				       struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	if (!before(cb->seq, block->seq))
		return SRPIC_REFUSED_OVERLAP;

	/* it overtakes all of curr and after */
	if (block->has_tsval &&
	    (before(block->curr_oldest, cb->tsval) ||
	     (!list_empty(&block->after) &&
	      before(block->after_oldest, cb->tsval))))
		return SRPIC_REFUSED_TIMESTAMP;

	if (!srpic_insert(&block->prev, skb, block->has_tsval))
		return SRPIC_REFUSED_TIMESTAMP;
	return SRPIC_PREV;
}

/*
 * Adds a packet to a block, or refuses it and leaves the block as it was. An
 * empty block refuses none. At most one list is walked.
 */
enum srpic_place srpic_block_add(struct srpic_block *block,
				 struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);
	enum srpic_place place;

	if (!block->pkts) {
		srpic_open(block, skb);
		block->pkts = 1;
		return SRPIC_CURR;
	}

	if (!srpic_seq_is_near(block, cb))
		return SRPIC_REFUSED_OVERLAP;
	if (cb->has_tsval != block->has_tsval)
		return SRPIC_REFUSED_TIMESTAMP;
	if (block->has_tsval && !srpic_tsval_is_near(block, cb))
		return SRPIC_REFUSED_TIMESTAMP;

	if (cb->seq == block->next_exp)
		place = srpic_add_curr(block, skb);
	else if (after(cb->seq, block->next_exp))
		place = srpic_add_after(block, skb);
	else
		place = srpic_add_prev(block, skb);

	if (place < SRPIC_REFUSED_OVERLAP)
		block->pkts++;
	return place;
}

/* Moves all packets to the tail of out, in order, and empties the block. */
void srpic_block_take(struct srpic_block *block, struct list_head *out)
{
	list_splice_tail_init(&block->prev, out);
	list_splice_tail_init(&block->curr, out);
	list_splice_tail_init(&block->after, out);
	block->pkts = 0;
}
