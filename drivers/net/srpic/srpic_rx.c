// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path: which manager takes a packet, and when blocks are flushed.
 *
 *   srpic_receive() -> srpic_parse() -> SRPIC_TAKE ------> a manager's block
 *                                       SRPIC_BARRIER...    | a flush, merged
 *                                       SRPIC_PASS          v
 *                                       +----------------> napi_gro_receive()
 */

#include <linux/export.h>
#include <linux/minmax.h>

#include "srpic_merge.h"
#include "srpic_parse.h"
#include "srpic_priv.h"

#include <trace/events/srpic.h>

/* Sends up the packets of prev and curr, and of after if everything is to leave. */
void srpic_leave(struct srpic *srpic, struct srpic_manager *manager,
		 enum srpic_stat cause, bool everything)
{
	struct srpic_block *block = &manager->block;
	struct napi_struct *napi = srpic->napi;
	struct sk_buff *skb, *next;
	unsigned int pkts;

	pkts = block->pkts + (everything ? srpic_list_len(&block->after) : 0);
	if (!pkts)
		return;

	u64_stats_update_begin(&srpic->syncp);
	u64_stats_inc(&srpic->count[cause]);
	u64_stats_add(&srpic->count[SRPIC_PACKETS_TAKEN], pkts);
	u64_stats_add(&srpic->count[SRPIC_PACKETS_OUT_OF_ORDER],
		      block->reordered);
	u64_stats_update_end(&srpic->syncp);
	trace_srpic_flush(srpic, manager, cause, everything);

	if (unlikely(block->filled != U64_MAX))
		srpic_note_filled(srpic, manager);
	skb = srpic_block_take(block, everything);
	if ((pkts > 1 || manager->merged) && srpic_may_merge(block->netdev)) {
		manager->merged = srpic_receive_merged(napi, skb,
						       manager->merged);
		return;
	}
	skb_list_walk_safe(skb, skb, next) {
		skb_mark_not_on_list(skb);
		napi_gro_receive(napi, skb);
	}
}

/* Sends up all packets of a manager, whatever is missing between them. */
void srpic_deliver(struct srpic *srpic, struct srpic_manager *manager,
		   enum srpic_stat cause)
{
	srpic_leave(srpic, manager, cause, true);
	manager->waits = false;
	if (!srpic->hold_ns)	/* the next packet opens the next block */
		srpic_block_forget(&manager->block);
}

/* Ends all waiting, and forgets all flows. */
static void srpic_flush_all(struct srpic *srpic, enum srpic_stat cause)
{
	struct srpic_table *table = &srpic->table;
	unsigned int i;

	for (i = 0; i < table->num_active; i++)
		srpic_deliver(srpic, table->active[i], cause);
	srpic_table_clear(table);
	srpic->left = 0;
	if (srpic->held_pkts)
		srpic_set_timer(srpic, U64_MAX);
	srpic->held_bytes = 0;
	WRITE_ONCE(srpic->held_pkts, 0);
}

/* Settings change between two full flushes only. */
static void srpic_read_settings(struct srpic *srpic)
{
	const struct srpic_dev *sd = srpic->sd;
	const struct srpic_net *settings = srpic_net(dev_net(sd->netdev));
	unsigned int pkts = READ_ONCE(settings->full_flush_pkts);

	if (!pkts)
		pkts = READ_ONCE(sd->ring_pkts);
	srpic->left = pkts ?: SRPIC_PKTS_MAX;
	srpic->block_size = READ_ONCE(settings->block_size);
	srpic->hold_ns = READ_ONCE(settings->hold_usecs) * (u64)NSEC_PER_USEC;
}

/* Whether packets may wait beyond the softirq; for those that seldom come. */
static bool srpic_holds(struct srpic *srpic)
{
	if (!srpic->left)
		srpic_read_settings(srpic);
	return srpic->hold_ns;
}

/* What waits for a hole to be filled does not make a block full. */
static bool srpic_is_full(const struct srpic *srpic,
			  const struct srpic_block *block)
{
	return block->pkts + (srpic->hold_ns ? 0 : srpic_list_len(&block->after)) >=
	       srpic->block_size;
}

