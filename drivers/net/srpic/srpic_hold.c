// SPDX-License-Identifier: GPL-2.0
/*
 * What outlives a softirq: packets that are early wait for those ahead of them, up
 * to a deadline, and within bounds.
 */

#include <linux/math64.h>
#include <linux/minmax.h>

#include "srpic_priv.h"

/* A packet that came at this time waits no longer. */
static void srpic_note_wait(struct srpic *srpic, u64 since)
{
	u64 usecs = div_u64(srpic_now(srpic) - since, NSEC_PER_USEC);

	if (usecs > srpic->held_usecs_max)
		WRITE_ONCE(srpic->held_usecs_max, usecs);
}

/*
 * A hole was filled, and its packets are about to leave. If they waited for that
 * since an earlier poll, the flow's holes are no losses.
 */
void srpic_note_filled(struct srpic *srpic, struct srpic_manager *manager)
{
	if (manager->block.filled >= srpic_now(srpic))
		return;
	srpic_note_wait(srpic, manager->block.filled);
	manager->losses = 0;
	manager->skip = 0;
}

/* Sends up what may leave while others wait for those ahead of them. */
void srpic_release(struct srpic *srpic, struct srpic_manager *manager,
		   enum srpic_stat cause)
{
	u64 filled = manager->block.filled;

	if (!srpic->hold_ns) {
		srpic_deliver(srpic, manager, cause);
		return;
	}
	if (filled != U64_MAX && filled < srpic_now(srpic))
		cause = SRPIC_FLUSH_HOLE;
	srpic_leave(srpic, manager, cause, false);
}

/*
 * Too much waits: sends up the packets of the flow that has most of it, by
 * memory. So nobody can do this to others with less than they have themselves.
 */
void srpic_make_room(struct srpic *srpic)
{
	struct srpic_table *table = &srpic->table;
	struct srpic_manager *most = table->active[0];
	unsigned int i, pkts = 0, bytes = 0;

	for (i = 0; i < table->num_active; i++) {
		struct srpic_manager *manager = table->active[i];

		pkts += srpic_list_len(&manager->block.after);
		bytes += manager->block.waiting_bytes;
		if (manager->block.waiting_bytes > most->block.waiting_bytes)
			most = manager;
	}
	if (pkts > SRPIC_HELD_PKTS_MAX || bytes > SRPIC_HELD_BYTES_MAX) {
		pkts -= srpic_list_len(&most->block.after);
		bytes -= most->block.waiting_bytes;
		srpic_deliver(srpic, most, SRPIC_FLUSH_EVICT);
	}
	WRITE_ONCE(srpic->held_pkts, pkts);
	srpic->held_bytes = bytes;
}

static bool srpic_is_overdue(struct srpic *srpic, u64 since)
{
	return since != U64_MAX && since + srpic->hold_ns <= srpic_now(srpic);
}

/* A hole was not filled in time. */
static void srpic_note_loss(struct srpic_manager *manager)
{
	if (manager->losses < SRPIC_LOSSES_MAX - 1 + SRPIC_SKIP_BITS)
		manager->losses++;
	if (manager->losses >= SRPIC_LOSSES_MAX)
		manager->skip = BIT(manager->losses - SRPIC_LOSSES_MAX + 1) - 1;
}

/*
 * A packet has waited for too long: it leaves, with all that are below it, and
 * those above wait on for what they wait for, unless that is likely to be lost.
 */
static void srpic_give_up(struct srpic *srpic, struct srpic_manager *manager)
{
	struct srpic_block *block = &manager->block;
	bool everything = !srpic->hold_ns;

	srpic_note_wait(srpic, srpic_block_waits_since(block));
	if (!everything && block->filled == U64_MAX)
		srpic_note_loss(manager);
	while (!everything &&
	       srpic_is_overdue(srpic, srpic_block_waits_since(block)))
		everything = !srpic_block_skip(block);
	if (!everything && manager->skip && srpic_list_len(&block->after)) {
		manager->skip--;
		everything = true;
	}
	if (everything)
		srpic_deliver(srpic, manager, SRPIC_FLUSH_DEADLINE);
	else
		srpic_leave(srpic, manager, SRPIC_FLUSH_DEADLINE, false);
}

/* The poll completes: sends up what does not wait, which may be everything. */
static void srpic_release_or_skip(struct srpic *srpic,
				  struct srpic_manager *manager)
{
	if (manager->skip && !manager->waits &&
	    srpic_list_len(&manager->block.after)) {
		manager->skip--;
		srpic_deliver(srpic, manager, SRPIC_FLUSH_POLL);
	} else {
		srpic_release(srpic, manager, SRPIC_FLUSH_POLL);
	}
}

/*
 * The poll ends, and others will follow. If there may be none for some time, what
 * can leave does. A packet that has waited for too long leaves in any case; the
 * timer is for the next one.
 */
void srpic_end_holding(struct srpic *srpic, bool complete)
{
	struct srpic_table *table = &srpic->table;
	unsigned int i = 0, pkts = 0, bytes = 0;
	u64 oldest = U64_MAX;

	while (i < table->num_active) {
		struct srpic_manager *manager = table->active[i];
		struct srpic_block *block = &manager->block;

		if (srpic_is_overdue(srpic, srpic_block_waits_since(block)))
			srpic_give_up(srpic, manager);
		else if (complete)
			srpic_release_or_skip(srpic, manager);
		oldest = min(oldest, srpic_block_waits_since(block));
		pkts += srpic_list_len(&block->after);
		bytes += block->waiting_bytes;
		if (complete) {
			manager->waits = srpic_list_len(&block->after);
			manager->merged = false;
		}
		if (srpic_block_is_empty(block))
			srpic_table_deactivate(table, i);
		else
			i++;
	}
	srpic->held_bytes = bytes;
	WRITE_ONCE(srpic->held_pkts, pkts);
	if (complete)
		srpic->left = 0;
	srpic_set_timer(srpic, pkts ? oldest + srpic->hold_ns : U64_MAX);
}
