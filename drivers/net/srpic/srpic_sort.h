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
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/sizes.h>
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
 * @end_seq: sequence number behind the last byte of payload, and FIN
 * @tsval: its TSval, once srpic_block_add() looked at it
 * @arrived: when it came, in ns; 0 if nobody wants to know
 * @wait: on srpic_block.waiting, while the packet is in after and that is known
 */
struct srpic_cb {
	u64 stamp;
	u32 seq;
	u32 end_seq;
	u32 tsval;
	u64 arrived;
	struct list_head wait;
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
 * After a refusal, all that is held must leave first: then it has a place.
 */
enum srpic_place {
	SRPIC_CURR,
	SRPIC_PREV,
	SRPIC_AFTER,
	SRPIC_REFUSED_OVERLAP,
	SRPIC_REFUSED_TIMESTAMP,
};

/* A packet that has to pass more than so many in a list makes it a tree. */
#define SRPIC_WALK_MAX		64

/* A list with so many packets becomes a tree in any case. */
#define SRPIC_LIST_MAX		512

/**
 * enum srpic_known - what is known of where a flow goes on
 * @SRPIC_KNOWN_NOT: nothing
 * @SRPIC_KNOWN_LEAST: not below next_exp, as a packet that was not read may have
 *	been the next one
 * @SRPIC_KNOWN: at next_exp
 */
enum srpic_known {
	SRPIC_KNOWN_NOT,
	SRPIC_KNOWN_LEAST,
	SRPIC_KNOWN,
};

/* Over a hole of more bytes, sequence numbers are not believed in. */
#define SRPIC_HOLE_MAX		SZ_64M

/**
 * struct srpic_list - packets sorted by sequence number, and by TSval as well
 * @skbs: the packets, if they are a list; how many there are, in any case
 * @root: the packets, if they are a tree until it is empty: by skb->rbnode, so
 *	that their skb->dev is lost
 * @last: the last one of the tree
 *
 * Finding a place takes two comparisons at the ends, and no more than
 * SRPIC_WALK_MAX elsewhere: in a tree, two for each doubling of the packets. A
 * list becomes a tree at most once until it is empty, which moves SRPIC_LIST_MAX
 * packets at the most.
 */
struct srpic_list {
	struct sk_buff_head skbs;
	struct rb_root_cached root;
	struct sk_buff *last;
};

/**
 * struct srpic_block - packets of one flow that are being sorted
 * @pkts: packets in @prev and @curr, which can leave (with those in @after, the
 *	paper's PacketCnt)
 * @next_exp: sequence number that continues @curr, or what left last (NextExp)
 * @next_stamp: with this stamp, a packet that continues @curr needs no closer
 *	look: that of its last packet, or SRPIC_NO_STAMP while @after holds a
 *	packet or @curr none
 * @first_stamp: that of the first packet since nothing was held
 * @curr_seq: sequence number of the first packet of @curr, @next_exp without one
 * @curr_oldest: oldest TSval in @curr, valid while that holds a packet
 * @after_end: highest sequence number behind a packet of @after, valid while that
 *	holds a packet
 * @reordered: how many packets went to @prev or @after
 * @known: what @next_exp is worth; while @curr or @after holds a packet,
 *	SRPIC_KNOWN
 * @filled: when the first of those came that were in @after, and are in @curr
 *	as a hole was filled; U64_MAX if there are none
 * @curr: from its first packet to @next_exp without a hole (CurrPacketList),
 *	linked by skb->next; the last one's is not set
 * @curr_tail: last packet of @curr
 * @prev: below the first packet of @curr (PrevPacketList)
 * @after: above @next_exp (AfterPacketList)
 * @waiting: the packets of @after as they came, if it is known when
 * @waiting_bytes: their memory, by skb->truesize
 * @netdev: the device of all packets
 */
struct srpic_block {
	unsigned int pkts;
	u32 next_exp;
	u64 next_stamp;
	u64 first_stamp;
	u32 curr_seq;
	u32 curr_oldest;
	u32 after_end;
	unsigned int reordered;
	enum srpic_known known;
	u64 filled;
	struct sk_buff *curr;
	struct sk_buff *curr_tail;
	struct srpic_list prev;
	struct srpic_list after;
	struct list_head waiting;
	unsigned int waiting_bytes;
	struct net_device *netdev;
};

bool srpic_list_add_far(struct srpic_list *list, struct sk_buff *skb);
void srpic_block_init(struct srpic_block *block);
void srpic_block_fill(struct srpic_block *block);
bool srpic_block_skip(struct srpic_block *block);
struct sk_buff *srpic_block_take(struct srpic_block *block, bool everything);

static inline unsigned int srpic_list_len(const struct srpic_list *list)
{
	return skb_queue_len(&list->skbs);
}

static inline bool srpic_block_is_empty(const struct srpic_block *block)
{
	return !block->pkts && !srpic_list_len(&block->after);
}

/* When the packet came that waits longest, U64_MAX if none does. */
static inline u64 srpic_block_waits_since(struct srpic_block *block)
{
	const struct srpic_cb *cb;

	cb = list_first_entry_or_null(&block->waiting, struct srpic_cb, wait);
	return cb ? cb->arrived : U64_MAX;
}

/* Makes it forget the flow; nothing is held. */
static inline void srpic_block_forget(struct srpic_block *block)
{
	block->known = SRPIC_KNOWN_NOT;
}

/*
 * The usual case of srpic_block_add(): in sequence, without a hole in front,
 * and with the stamp of the packet before. False, and nothing is done, for all
 * others.
 */
static inline bool srpic_block_append(struct srpic_block *block,
				      struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	if (cb->seq != block->next_exp || cb->stamp != block->next_stamp)
		return false;
	block->pkts++;
	block->next_exp = cb->end_seq;
	block->curr_tail->next = skb;
	block->curr_tail = skb;
	return true;
}

static inline bool srpic_list_is_tree(const struct srpic_list *list)
{
	return !RB_EMPTY_ROOT(&list->root.rb_root);
}

/* The first packet of a list that has some. */
static inline struct sk_buff *srpic_list_first(const struct srpic_list *list)
{
	return unlikely(srpic_list_is_tree(list)) ?
	       rb_to_skb(rb_first_cached(&list->root)) :
	       __skb_peek(&list->skbs);
}

/*
 * Whether skb may go between two packets, or to an end. Not if it would overtake
 * an older TSval: TCP would drop that packet (RFC 7323, section 5, PAWS). As the
 * list is sorted by TSval, too, a look at the neighbours is enough; a packet
 * ahead with a newer one, which can be a retransmission only, keeps skb out as
 * well.
 */
static inline bool srpic_fits(const struct sk_buff *skb,
			      const struct sk_buff *below,
			      const struct sk_buff *above)
{
	u32 tsval = SRPIC_CB(skb)->tsval;

	return !(above && before(SRPIC_CB(above)->tsval, tsval)) &&
	       !(below && before(tsval, SRPIC_CB(below)->tsval));
}

/* Inserts skb behind pos, which may be the list's head, or returns false. */
static inline bool srpic_list_insert(struct srpic_list *list,
				     struct sk_buff *skb, struct sk_buff *pos)
{
	struct sk_buff *head = (struct sk_buff *)&list->skbs;

