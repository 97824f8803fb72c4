// SPDX-License-Identifier: GPL-2.0
/*
 * Moves of flows between receive queues, and what polls do for them.
 *
 * A slot is marked as moving before the hardware is written. So whoever finds a
 * frame of it in the new ring finds the mark as well. What came before is in the
 * old ring by then, and a poll of that one which begins later finds it. Once it
 * has emptied the ring, and GRO has let go of what it brought, that is settled.
 *
 * A queue is either source or destination of moves, so none that is waited for
 * waits itself.
 */

#include <linux/delay.h>
#include <net/gro.h>
#include <net/sock.h>

#include "rxfence_priv.h"

static struct rxfence_slot *rxfence_slot(struct rxfence_dev *rd, u32 hash)
{
	return &rd->slots[hash & rd->steered & (RXFENCE_SLOTS - 1)];
}

static bool rxfence_is_of(const struct rxfence_dev *rd,
			  const struct rxfence_slot *slot, u32 hash)
{
	return !((READ_ONCE(slot->hash) ^ hash) & rd->steered);
}

/* By which a socket's flow is received; 0 if that is not known. */
static u32 rxfence_hash(const struct sock *sk)
{
#ifdef CONFIG_RPS
	return READ_ONCE(sk->sk_rxhash);
#else
	return 0;
#endif
}

/* Runs where the instance was polled last. */
void rxfence_kick(void *info)
{
	struct rxfence_napi *rn = info;
	int kicks = atomic_read(&rn->kicks);

	/* once more for those that came meanwhile */
	do
		napi_schedule(rn->napi);
	while (!atomic_try_cmpxchg_release(&rn->kicks, &kicks, 0));
}

/*
 * Has an instance polled once more, where it was so far; if now, then again.
 * With PREEMPT_RT an IPI must not raise a softirq, so it is here.
 */
static void rxfence_schedule(struct rxfence_napi *rn)
{
	int cpu = READ_ONCE(rn->cpu);

	if (IS_ENABLED(CONFIG_PREEMPT_RT) || cpu == smp_processor_id()) {
		napi_schedule(rn->napi);
		return;
	}
	/* not the first: one is on its way; it fails if that CPU is gone */
	if (atomic_inc_return(&rn->kicks) == 1 &&
	    smp_call_function_single_async(cpu, &rn->kick))
		rxfence_kick(rn);
}

/* The functions from here on that take a slot are called under the lock. */

static void rxfence_ask(struct rxfence_slot *slot, u64 now)
{
	slot->asked = true;
	slot->since = now;
	/* a frame was seen before; pairs with that in __rxfence_begin() */
	smp_mb();
	slot->poll = READ_ONCE(slot->from->polls) + 1;
	rxfence_schedule(slot->from);
}

static void rxfence_settle(struct rxfence_slot *slot)
{
	WRITE_ONCE(slot->from->source, slot->from->source - 1);
	WRITE_ONCE(slot->to->destination, slot->to->destination - 1);
	/* pairs with the acquire in __rxfence_stop() */
	smp_store_release(&slot->to, NULL);
	list_del(&slot->node);
}

/* Whether a slot had to be given up, and so all from its old queue. */
static bool rxfence_expire(struct rxfence_dev *rd, struct rxfence_slot *slot,
			   u64 now)
{
	u64 deadline = READ_ONCE(rxfence_deadline_usecs) * NSEC_PER_USEC;
	const struct rxfence_napi *stuck = slot->from;
	struct rxfence_slot *next;

	if (now - slot->since < deadline)
		return false;
	list_for_each_entry_safe(slot, next, &rd->moving, node)
		if (slot->from == stuck) {
			rd->stats[RXFENCE_EXPIRED]++;
			rxfence_settle(slot);
		}
	return true;
}

/* Whether a frame of a slot that moves has to wait. */
static bool rxfence_wait(struct rxfence_dev *rd, struct rxfence_slot *slot)
{
	u64 now = ktime_get_ns();

	rd->stats[RXFENCE_WAITS] += !slot->waited;
	slot->waited = true;
	if (!slot->asked)
		rxfence_ask(slot, now);
	return !rxfence_expire(rd, slot, now);
}

/* Whether a slot may move; then it does. */
static bool rxfence_mark(struct rxfence_dev *rd, struct rxfence_slot *slot,
			 u32 hash, unsigned int from, unsigned int to)
{
	struct rxfence_napi *source = rd->queue[from];
	struct rxfence_napi *destination = rd->queue[to];

	/* nothing is in the ring of a queue that is gone */
	if (!source || !destination || source == destination)
		return true;
	if (slot->to || source->destination || destination->source)
		return false;

	WRITE_ONCE(slot->hash, hash);
	slot->from = source;
	slot->from_queue = from;
	WRITE_ONCE(slot->to_queue, to);
	slot->written = false;
	slot->asked = false;
	slot->waited = false;
	list_add_tail(&slot->node, &rd->moving);
	WRITE_ONCE(source->source, source->source + 1);
	/* whoever sees that it moves sees the above */
	smp_store_release(&slot->to, destination);
	WRITE_ONCE(destination->destination, destination->destination + 1);
	rd->stats[RXFENCE_MOVES]++;
	/* and the device does not obey before all see it */
	wmb();
	return true;
}