/* Something is full now that the manager has got a packet. */
static noinline void srpic_flush_full(struct srpic *srpic,
				      struct srpic_manager *manager)
{
	struct srpic_table *table = &srpic->table;
	unsigned int i;

	if (srpic_is_full(srpic, &manager->block))
		srpic_release(srpic, manager, SRPIC_FLUSH_BLOCK);
	if (!srpic->left)
		for (i = 0; i < table->num_active; i++)
			srpic_release(srpic, table->active[i],
				      SRPIC_FLUSH_RING);
}

static void srpic_sort(struct srpic *srpic, struct srpic_manager *manager,
		       struct sk_buff *skb);

/* Once nothing is held, the packet is not refused again. */
static noinline void srpic_sort_refused(struct srpic *srpic,
					struct srpic_manager *manager,
					struct sk_buff *skb,
					enum srpic_place place)
{
	srpic_deliver(srpic, manager,
		      place == SRPIC_REFUSED_OVERLAP ?
		      SRPIC_FLUSH_OVERLAP : SRPIC_FLUSH_TIMESTAMP);
	srpic_sort(srpic, manager, skb);
}

/* One round of the loop in Listing 1, for a packet of this manager's flow. */
static void srpic_sort(struct srpic *srpic, struct srpic_manager *manager,
		       struct sk_buff *skb)
{
	struct srpic_block *block = &manager->block;
	enum srpic_place place;

	if (!srpic->left)
		srpic_read_settings(srpic);
	if (!manager->active) {
		srpic_table_activate(&srpic->table, manager);
		if (block->known &&
		    time_after(jiffies, manager->known_at + SRPIC_REMEMBER))
			srpic_block_forget(block);
	}
	SRPIC_CB(skb)->arrived = srpic->hold_ns ? srpic_now(srpic) : 0;

	place = srpic_block_add(block, skb);
	if (unlikely(place >= SRPIC_REFUSED_OVERLAP)) {
		srpic_sort_refused(srpic, manager, skb, place);
		return;
	}
	if (place == SRPIC_AFTER && srpic->hold_ns) {
		WRITE_ONCE(srpic->held_pkts, srpic->held_pkts + 1);
		srpic->held_bytes += skb->truesize;
		if (srpic->held_pkts > SRPIC_HELD_PKTS_MAX ||
		    srpic->held_bytes > SRPIC_HELD_BYTES_MAX)
			srpic_make_room(srpic);
	}
	if (!--srpic->left || srpic_is_full(srpic, block))
		srpic_flush_full(srpic, manager);
}

/* For a packet of a flow that has a manager. */
static __always_inline void
srpic_take_next(struct srpic *srpic, struct srpic_manager *manager,
		struct sk_buff *skb)
{
	if (!srpic_block_append(&manager->block, skb))
		srpic_sort(srpic, manager, skb);
	else if (!--srpic->left || manager->block.pkts >= srpic->block_size)
		srpic_flush_full(srpic, manager);
}

/* For a packet of another flow than that of the packet before. */
static void srpic_take(struct srpic *srpic, struct sk_buff *skb,
		       struct srpic_flow flow)
{
	struct srpic_table *table = &srpic->table;
	struct srpic_manager *manager;

	if (srpic_table_search(table, skb->dev, flow, &manager)) {
		srpic_take_next(srpic, manager, skb);
		return;
	}

	if (!srpic_block_is_empty(&manager->block))
		srpic_deliver(srpic, manager, SRPIC_FLUSH_EVICT);
	srpic_table_open(table, manager, skb->dev, flow);
	srpic_sort(srpic, manager, skb);
}

/*
 * Nobody knows where the flow goes on behind data that was not read. What is below
 * those that have left is late, though, and waits for none of them.
 */
static void srpic_flush_barrier(struct srpic *srpic,
				struct srpic_manager *manager, bool has_data)
{
	srpic_deliver(srpic, manager, SRPIC_FLUSH_BARRIER);
	if (has_data && manager->block.known == SRPIC_KNOWN) {
		manager->block.known = SRPIC_KNOWN_LEAST;
		manager->known_at = jiffies;
	}
}