	if (!srpic_fits(skb, pos != head ? pos : NULL,
			pos->next != head ? pos->next : NULL))
		return false;
	__skb_queue_after(&list->skbs, pos, skb);
	return true;
}

/*
 * Inserts skb behind all packets that are not above it, or returns false. From
 * the tail: what is late by little has little to pass.
 */
static inline bool srpic_list_add(struct srpic_list *list, struct sk_buff *skb)
{
	struct sk_buff *head = (struct sk_buff *)&list->skbs;
	struct sk_buff *pos = list->skbs.prev;
	u32 seq = SRPIC_CB(skb)->seq;

	if (unlikely(skb_queue_len(&list->skbs) >= SRPIC_LIST_MAX ||
		     srpic_list_is_tree(list)))
		return srpic_list_add_far(list, skb);
	if (pos == head || !before(seq, SRPIC_CB(pos)->seq))
		return srpic_list_insert(list, skb, pos);
	if (before(seq, SRPIC_CB(head->next)->seq))
		return srpic_list_insert(list, skb, head);
	if (skb_queue_len(&list->skbs) > SRPIC_WALK_MAX)
		return srpic_list_add_far(list, skb);
	while (before(seq, SRPIC_CB(pos)->seq))
		pos = pos->prev;	/* the first one ends it at the latest */
	return srpic_list_insert(list, skb, pos);
}

/* The TSval of a packet, 0 if there is none. */
static inline u32 srpic_tsval(u64 stamp)
{
	return get_unaligned_be32((const u8 *)&stamp + 4);
}

static inline bool srpic_is_near(u32 number, u32 first)
{
	s32 distance = number - first;

	return distance < SRPIC_DISTANCE_MAX && distance > -SRPIC_DISTANCE_MAX;
}

/* Without a timestamp, all TSvals are 0, and no rule here applies. */
static inline bool srpic_stamp_is_near(u64 stamp, u64 first)
{
	if (stamp == first)	/* the usual case */
		return true;
	return stamp && first &&
	       srpic_is_near(srpic_tsval(stamp), srpic_tsval(first));
}

/* To the end of curr; next_exp does not go back. */
static inline void srpic_link_curr(struct srpic_block *block,
				   struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	if (!block->curr) {
		block->curr = skb;
		block->curr_oldest = cb->tsval;
	} else {
		block->curr_tail->next = skb;
		if (before(cb->tsval, block->curr_oldest))
			block->curr_oldest = cb->tsval;
	}
	block->curr_tail = skb;
	block->pkts++;
	if (after(cb->end_seq, block->next_exp))
		block->next_exp = cb->end_seq;
}

static inline enum srpic_place srpic_add_curr(struct srpic_block *block,
					      struct sk_buff *skb)
{
	struct srpic_list *list = &block->after;