static void rxfence_note_written(struct rxfence_dev *rd,
				 struct rxfence_slot *slot)
{
	if (slot->written)
		return;
	slot->written = true;
	if (!slot->asked)
		slot->since = ktime_get_ns();
	if (!timer_pending(&rd->timer))
		mod_timer(&rd->timer, jiffies + RXFENCE_TICK);
}

static void rxfence_note_all_written(struct rxfence_dev *rd)
{
	struct rxfence_slot *slot;

	list_for_each_entry(slot, &rd->moving, node)
		rxfence_note_written(rd, slot);
}

/* Settles all that moves, or what moves from or to a NAPI instance. */
void rxfence_settle_all(struct rxfence_dev *rd, const struct rxfence_napi *rn)
{
	struct rxfence_slot *slot, *next;

	list_for_each_entry_safe(slot, next, &rd->moving, node)
		if (!rn || slot->from == rn || slot->to == rn)
			rxfence_settle(slot);
}

/* This poll of an instance has emptied its rings, and GRO has let go of all. */
static void rxfence_emptied(struct rxfence_dev *rd,
			    const struct rxfence_napi *rn, u32 poll)
{
	struct rxfence_slot *slot, *next;

	spin_lock_bh(&rd->lock);
	list_for_each_entry_safe(slot, next, &rd->moving, node)
		if (slot->from == rn && slot->asked &&
		    (s32)(poll - slot->poll) >= 0)
			rxfence_settle(slot);
	spin_unlock_bh(&rd->lock);
}

/*
 * Moves that no packet follows: a poll that begins now finds what there still
 * is in the old ring.
 */
void rxfence_tick(struct timer_list *timer)
{
	struct rxfence_dev *rd = container_of(timer, struct rxfence_dev, timer);
	struct rxfence_slot *slot;
	u64 now;

	spin_lock(&rd->lock);
	/* no slot was asked or written later than that */
	now = ktime_get_ns();
again:
	list_for_each_entry(slot, &rd->moving, node) {
		/* others may be gone with it */
		if (slot->asked && rxfence_expire(rd, slot, now))
			goto again;
		if (!slot->asked && slot->written &&
		    now - slot->since >= RXFENCE_QUIET_NS)
			rxfence_ask(slot, now);
	}
	if (!list_empty(&rd->moving))
		mod_timer(timer, jiffies + RXFENCE_TICK);
	spin_unlock(&rd->lock);
}

/**
 * rxfence_move - ask whether a slot may be moved to another queue
 * @rd: the device
 * @slot: the slot, by the low bits of the hash
 * @from: the number of the queue that it is directed to
 * @to: that of the new one, of another NAPI instance
 *
 * Context: process context, serialized with rxfence_enable(), and with what
 *	has the device come up or go down.
 * Return: whether the driver is to write the hardware, and then to call
 *	rxfence_moved(). Always so if @from is @to, if one of them is from
 *	RXFENCE_QUEUES on, if the device is down, or if rxfence is off.
 */
bool rxfence_move(struct rxfence_dev *rd, u32 slot, unsigned int from,
		  unsigned int to)
{
	bool may;

	if (from == to || !rd->enabled || !netif_running(rd->netdev) ||
	    from >= RXFENCE_QUEUES || to >= RXFENCE_QUEUES)
		return true;
	spin_lock_bh(&rd->lock);
	may = rxfence_mark(rd, rxfence_slot(rd, slot), slot, from, to);
	rd->refused |= !may;
	spin_unlock_bh(&rd->lock);
	return may;
}
EXPORT_SYMBOL_GPL(rxfence_move);

/**
 * rxfence_moved - tell that the hardware is written as rxfence_move() said
 * @rd: the device
 *
 * Context: as rxfence_move(); may sleep.
 * Return: whether a slot was not to be moved. It is the driver's to ask again:
 *	some time has passed.
 */
bool rxfence_moved(struct rxfence_dev *rd)
{
	bool again;

	spin_lock_bh(&rd->lock);
	rxfence_note_all_written(rd);
	again = rd->refused;
	rd->refused = false;
	spin_unlock_bh(&rd->lock);
	if (again)
		fsleep(RXFENCE_QUIET_NS / NSEC_PER_USEC / 4);
	return again;
}
EXPORT_SYMBOL_GPL(rxfence_moved);