/* For a packet behind which a flow begins, so that its first packets are sorted. */
static void srpic_expect_flow(struct srpic *srpic, const struct sk_buff *skb,
			      struct srpic_flow flow)
{
	struct srpic_table *table = &srpic->table;
	u32 next_exp = SRPIC_CB(skb)->end_seq;
	struct srpic_manager *manager;
	bool found;

	found = srpic_table_search(table, skb->dev, flow, &manager);
	if (found)
		srpic_flush_barrier(srpic, manager, true);
	if (!srpic_holds(srpic))
		return;
	if (!found) {
		if (srpic_manager_is_used(manager))
			return;		/* no other flow is forgotten for it */
		srpic_table_open(table, manager, skb->dev, flow);
	} else if (manager->block.known &&
		   !after(next_exp, manager->block.next_exp)) {
		return;			/* a duplicate, or a late one */
	}
	manager->block.next_exp = next_exp;
	manager->block.known = SRPIC_KNOWN;
	manager->known_at = jiffies;
}

static void srpic_flush_pair(struct srpic *srpic,
			     const struct net_device *netdev,
			     struct srpic_flow flow)
{
	struct srpic_table *table = &srpic->table;
	unsigned int i;

	for (i = 0; i < table->num_used; i++)
		if (srpic_key_is_pair(&table->used[i]->key, netdev, flow))
			srpic_flush_barrier(srpic, table->used[i], true);
}

/* For a packet that is not suitable, and knows its flow. */
static void srpic_flush_flow(struct srpic *srpic, const struct sk_buff *skb,
			     enum srpic_class class, struct srpic_flow flow)
{
	struct srpic_manager *manager;

	if (!srpic_table_search(&srpic->table, skb->dev, flow, &manager))
		return;
	if (class == SRPIC_BARRIER_ACK &&
	    srpic_block_waits_behind(&manager->block, skb))
		srpic_leave(srpic, manager, SRPIC_FLUSH_BARRIER, false);
	else
		srpic_flush_barrier(srpic, manager, class == SRPIC_BARRIER);
}

/* For a packet that is not suitable. */
static void srpic_pass(struct srpic *srpic, struct sk_buff *skb,
		       enum srpic_class class, struct srpic_flow flow)
{
	if (class == SRPIC_BARRIER || class == SRPIC_BARRIER_EMPTY ||
	    class == SRPIC_BARRIER_ACK)
		srpic_flush_flow(srpic, skb, class, flow);
	else if (class == SRPIC_BARRIER_SYN)
		srpic_expect_flow(srpic, skb, flow);
	else if (class == SRPIC_BARRIER_PAIR)
		srpic_flush_pair(srpic, skb->dev, flow);

	u64_stats_update_begin(&srpic->syncp);
	u64_stats_inc(&srpic->count[SRPIC_PACKETS_PASSED]);
	u64_stats_update_end(&srpic->syncp);
	napi_gro_receive(srpic->napi, skb);
}

/* For a packet that was parsed, and of which no more has to be known. */
static __always_inline void
srpic_receive_parsed(struct srpic *srpic, struct sk_buff *skb,
		     enum srpic_class class, struct srpic_flow flow)
{
	struct srpic_manager *last = srpic->table.last;

	if (class != SRPIC_TAKE)
		srpic_pass(srpic, skb, class, flow);
	else if (srpic_key_is(&last->key, skb->dev, flow))
		srpic_take_next(srpic, last, skb);
	else
		srpic_take(srpic, skb, flow);
}

