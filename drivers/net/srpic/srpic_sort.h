/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sorter: packets of one flow in, one ordered list out. It knows no
 * device, no header and no other flow; a packet is what struct srpic_cb says.
 *
 * Wu, DeMar, Crawford: "Sorting Reordered Packets with Interrupt Coalescing",
 * Computer Networks 53 (2009), section 3.3, Listing 1 and Table 2.
 */
#ifndef _SRPIC_SORT_H
#define _SRPIC_SORT_H

#include <linux/build_bug.h>
#include <linux/skbuff.h>
#include <linux/unaligned.h>
#include <net/tcp.h>

/*
 * Sequence numbers, or TSvals, within this distance of that of one packet can be
 * compared with each other: before() is transitive then.
 */
#define SRPIC_DISTANCE_MAX	0x40000000

#define SRPIC_NO_STAMP		U64_MAX		/* that of no packet */

/**
 * struct srpic_cb - what the sorter knows of a packet, in skb->cb
 * @stamp: the timestamp option up to the TSval, as it is in the packet; 0
 *	without the option
 * @seq: sequence number of the first byte of payload
 * @end_seq: sequence number behind the last byte of payload
 * @tsval: its TSval, once srpic_block_add() looked at it
 */
struct srpic_cb {
	u64 stamp;
	u32 seq;
	u32 end_seq;
	u32 tsval;
};

static_assert(sizeof(struct srpic_cb) <= sizeof_field(struct sk_buff, cb));

#define SRPIC_CB(skb)		((struct srpic_cb *)(skb)->cb)

/**
 * enum srpic_place - where srpic_block_add() put a packet
 * @SRPIC_CURR: in sequence
 * @SRPIC_PREV: below the first packet of curr
 * @SRPIC_AFTER: above next_exp
 * @SRPIC_REFUSED_OVERLAP: nowhere: the three lists would sort it wrongly
 * @SRPIC_REFUSED_TIMESTAMP: nowhere: it would overtake an older TSval
 *
 * After a refusal, the packet must open the next block.
 */
enum srpic_place {
	SRPIC_CURR,
	SRPIC_PREV,
	SRPIC_AFTER,
	SRPIC_REFUSED_OVERLAP,
	SRPIC_REFUSED_TIMESTAMP,
};

/**
 * struct srpic_block - packets of one flow that are being sorted
 * @pkts: packets in all three lists (the paper's PacketCnt)
 * @next_exp: sequence number that continues @curr (NextExp)
 * @next_stamp: with this stamp, a packet that continues @curr needs no closer
 *	look: that of the first, or SRPIC_NO_STAMP while @after holds a packet
 *	or the block none
 * @prev_oldest: oldest TSval in @prev, valid while that holds a packet
 * @curr_oldest: oldest TSval in @curr
 * @after_oldest: oldest TSval in @after, valid while that holds a packet
 * @curr: from its first packet to @next_exp without a hole (CurrPacketList),
 *	linked by skb->next; the last one's is not set
 * @curr_tail: last packet of @curr
 * @prev: below the first packet of @curr, sorted (PrevPacketList)
 * @after: above @next_exp, sorted (AfterPacketList)
 */
struct srpic_block {
	unsigned int pkts;
	u32 next_exp;
	u64 next_stamp;
	u32 prev_oldest;
	u32 curr_oldest;
	u32 after_oldest;
	struct sk_buff *curr;
	struct sk_buff *curr_tail;
	struct sk_buff_head prev;
	struct sk_buff_head after;
};

void srpic_block_init(struct srpic_block *block);
void srpic_block_open(struct srpic_block *block, struct sk_buff *skb);
struct sk_buff *srpic_block_take(struct srpic_block *block);

/* Behind the packets of curr, of which there are some. */
static inline void srpic_link_curr(struct srpic_block *block,
				   struct sk_buff *skb)
{
	block->pkts++;
	block->next_exp = SRPIC_CB(skb)->end_seq;
	block->curr_tail->next = skb;
	block->curr_tail = skb;
}

/*
 * The usual case of srpic_block_add(): in sequence, without a hole in front,
 * and with the stamp of the first packet. False, and nothing is done, for all
 * others.
 */
static inline bool srpic_block_append(struct srpic_block *block,
				      struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	if (cb->seq != block->next_exp || cb->stamp != block->next_stamp)
		return false;
	srpic_link_curr(block, skb);
	return true;
}

/* The TSval of a packet, 0 if there is none. */
static inline u32 srpic_tsval(const struct srpic_cb *cb)
{
	return get_unaligned_be32((const u8 *)&cb->stamp + 4);
}

