// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path: which manager takes a packet, and when blocks are flushed.
 *
 *   srpic_receive() -> srpic_is_usual[_sum]() --------+
 *                      |                              v
 *                      +-> srpic_classify() -> SRPIC_TAKE --> a manager's block
 *                                              SRPIC_BARRIER   |
 *                                              SRPIC_PASS      | a flush
 *                                              |               v
 *                                              +-----------> napi_gro_receive()
 */

#include "srpic_parse.h"

static void srpic_count(struct srpic *srpic, enum srpic_stat stat)
{
	u64_stats_update_begin(&srpic->syncp);
	u64_stats_inc(&srpic->count[stat]);
	u64_stats_update_end(&srpic->syncp);
}

/* Sends up all packets of a manager, in order, and empties its block. */
static noinline void srpic_deliver(struct srpic *srpic,
				   struct napi_struct *napi,
				   struct srpic_manager *manager,
				   enum srpic_stat cause)
{
	struct srpic_block *block = &manager->block;
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

static void srpic_flush_manager(struct srpic *srpic, struct napi_struct *napi,
				struct srpic_manager *manager,
				enum srpic_stat cause)
{
	if (manager->block.pkts)
		srpic_deliver(srpic, napi, manager, cause);
}

static noinline void srpic_flush_managers(struct srpic *srpic,
					  struct napi_struct *napi,
					  enum srpic_stat cause)
{
	struct srpic_table *table = &srpic->table;
	unsigned int i;

	for (i = 0; i < table->num_used; i++)
		srpic_flush_manager(srpic, napi, table->used[i], cause);
	srpic_table_clear(table);
	srpic->left = 0;
}

/* Settings change between two full flushes only. */
static void srpic_read_settings(struct srpic *srpic)
{
	const struct srpic_net *sn = srpic_net(dev_net(srpic->dev->netdev));
	unsigned int pkts = READ_ONCE(sn->full_flush_pkts);

	if (!pkts)
		pkts = READ_ONCE(srpic->dev->ring_pkts);
	srpic->left = pkts ?: SRPIC_FULL_FLUSH_PKTS_MAX;
	srpic->block_size = READ_ONCE(sn->block_size);
}

/* Something is full now that the manager has got a packet. */
static noinline void srpic_flush_full(struct srpic *srpic,
				      struct napi_struct *napi,
				      struct srpic_manager *manager)
{
	if (manager->block.pkts >= srpic->block_size)
		srpic_deliver(srpic, napi, manager, SRPIC_FLUSH_BLOCK);
	if (!srpic->left)
		srpic_flush_managers(srpic, napi, SRPIC_FLUSH_RING);
}

static void srpic_flush_if_full(struct srpic *srpic, struct napi_struct *napi,
				struct srpic_manager *manager)
{
	DEBUG_NET_WARN_ON_ONCE(!srpic->left);

	if (!--srpic->left || manager->block.pkts >= srpic->block_size)
		srpic_flush_full(srpic, napi, manager);
}

/* The block refused a packet: it leaves, and the packet opens the next one. */
static noinline void srpic_reopen(struct srpic *srpic, struct napi_struct *napi,
				  struct srpic_manager *manager,
				  struct sk_buff *skb, enum srpic_stat cause)
{
	srpic_deliver(srpic, napi, manager, cause);
	srpic_block_open(&manager->block, skb);
	srpic_flush_if_full(srpic, napi, manager);
}

/* For a packet that does not simply continue its block. */
static noinline void srpic_sort(struct srpic *srpic, struct napi_struct *napi,
				struct srpic_manager *manager,
				struct sk_buff *skb)
{
	enum srpic_place place = srpic_block_add(&manager->block, skb);

	if (place == SRPIC_REFUSED_OVERLAP)
		srpic_reopen(srpic, napi, manager, skb, SRPIC_FLUSH_OVERLAP);
	else if (place == SRPIC_REFUSED_TIMESTAMP)
		srpic_reopen(srpic, napi, manager, skb, SRPIC_FLUSH_TIMESTAMP);
	else
		srpic_flush_if_full(srpic, napi, manager);
}

/* For a flow without a manager: it takes this one. */
static noinline void srpic_take_first(struct srpic *srpic,
				      struct napi_struct *napi,
				      struct sk_buff *skb,
				      const struct srpic_key *key,
				      struct srpic_manager *manager)
{
	if (!srpic->left)
		srpic_read_settings(srpic);
	srpic_flush_manager(srpic, napi, manager, SRPIC_FLUSH_EVICT);
	srpic_table_open(&srpic->table, manager, key);
	srpic_block_open(&manager->block, skb);
	srpic_flush_if_full(srpic, napi, manager);
}

/* One round of the loop in Listing 1, for a packet of this manager's flow. */
static __always_inline void srpic_take_next(struct srpic *srpic,
					    struct napi_struct *napi,
					    struct sk_buff *skb,
					    struct srpic_manager *manager)
{
	if (srpic_block_append(&manager->block, skb))
		srpic_flush_if_full(srpic, napi, manager);
	else
		srpic_sort(srpic, napi, manager, skb);
}

/* For a packet of the usual form that is not of the flow used last. */
static noinline void srpic_take_usual(struct srpic *srpic,
				      struct napi_struct *napi,
				      struct sk_buff *skb)
{
	struct srpic_key key __uninitialized;
	struct srpic_manager *manager;