/* The slow path: for a packet of which one look was not enough. */
static void srpic_receive_slow(struct srpic *srpic, struct sk_buff *skb)
{
	struct srpic_flow flow = { .id = srpic_skb_vlan(skb) };
	u8 copy[SRPIC_HLEN_MAX] __aligned(4);
	const void *data = skb->data, *header;
	__be16 proto = skb->protocol;
	unsigned int len, ahead = 0;
	enum srpic_class class;

	if (skb_headlen(skb) < sizeof(copy)) {
		/* what is not there is 0 */
		memset(copy, 0, sizeof(copy));
		skb_copy_bits(skb, 0, copy, min(skb->len, sizeof(copy)));
		data = copy;
	}
	if (eth_type_vlan(proto) && !skb_vlan_tag_present(skb)) {
		const struct vlan_hdr *vh = data;

		flow.id = srpic_vlan(proto, ntohs(vh->h_vlan_TCI));
		proto = vh->h_vlan_encapsulated_proto;
		ahead = VLAN_HLEN;
	}
	header = data + ahead;
	len = srpic_packet_len(header, skb->len - ahead, proto);
	class = srpic_parse(skb, &flow, header, SRPIC_HLEN_MAX - VLAN_HLEN, len,
			    proto);
	if (class == SRPIC_ODD)
		class = srpic_odd_class(skb, flow, ahead, len,
					srpic_holds(srpic));
	else if (class == SRPIC_SLOW)
		class = srpic_slow_class(skb, &flow, header, ahead, proto);
	if (class == SRPIC_VERIFY)
		class = ahead + len == skb->len &&
			srpic_csum_is_good(skb, data, ahead,
					   flow.id & SRPIC_FLOW_IPV6) ?
			SRPIC_TAKE : SRPIC_BARRIER;
	srpic_receive_parsed(srpic, skb, class, flow);
}

/* For a packet that is suitable if its checksum, which is to be made, is good. */
static noinline void srpic_receive_none(struct srpic *srpic,
					struct sk_buff *skb,
					struct srpic_flow flow)
{
	bool is_ipv6 = flow.id & SRPIC_FLOW_IPV6;
	const void *data = flow.addrs;

	data -= is_ipv6 ? offsetof(struct ipv6hdr, addrs) :
			  offsetof(struct iphdr, addrs);
	srpic_receive_parsed(srpic, skb,
			     srpic_csum_is_good(skb, data, 0, is_ipv6) ?
			     SRPIC_TAKE : SRPIC_BARRIER, flow);
}

/* For a packet that is suitable if its checksum is good. */
static void srpic_receive_csum(struct srpic *srpic, struct sk_buff *skb,
			       struct srpic_flow flow)
{
	const void *addrs = flow.addrs;
	bool is_good;

	if (skb->ip_summed == CHECKSUM_NONE) {
		srpic_receive_none(srpic, skb, flow);
		return;
	}
	is_good = flow.id & SRPIC_FLOW_IPV6 ?
		  srpic_sum_is_good(skb, skb->csum, addrs -
				    offsetof(struct ipv6hdr, addrs), 0, true) :
		  srpic_sum_is_good(skb, skb->csum, addrs -
				    offsetof(struct iphdr, addrs), 0, false);
	srpic_receive_parsed(srpic, skb, is_good ? SRPIC_TAKE : SRPIC_BARRIER,
			     flow);
}

/* For a packet that takes a closer look, and has all that this takes in reach. */
static noinline void srpic_receive_odd(struct srpic *srpic,
				       struct sk_buff *skb,
				       struct srpic_flow flow)
{
	enum srpic_class class = srpic_odd_class(skb, flow, 0, skb->len,
						 srpic_holds(srpic));

	if (class == SRPIC_VERIFY)
		srpic_receive_csum(srpic, skb, flow);
	else
		srpic_receive_parsed(srpic, skb, class, flow);
}

/* For a packet with nothing linear: GRO, too, takes the first fragment then. */
static noinline void srpic_receive_frag0(struct srpic *srpic,
					 struct sk_buff *skb)
{
	const skb_frag_t *frag = &skb_shinfo(skb)->frags[0];
	struct srpic_flow flow = { .id = srpic_skb_vlan(skb) };
	enum srpic_class class = SRPIC_SLOW;
	struct page *page = NULL;

