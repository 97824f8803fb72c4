// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path: which manager takes a packet, and when blocks are flushed.
 *
 *   srpic_receive() -> srpic_parse() -> SRPIC_TAKE ------> a manager's block
 *                                       SRPIC_BARRIER       |
 *                                       SRPIC_BARRIER_PAIR  | a flush
 *                                       SRPIC_PASS          v
 *                                       +----------------> napi_gro_receive()
 */

#include <linux/export.h>

#include "srpic_parse.h"
#include "srpic_priv.h"

/* Sends up all packets of a manager, in order, and empties its block. */
static void srpic_deliver(struct srpic *srpic, struct srpic_manager *manager,
			  enum srpic_stat cause)
{
	struct srpic_block *block = &manager->block;
	struct napi_struct *napi = srpic->napi;
	struct sk_buff *skb, *next;

	u64_stats_update_begin(&srpic->syncp);
	u64_stats_inc(&srpic->count[cause]);
	u64_stats_add(&srpic->count[SRPIC_PACKETS_TAKEN], block->pkts);
	u64_stats_add(&srpic->count[SRPIC_PACKETS_OUT_OF_ORDER],
		      skb_queue_len(&block->prev) +
		      skb_queue_len(&block->after));
	u64_stats_update_end(&srpic->syncp);

	skb_list_walk_safe(srpic_block_take(block), skb, next) {
		skb_mark_not_on_list(skb);
		napi_gro_receive(napi, skb);
	}
}

static void srpic_flush_manager(struct srpic *srpic,
				struct srpic_manager *manager,
				enum srpic_stat cause)
{
	if (manager->block.pkts)
		srpic_deliver(srpic, manager, cause);
}

static void srpic_flush_all(struct srpic *srpic, enum srpic_stat cause)
{
	struct srpic_table *table = &srpic->table;
	unsigned int i;

	for (i = 0; i < table->num_used; i++)
		srpic_flush_manager(srpic, table->used[i], cause);
	srpic_table_clear(table);
	srpic->left = 0;
}

/* Settings change between two full flushes only. */
static void srpic_read_settings(struct srpic *srpic)
{
	const struct srpic_dev *sd = srpic->sd;
	const struct srpic_net *settings = srpic_net(dev_net(sd->netdev));
	unsigned int pkts = READ_ONCE(settings->full_flush_pkts);

	if (!pkts)
		pkts = READ_ONCE(sd->ring_pkts);
	srpic->left = pkts ?: SRPIC_FULL_FLUSH_PKTS_MAX;
	srpic->block_size = READ_ONCE(settings->block_size);
}

/* Something is full now that the manager has got a packet. */
static noinline void srpic_flush_full(struct srpic *srpic,
				      struct srpic_manager *manager)
{
	if (manager->block.pkts >= srpic->block_size)
		srpic_deliver(srpic, manager, SRPIC_FLUSH_BLOCK);
	if (!srpic->left)
		srpic_flush_all(srpic, SRPIC_FLUSH_RING);
}

static void srpic_flush_if_full(struct srpic *srpic,
				struct srpic_manager *manager)
{
	DEBUG_NET_WARN_ON_ONCE(!srpic->left);

	if (!--srpic->left || manager->block.pkts >= srpic->block_size)
		srpic_flush_full(srpic, manager);
}

/* One round of the loop in Listing 1, for a packet of this manager's flow. */
static void srpic_sort(struct srpic *srpic, struct srpic_manager *manager,
		       struct sk_buff *skb)
{
	enum srpic_place place = srpic_block_add(&manager->block, skb);

	if (place >= SRPIC_REFUSED_OVERLAP) {
		srpic_deliver(srpic, manager,
			      place == SRPIC_REFUSED_OVERLAP ?
			      SRPIC_FLUSH_OVERLAP : SRPIC_FLUSH_TIMESTAMP);
		srpic_block_open(&manager->block, skb);
	}
	srpic_flush_if_full(srpic, manager);
}

/* For a packet of a flow that has a manager. */
static __always_inline void
srpic_take_next(struct srpic *srpic, struct srpic_manager *manager,
		struct sk_buff *skb)
{
	if (srpic_block_append(&manager->block, skb))
		srpic_flush_if_full(srpic, manager);
	else
		srpic_sort(srpic, manager, skb);
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

	if (!srpic->left)
		srpic_read_settings(srpic);
	srpic_flush_manager(srpic, manager, SRPIC_FLUSH_EVICT);
	srpic_table_open(table, manager, skb->dev, flow);
	srpic_block_open(&manager->block, skb);
	srpic_flush_if_full(srpic, manager);
}

static void srpic_flush_pair(struct srpic *srpic,
			     const struct net_device *netdev,
			     struct srpic_flow flow)
{
	struct srpic_table *table = &srpic->table;
	unsigned int i;

	for (i = 0; i < table->num_used; i++)
		if (srpic_key_is_pair(&table->used[i]->key, netdev, flow))
			srpic_flush_manager(srpic, table->used[i],
					    SRPIC_FLUSH_BARRIER);
}

/* For a packet that is not suitable. */
static void srpic_pass(struct srpic *srpic, struct sk_buff *skb,
		       enum srpic_class class, struct srpic_flow flow)
{
	struct srpic_manager *manager;

	if (class == SRPIC_BARRIER) {
		if (srpic_table_search(&srpic->table, skb->dev, flow, &manager))
			srpic_flush_manager(srpic, manager,
					    SRPIC_FLUSH_BARRIER);
	} else if (class == SRPIC_BARRIER_PAIR) {
		srpic_flush_pair(srpic, skb->dev, flow);
	}

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
	if (class == SRPIC_SLOW)
		class = srpic_slow_class(skb, &flow, header, ahead, proto);
	else if (class == SRPIC_VERIFY)
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
	else if (class == SRPIC_VERIFY)
		srpic_receive_csum(srpic, skb, flow);
	else
		srpic_receive_parsed(srpic, skb, class, flow);
}
EXPORT_SYMBOL_GPL(__srpic_receive);

/**
 * __srpic_flush - deliver all that is held
 * @sn: the NAPI instance that is polled
 *
 * Drivers call srpic_flush().
 *
 * Context: the poll function of the NAPI instance, after srpic_begin().
 */
void __srpic_flush(struct srpic_napi *sn)
{
	/*
	 * A flush after napi_complete_done() is a bug, which is seen here unless
	 * the instance was scheduled again meanwhile.
	 */
	DEBUG_NET_WARN_ON_ONCE(!(READ_ONCE(sn->napi->state) &
				 NAPIF_STATE_SCHED));

	srpic_flush_all(sn->poll, SRPIC_FLUSH_POLL);
}
EXPORT_SYMBOL_GPL(__srpic_flush);