	srpic_usual_key(skb, &key);
	if (srpic_table_search(&srpic->table, &key, &manager))
		srpic_take_next(srpic, napi, skb, manager);
	else
		srpic_take_first(srpic, napi, skb, &key, manager);
}

/* For a packet of any form. */
static noinline void srpic_take_or_pass(struct srpic *srpic,
					struct napi_struct *napi,
					struct sk_buff *skb)
{
	struct srpic_key key __uninitialized;
	struct srpic_manager *manager;

	switch (srpic_classify(skb, &key)) {
	case SRPIC_TAKE:
		if (srpic_table_find(&srpic->table, &key, &manager))
			srpic_take_next(srpic, napi, skb, manager);
		else
			srpic_take_first(srpic, napi, skb, &key, manager);
		return;
	case SRPIC_BARRIER:
		if (srpic_table_find(&srpic->table, &key, &manager))
			srpic_flush_manager(srpic, napi, manager,
					    SRPIC_FLUSH_BARRIER);
		break;
	case SRPIC_BARRIER_ALL:
		srpic_flush_managers(srpic, napi, SRPIC_FLUSH_BARRIER);
		break;
	case SRPIC_PASS:
		break;
	}
	srpic_count(srpic, SRPIC_PACKETS_PASSED);
	napi_gro_receive(napi, skb);
}

/* For a packet of the usual form. Its key was compared with that of last. */
static __always_inline void srpic_take(struct srpic *srpic,
				       struct napi_struct *napi,
				       struct sk_buff *skb,
				       struct srpic_manager *last, u64 other)
{
	if (other || skb->dev != last->key.dev)
		srpic_take_usual(srpic, napi, skb);
	else
		srpic_take_next(srpic, napi, skb, last);
}

/* For a packet that is not usual, or has a sum in place of a verdict. */
static noinline void srpic_take_unjudged(struct srpic *srpic,
					 struct napi_struct *napi,
					 struct sk_buff *skb)
{
	struct srpic_manager *last = srpic->table.last;
	u64 other;

	if (srpic_is_usual_sum(skb, &last->key, &other))
		srpic_take(srpic, napi, skb, last, other);
	else
		srpic_take_or_pass(srpic, napi, skb);
}

/**
 * __srpic_receive - receive a packet while SRPIC is on
 * @sn: the NAPI instance that is polled
 * @napi: the same, as the core knows it
 * @skb: the packet; consumed
 *
 * Drivers call srpic_receive().
 *
 * Most packets continue the block of the packet before. What others need is
 * called last, so that no register has to be saved for it.
 *
 * Context: the poll function of @napi.
 */
void __srpic_receive(struct srpic_napi *sn, struct napi_struct *napi,
		     struct sk_buff *skb)
{
	struct srpic *srpic = sn->poll;
	struct srpic_manager *last = srpic->table.last;
	u64 other;

	if (srpic_is_usual(skb, &last->key, &other))
		srpic_take(srpic, napi, skb, last, other);
	else
		srpic_take_unjudged(srpic, napi, skb);
}
EXPORT_SYMBOL_GPL(__srpic_receive);

/**
 * __srpic_flush - deliver all that is held
 * @sn: the NAPI instance that is polled
 * @napi: the same, as the core knows it
 *
 * Drivers call srpic_flush().
 *
 * Context: the poll function of @napi.
 */
void __srpic_flush(struct srpic_napi *sn, struct napi_struct *napi)
{
	/*
	 * After napi_complete_done() it would be somebody else's. That is seen
	 * here while nobody has it, not once it has been scheduled again.
	 */
	DEBUG_NET_WARN_ON_ONCE(!(READ_ONCE(napi->state) &
				 (NAPIF_STATE_SCHED | NAPIF_STATE_NPSVC)));

	srpic_flush_managers(sn->poll, napi, SRPIC_FLUSH_POLL);
}
EXPORT_SYMBOL_GPL(__srpic_flush);