/**
 * __rxfence_hint - rxfence_hint() of a packet that has a socket
 * @rd: the device
 * @sk: the flow's socket, maybe not a full one
 * @to: the number of the queue
 *
 * Context: bottom halves disabled.
 * Return: whether the driver is to write the hardware.
 */
bool __rxfence_hint(struct rxfence_dev *rd, const struct sock *sk,
		    unsigned int to)
{
	struct rxfence_slot *slot;
	int from;
	u32 hash;
	bool may;

	if (!sk_fullsock(sk))
		return true;
	hash = rxfence_hash(sk);
	from = sk_rx_queue_get(sk);
	if (!hash || from < 0 || from >= RXFENCE_QUEUES || to >= RXFENCE_QUEUES)
		return true;

	/* the usual case: it is where it shall be */
	slot = rxfence_slot(rd, hash);
	if (from == to && (!rxfence_is_of(rd, slot, hash) ||
			   READ_ONCE(slot->to_queue) == to))
		return true;

	spin_lock(&rd->lock);
	/* it has moved, and the socket has seen nothing since */
	if (rxfence_is_of(rd, slot, hash) && slot->from_queue == from)
		from = slot->to_queue;
	/* one CPU polls both queues of an instance: nothing is gained */
	may = from == to || !rd->enabled || !rd->queue[from] ||
	      (rd->queue[from] != rd->queue[to] &&
	       rxfence_mark(rd, slot, hash, from, to));
	rd->stats[RXFENCE_REFUSED] += !may;
	spin_unlock(&rd->lock);
	return may;
}
EXPORT_SYMBOL_GPL(__rxfence_hint);

/**
 * __rxfence_hinted - rxfence_hinted() of a packet that has a socket
 * @rd: the device
 *
 * Of all slots that move, as the socket may know another hash by now. Where
 * another CPU is about to write, this is early by microseconds.
 *
 * Context: bottom halves disabled.
 */
void __rxfence_hinted(struct rxfence_dev *rd)
{
	if (list_empty(&rd->moving))
		return;
	spin_lock(&rd->lock);
	rxfence_note_all_written(rd);
	spin_unlock(&rd->lock);
}
EXPORT_SYMBOL_GPL(__rxfence_hinted);

/**
 * __rxfence_begin - rxfence_begin() of a queue from which slots move
 * @rn: the NAPI instance
 *
 * Context: the poll function of the NAPI instance.
 */
void __rxfence_begin(struct rxfence_napi *rn)
{
	if (rn->flushed) {
		rn->flushed = false;
		rxfence_emptied(rn->rd, rn, rn->polls);
	}
	rn->counted = true;
	WRITE_ONCE(rn->polls, rn->polls + 1);
	/*
	 * Who does not see this number yet has seen frames before this poll
	 * looks for those ahead of them.
	 */
	smp_mb();
}
EXPORT_SYMBOL_GPL(__rxfence_begin);

/**
 * __rxfence_stop - rxfence_stop() of a queue to which slots move
 * @rn: the NAPI instance that is polled
 * @hash: the frame's hash, or 0
 *
 * Context: the poll function of the NAPI instance.
 * Return: whether the poll takes no descriptor from here on.
 */
bool __rxfence_stop(struct rxfence_napi *rn, u32 hash)
{
	struct rxfence_dev *rd = rn->rd;
	struct rxfence_slot *slot = rxfence_slot(rd, hash);
	bool wait;

	/* the frame was seen before, polls of the old queue are read later */
	if (!hash || smp_load_acquire(&slot->to) != rn ||
	    !rxfence_is_of(rd, slot, hash))
		return false;

	spin_lock(&rd->lock);
	wait = slot->to == rn && rxfence_wait(rd, slot);
	spin_unlock(&rd->lock);
	rn->waiting |= wait;
	return wait;
}
EXPORT_SYMBOL_GPL(__rxfence_stop);

/**
 * __rxfence_complete - rxfence_complete() of a queue from which slots move
 * @rn: the NAPI instance that is polled
 * @napi: the same, as the core knows it
 * @work_done: frames received
 *
 * Context: the poll function of the NAPI instance. The instance may be disabled
 *	on return, but not yet deleted.
 * Return: what napi_complete_done() says.
 */
bool __rxfence_complete(struct rxfence_napi *rn, struct napi_struct *napi,
			int work_done)
{
	/* it does nothing then; who polls has what GRO let go of sent up */
	bool busy = READ_ONCE(napi->state) & (NAPIF_STATE_IN_BUSY_POLL |
					      NAPIF_STATE_NPSVC);
	struct rxfence_dev *rd = rn->rd;
	u32 poll = rn->polls;
	bool done;

	rn->counted = false;
	rn->flushed = busy;
	napi_gro_flush(napi, false);
	done = napi_complete_done(napi, work_done);
	if (!busy)
		rxfence_emptied(rd, rn, poll);
	return done;
}
EXPORT_SYMBOL_GPL(__rxfence_complete);