	if (srpic_list_len(list) &&
	    before(SRPIC_CB(srpic_list_first(list))->tsval, SRPIC_CB(skb)->tsval))
		return SRPIC_REFUSED_TIMESTAMP;
	srpic_link_curr(block, skb);
	if (srpic_list_len(list))
		srpic_block_fill(block);
	else
		block->next_stamp = SRPIC_CB(skb)->stamp;
	return SRPIC_CURR;
}

static inline enum srpic_place srpic_add_prev(struct srpic_block *block,
					      struct sk_buff *skb)
{
	u32 tsval = SRPIC_CB(skb)->tsval;

	/* it overtakes all of curr and after */
	if ((block->curr && before(block->curr_oldest, tsval)) ||
	    (srpic_list_len(&block->after) &&
	     before(SRPIC_CB(srpic_list_first(&block->after))->tsval, tsval)) ||
	    !srpic_list_add(&block->prev, skb))
		return SRPIC_REFUSED_TIMESTAMP;
	block->pkts++;
	block->reordered++;
	return SRPIC_PREV;
}

static inline enum srpic_place srpic_add_after(struct srpic_block *block,
					       struct sk_buff *skb)
{
	struct srpic_cb *cb = SRPIC_CB(skb);

	if (!srpic_list_add(&block->after, skb))
		return SRPIC_REFUSED_TIMESTAMP;
	if (cb->arrived) {
		list_add_tail(&cb->wait, &block->waiting);
		block->waiting_bytes += skb->truesize;
	}
	if (srpic_list_len(&block->after) == 1 ||
	    after(cb->end_seq, block->after_end))
		block->after_end = cb->end_seq;
	block->next_stamp = SRPIC_NO_STAMP;
	block->reordered++;
	return SRPIC_AFTER;
}

/*
 * Whether a packet without data was sent ahead of all of after, and may overtake
 * it: the first one there is the lowest, and the oldest.
 */
static inline bool srpic_block_waits_behind(const struct srpic_block *block,
					    const struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb), *first;

	if (!srpic_list_len(&block->after))
		return false;
	first = SRPIC_CB(srpic_list_first(&block->after));
	return !after(cb->seq, first->seq) &&
	       srpic_is_near(cb->seq, first->seq) &&
	       srpic_stamp_is_near(cb->stamp, first->stamp) &&
	       !before(first->tsval, srpic_tsval(cb->stamp));
}

/* Whether it has data on both sides, so that next_exp will not continue. */
static inline bool srpic_straddles(const struct srpic_cb *cb, u32 next_exp)
{
	return before(cb->seq, next_exp) && after(cb->end_seq, next_exp);
}

/* The first packet of a flow of which nothing is held, or known that it fits to. */
static inline enum srpic_place srpic_block_begin(struct srpic_block *block,
						 struct sk_buff *skb)
{
	const struct srpic_cb *cb = SRPIC_CB(skb);

	block->known = SRPIC_KNOWN;
	block->pkts = 1;
	block->curr = skb;
	block->curr_tail = skb;
	block->curr_seq = cb->seq;
	block->curr_oldest = cb->tsval;
	block->next_exp = cb->end_seq;
	block->next_stamp = cb->stamp;
	block->first_stamp = cb->stamp;
	return SRPIC_CURR;
}

/*
 * Adds a packet to a block, or refuses it and leaves the block as it was. One
 * that holds nothing refuses none.
 */
static inline enum srpic_place srpic_block_add(struct srpic_block *block,
					       struct sk_buff *skb)
{
	struct srpic_cb *cb = SRPIC_CB(skb);

	cb->tsval = srpic_tsval(cb->stamp);
	if (srpic_block_is_empty(block)) {
		if (!block->known || !srpic_is_near(cb->seq, block->next_exp) ||
		    srpic_straddles(cb, block->next_exp))
			return srpic_block_begin(block, skb);
		block->curr_seq = block->next_exp;
		block->first_stamp = cb->stamp;
	} else if (!srpic_is_near(cb->seq, block->curr_seq) ||
		   srpic_straddles(cb, block->next_exp)) {
		return SRPIC_REFUSED_OVERLAP;
	} else if (!srpic_stamp_is_near(cb->stamp, block->first_stamp)) {
		return SRPIC_REFUSED_TIMESTAMP;
	}
	if (block->known != SRPIC_KNOWN && !before(cb->seq, block->next_exp)) {
		if (srpic_list_len(&block->prev) &&
		    !srpic_is_near(cb->seq,
				   SRPIC_CB(srpic_list_first(&block->prev))->seq))
			return SRPIC_REFUSED_OVERLAP;
		block->next_exp = cb->seq;
		block->curr_seq = cb->seq;
		block->known = SRPIC_KNOWN;
	}

	if (cb->seq == block->next_exp)
		return srpic_add_curr(block, skb);
	if (after(cb->seq, block->next_exp))
		return srpic_add_after(block, skb);
	if (before(cb->seq, block->curr_seq))
		return srpic_add_prev(block, skb);
	return SRPIC_REFUSED_OVERLAP;
}

#endif /* _SRPIC_SORT_H */
