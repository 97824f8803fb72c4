// SPDX-License-Identifier: GPL-2.0
/* The sorter: how a block begins and ends, see srpic_sort.h. */

#include <linux/module.h>

#include "srpic_sort.h"

void srpic_block_init(struct srpic_block *block)
{
	block->pkts = 0;
	block->next_stamp = SRPIC_NO_STAMP;
	__skb_queue_head_init(&block->prev);
	__skb_queue_head_init(&block->after);
}

/* Adds the first packet of a block, which always goes to curr. */
void srpic_block_open(struct srpic_block *block, struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	block->pkts = 1;
	block->next_exp = cb->end_seq;
	block->next_stamp = cb->stamp;
	block->curr_oldest = srpic_tsval(cb);
	block->curr = skb;
	block->curr_tail = skb;
}

/*
 * Takes all packets from a block that holds some, in order, linked by
 * skb->next up to NULL.
 */
struct sk_buff *srpic_block_take(struct srpic_block *block)
{
	struct sk_buff *first = block->curr;

	block->curr_tail->next = skb_peek(&block->after);
	if (!skb_queue_empty(&block->after)) {
		skb_peek_tail(&block->after)->next = NULL;
		__skb_queue_head_init(&block->after);
	}
	if (!skb_queue_empty(&block->prev)) {
		first = skb_peek(&block->prev);
		skb_peek_tail(&block->prev)->next = block->curr;
		__skb_queue_head_init(&block->prev);
	}
	block->pkts = 0;
	block->next_stamp = SRPIC_NO_STAMP;
	return first;
}

MODULE_DESCRIPTION("Sorting Reordered Packets with Interrupt Coalescing");
MODULE_LICENSE("GPL");
