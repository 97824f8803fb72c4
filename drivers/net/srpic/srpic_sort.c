// SPDX-License-Identifier: GPL-2.0
/* The sorter, see srpic_sort.h. */

#include <linux/minmax.h>
#include <linux/module.h>

#include "srpic_sort.h"

static void srpic_list_init(struct srpic_list *list)
{
	__skb_queue_head_init(&list->skbs);
	list->root = RB_ROOT_CACHED;
}

void srpic_block_init(struct srpic_block *block)
{
	memset(block, 0, sizeof(*block));
	block->next_stamp = SRPIC_NO_STAMP;
	block->filled = U64_MAX;
	srpic_list_init(&block->prev);
	srpic_list_init(&block->after);
	INIT_LIST_HEAD(&block->waiting);
}

static bool srpic_tree_insert(struct srpic_list *list, struct sk_buff *skb)
{
	struct rb_node **link = &list->root.rb_root.rb_node, *parent = NULL;
	struct sk_buff *below = NULL, *above = NULL;
	u32 seq = SRPIC_CB(skb)->seq;

	if (*link && !before(seq, SRPIC_CB(list->last)->seq)) {
		below = list->last;
		parent = &below->rbnode;
		link = &parent->rb_right;
	}
	while (*link) {
		struct sk_buff *other = rb_to_skb(*link);

		parent = *link;
		if (before(seq, SRPIC_CB(other)->seq)) {
			above = other;
			link = &parent->rb_left;
		} else {
			below = other;
			link = &parent->rb_right;
		}
	}
	if (!srpic_fits(skb, below, above))
		return false;
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color_cached(&skb->rbnode, &list->root, !below);
	if (!above)
		list->last = skb;
	list->skbs.qlen++;
	return true;
}

static void srpic_list_to_tree(struct srpic_list *list)
{
	struct sk_buff *next, *pos;

	skb_queue_walk_safe(&list->skbs, pos, next) {
		__skb_unlink(pos, &list->skbs);
		srpic_tree_insert(list, pos);
	}
}

/*
 * As srpic_list_add(), for a list that is a tree, or becomes one if it is too long
 * or the place too far from the tail. If it is not too long, the first packet
 * belongs ahead of skb.
 */
bool srpic_list_add_far(struct srpic_list *list, struct sk_buff *skb)
{
	struct sk_buff *pos = list->skbs.prev;
	u32 seq = SRPIC_CB(skb)->seq;
	unsigned int passed = 0;

	if (!srpic_list_is_tree(list) &&
	    skb_queue_len(&list->skbs) < SRPIC_LIST_MAX) {
		while (before(seq, SRPIC_CB(pos)->seq) &&
		       passed++ < SRPIC_WALK_MAX)
			pos = pos->prev;
		if (passed <= SRPIC_WALK_MAX)
			return srpic_list_insert(list, skb, pos);
	}
	srpic_list_to_tree(list);
	return srpic_tree_insert(list, skb);
}

/* Takes the first packet out of a list that has some. */
static struct sk_buff *srpic_list_pop(struct srpic_list *list,
				      struct net_device *netdev)
{
	struct sk_buff *skb = srpic_list_first(list);

	if (unlikely(srpic_list_is_tree(list))) {
		rb_erase_cached(&skb->rbnode, &list->root);
		list->skbs.qlen--;
		skb->dev = netdev;
	} else {
		__skb_unlink(skb, &list->skbs);
	}
	return skb;
}

/* Moves to curr what follows it, now that a hole may be filled. */
void srpic_block_fill(struct srpic_block *block)
{
	struct srpic_list *list = &block->after;
	struct srpic_cb *cb;

	do {
		cb = SRPIC_CB(srpic_list_first(list));
		if (after(cb->seq, block->next_exp))
			return;
		if (cb->arrived) {
			block->filled = min(block->filled, cb->arrived);
			list_del(&cb->wait);
			block->waiting_bytes -= srpic_list_first(list)->truesize;
		}
		srpic_link_curr(block, srpic_list_pop(list, block->netdev));
	} while (srpic_list_len(list));
	block->next_stamp = cb->stamp;
}

/*
 * Gives up the hole in front of after, which holds a packet: what is there then
 * leaves with curr. Not if the hole is too wide to be believed in.
 */
bool srpic_block_skip(struct srpic_block *block)
{
	u32 seq = SRPIC_CB(srpic_list_first(&block->after))->seq;
	u64 filled = block->filled;

	if (seq - block->next_exp > SRPIC_HOLE_MAX)
		return false;
	block->next_exp = seq;
	srpic_block_fill(block);
	block->filled = filled;
	return true;
}

/*
 * Takes all packets of a list, which are to follow link; returns what the next
 * ones are to follow.
 */
static struct sk_buff **srpic_list_take(struct srpic_list *list,
					struct net_device *netdev,
					struct sk_buff **link)
{
	if (unlikely(srpic_list_is_tree(list))) {
		while (srpic_list_len(list)) {
			*link = srpic_list_pop(list, netdev);
			link = &(*link)->next;
		}
	} else if (srpic_list_len(list)) {
		*link = skb_peek(&list->skbs);
		link = &skb_peek_tail(&list->skbs)->next;
		__skb_queue_head_init(&list->skbs);
	}
	return link;
}

/*
 * Takes prev and curr from a block, and after if everything is to leave whatever
 * is missing; in order, linked by skb->next up to NULL. In sequence is then what
 * follows the last one.
 */
struct sk_buff *srpic_block_take(struct srpic_block *block, bool everything)
{
	struct sk_buff *first, **link;

	link = srpic_list_take(&block->prev, block->netdev, &first);
	if (block->curr) {
		*link = block->curr;
		link = &block->curr_tail->next;
		block->curr = NULL;
	}
	if (everything && srpic_list_len(&block->after)) {
		link = srpic_list_take(&block->after, block->netdev, link);
		INIT_LIST_HEAD(&block->waiting);
		block->waiting_bytes = 0;
		if (after(block->after_end, block->next_exp)) {
			if (block->after_end - block->next_exp > SRPIC_HOLE_MAX)
				srpic_block_forget(block);
			block->next_exp = block->after_end;
		}
	}
	*link = NULL;
	block->curr_seq = block->next_exp;
	block->pkts = 0;
	block->reordered = 0;
	block->filled = U64_MAX;
	block->next_stamp = SRPIC_NO_STAMP;
	return first;
}

MODULE_DESCRIPTION("Sorting Reordered Packets with Interrupt Coalescing");
MODULE_LICENSE("GPL");