static inline bool srpic_is_near(u32 number, u32 first)
{
	s32 distance = number - first;

	return distance < SRPIC_DISTANCE_MAX && distance > -SRPIC_DISTANCE_MAX;
}

/* Without a timestamp, all TSvals are 0, and no rule below applies. */
static inline bool srpic_stamp_is_near(const struct srpic_cb *cb,
				       const struct srpic_cb *first)
{
	if (cb->stamp == first->stamp)	/* the usual case */
		return true;
	return cb->stamp && first->stamp &&
	       srpic_is_near(cb->tsval, srpic_tsval(first));
}

/*
 * Inserts skb behind all packets that are not above it. False, and nothing
 * done, if a packet that it would overtake carries an older TSval: TCP would
 * drop that one (RFC 7323, section 5, PAWS). None does if the oldest of the
 * list is no older.
 *
 * From the tail: what is late by little has little to pass. There is no walk
 * if all are passed, so the first one ends it at the latest.
 */
static inline bool srpic_insert(struct sk_buff_head *list, struct sk_buff *skb,
				u32 *oldest)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);
	struct sk_buff *pos = list->prev;

	if (skb_queue_empty(list)) {
		*oldest = cb->tsval;
	} else if (before(*oldest, cb->tsval)) {
		if (before(cb->seq, SRPIC_CB(__skb_peek(list))->seq))
			return false;
		for (; before(cb->seq, SRPIC_CB(pos)->seq); pos = pos->prev)
			if (before(SRPIC_CB(pos)->tsval, cb->tsval))
				return false;
	} else {
		*oldest = cb->tsval;
		if (before(cb->seq, SRPIC_CB(__skb_peek(list))->seq))
			pos = (struct sk_buff *)list;
		else
			while (before(cb->seq, SRPIC_CB(pos)->seq))
				pos = pos->prev;
	}
	__skb_queue_after(list, pos, skb);
	return true;
}

static inline enum srpic_place srpic_add_curr(struct srpic_block *block,
					      struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	if (!skb_queue_empty(&block->after)) {
		/* next_exp must not pass what is in after */
		if (after(cb->end_seq, SRPIC_CB(__skb_peek(&block->after))->seq))
			return SRPIC_REFUSED_OVERLAP;
		if (before(block->after_oldest, cb->tsval))
			return SRPIC_REFUSED_TIMESTAMP;
	}
	if (before(cb->tsval, block->curr_oldest))
		block->curr_oldest = cb->tsval;
	srpic_link_curr(block, skb);
	return SRPIC_CURR;
}

static inline enum srpic_place srpic_add_prev(struct srpic_block *block,
					      struct sk_buff *skb)
{
	u32 tsval = SRPIC_CB(skb)->tsval;

	/* it overtakes all of curr and after */
	if (before(block->curr_oldest, tsval) ||
	    (!skb_queue_empty(&block->after) &&
	     before(block->after_oldest, tsval)) ||
	    !srpic_insert(&block->prev, skb, &block->prev_oldest))
		return SRPIC_REFUSED_TIMESTAMP;
	block->pkts++;
	return SRPIC_PREV;
}

static inline enum srpic_place srpic_add_after(struct srpic_block *block,
					       struct sk_buff *skb)
{
	if (!srpic_insert(&block->after, skb, &block->after_oldest))
		return SRPIC_REFUSED_TIMESTAMP;
	block->next_stamp = SRPIC_NO_STAMP;
	block->pkts++;
	return SRPIC_AFTER;
}

/*
 * Adds a packet to a block, or refuses it and leaves the block as it was. An
 * empty block refuses none. At most one list is walked.
 */
static inline enum srpic_place srpic_block_add(struct srpic_block *block,
					       struct sk_buff *skb)
{
	const struct srpic_cb *first = SRPIC_CB(block->curr);
	struct srpic_cb *cb = SRPIC_CB(skb);

	if (!block->pkts) {
		srpic_block_open(block, skb);
		return SRPIC_CURR;
	}

	cb->tsval = srpic_tsval(cb);
	if (!srpic_is_near(cb->seq, first->seq))
		return SRPIC_REFUSED_OVERLAP;
	if (!srpic_stamp_is_near(cb, first))
		return SRPIC_REFUSED_TIMESTAMP;

	if (cb->seq == block->next_exp)
		return srpic_add_curr(block, skb);
	if (after(cb->seq, block->next_exp))
		return srpic_add_after(block, skb);
	if (before(cb->seq, first->seq))
		return srpic_add_prev(block, skb);
	return SRPIC_REFUSED_OVERLAP;
}

#endif /* _SRPIC_SORT_H */