	if (skb_shinfo(skb)->nr_frags)
		page = skb_frag_page(frag);
	if (page && !PageHighMem(page) &&
	    (!NET_IP_ALIGN || IS_ALIGNED(skb_frag_off(frag), 4)))
		class = srpic_parse(skb, &flow, skb_frag_address(frag),
				    skb_frag_size(frag), skb->len,
				    skb->protocol);
	if (class == SRPIC_SLOW)
		srpic_receive_slow(srpic, skb);
	else if (class == SRPIC_ODD)
		srpic_receive_odd(srpic, skb, flow);
	else if (class == SRPIC_VERIFY)
		srpic_receive_csum(srpic, skb, flow);
	else
		srpic_receive_parsed(srpic, skb, class, flow);
}

/**
 * __srpic_receive - receive a packet while SRPIC is on
 * @srpic: the context of the NAPI instance that is polled
 * @skb: the packet; consumed
 *
 * Drivers call srpic_receive().
 *
 * Most packets continue the block of the packet before. What others need is
 * called last, so that nothing has to be saved for it.
 *
 * Context: the poll function of the NAPI instance, after srpic_begin().
 */
void __srpic_receive(struct srpic *srpic, struct sk_buff *skb)
{
	struct srpic_flow flow = { .id = srpic_skb_vlan(skb) };
	enum srpic_class class;

	class = srpic_parse(skb, &flow, skb->data, skb_headlen(skb), skb->len,
			    skb->protocol);
	if (class == SRPIC_SLOW && !skb_headlen(skb))
		srpic_receive_frag0(srpic, skb);
	else if (class == SRPIC_SLOW)
		srpic_receive_slow(srpic, skb);
	else if (class == SRPIC_ODD)
		srpic_receive_odd(srpic, skb, flow);
	else if (class == SRPIC_VERIFY)
		srpic_receive_csum(srpic, skb, flow);
	else
		srpic_receive_parsed(srpic, skb, class, flow);
}
EXPORT_SYMBOL_GPL(__srpic_receive);

/**
 * __srpic_switch - begin a poll with another context than that of the last one
 * @sn: the NAPI instance that is polled
 * @active: the context from now on, NULL if SRPIC was switched off
 *
 * Drivers call srpic_begin().
 *
 * Context: the poll function of the NAPI instance.
 */
void __srpic_switch(struct srpic_napi *sn, struct srpic *active)
{
	if (sn->poll)
		srpic_flush_all(sn->poll, SRPIC_FLUSH_POLL);
	sn->poll = active;
}
EXPORT_SYMBOL_GPL(__srpic_switch);

/*
 * Whether somebody waits for this poll. The core may leave the instance alone
 * afterwards, even if the budget is used up: it is on nobody's list then, nor
 * that of its thread.
 */
static bool srpic_is_busy_polled(const struct napi_struct *napi,
				 unsigned long state)
{
	return state & (NAPIF_STATE_IN_BUSY_POLL |
			NAPIF_STATE_PREFER_BUSY_POLL) ||
	       (READ_ONCE(napi->list_owner) < 0 &&
		!(state & NAPIF_STATE_SCHED_THREADED));
}

/**
 * __srpic_end - end a poll
 * @sn: the NAPI instance that is polled
 * @complete: whether NAPI is about to complete
 *
 * Drivers call srpic_end().
 *
 * Context: the poll function of the NAPI instance, after srpic_begin().
 */
void __srpic_end(struct srpic_napi *sn, bool complete)
{
	unsigned long state = READ_ONCE(sn->napi->state);
	struct srpic *srpic = sn->poll;

	/*
	 * To come after napi_complete_done() is a bug, which is seen here unless
	 * the instance was scheduled again meanwhile.
	 */
	DEBUG_NET_WARN_ON_ONCE(!(state & NAPIF_STATE_SCHED));

	if (atomic_read(&sn->stopping) || srpic_is_busy_polled(sn->napi, state) ||
	    (complete && !srpic->hold_ns))
		srpic_flush_all(srpic, SRPIC_FLUSH_POLL);
	else if (srpic->hold_ns || srpic->held_pkts)
		srpic_end_holding(srpic, complete);
	srpic->now = 0;
}
EXPORT_SYMBOL_GPL(__srpic_end);
