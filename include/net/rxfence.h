/* SPDX-License-Identifier: GPL-2.0 */
/* rxfence: a flow that moves between receive queues keeps its order */
#ifndef _NET_RXFENCE_H
#define _NET_RXFENCE_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>

/**
 * DOC: driver interface
 *
 * A driver embeds a &struct rxfence_dev in its private data and a
 * &struct rxfence_napi in each of its NAPI vectors. It asks before it moves a
 * flow to another receive queue, and tells when the hardware is written:
 * rxfence_move() and rxfence_moved() where a table is written, rxfence_hint()
 * and rxfence_hinted() where a transmitted packet moves its own flow.
 *
 * In its poll function it
 *
 * - calls rxfence_begin() before it looks at the first receive ring,
 * - asks rxfence_stop() of each frame before it takes the descriptor that
 *   ends it, and takes none from there on if the answer is true,
 * - is polled again, by returning its budget, if rxfence_waiting(),
 * - calls rxfence_complete() in place of napi_complete_done(),
 *
 * and none of these if it is polled with a budget of 0, for netpoll. It calls
 * rxfence_reset() once all its queues are stopped and empty.
 *
 * The driver's Kconfig entry says ``depends on RXFENCE || RXFENCE=n``. Without
 * CONFIG_RXFENCE all that is left of the interface is napi_complete_done().
 */

/* How many statistics rxfence_get_stats() adds to those of a driver. */
#define RXFENCE_NUM_STATS	(IS_ENABLED(CONFIG_RXFENCE) ? 4 : 0)

/* Receive queues of a device, and slots; a hash says of which a flow is. */
#define RXFENCE_QUEUES		64
#define RXFENCE_SLOTS		256

/* For a driver's list of private flags; that of no flag without the library. */
#if IS_ENABLED(CONFIG_RXFENCE)
#define RXFENCE_PRIV_FLAG	"rxfence",
#else
#define RXFENCE_PRIV_FLAG
#endif

/**
 * struct rxfence_slot - the flows of one value of the hash, or more
 *
 * All fields are private to the library.
 */
struct rxfence_slot {
	/* private: */
	struct list_head node;		/* on rxfence_dev.moving */
	struct rxfence_napi *from;	/* what it moves from */
	struct rxfence_napi *to;	/* and to, NULL once it is settled */
	u32 hash;			/* of what moves, or has moved last */
	u16 from_queue;			/* numbers of its queues, likewise */
	u16 to_queue;
	u32 poll;			/* of from, that settles it, if asked */
	bool written;			/* to the hardware */
	bool asked;			/* for a poll of from */
	bool waited;			/* at least once */
	u64 since;			/* ns: when written, then when asked */
};

/**
 * struct rxfence_dev - rxfence on one network device, embedded by its driver
 *
 * All fields are private to the library.
 */
struct rxfence_dev {
	/* private: */
#if IS_ENABLED(CONFIG_RXFENCE)
	struct net_device *netdev;
	bool enabled;
	u32 steered;			/* what the device uses of the hash */
	spinlock_t lock;		/* protects all below */
	struct list_head moving;	/* slots */
	bool refused;			/* a slot, since rxfence_moved() */
	struct timer_list timer;	/* for moves that no packet follows */
	u64 stats[RXFENCE_NUM_STATS];
	struct rxfence_napi *queue[RXFENCE_QUEUES];
	struct rxfence_slot slots[RXFENCE_SLOTS];
#endif
};

/**
 * struct rxfence_napi - rxfence on one NAPI instance, embedded by its driver
 *
 * Zeroed until it is added. All fields are private to the library.
 */
struct rxfence_napi {
	/* private: */
#if IS_ENABLED(CONFIG_RXFENCE)
	unsigned int source;		/* of so many slots that move */
	unsigned int destination;	/* likewise; one of the two is 0 */
	int cpu;			/* of the last poll */
	bool waiting;			/* this poll has stopped at a frame */
	bool counted;			/* this poll is the one in polls */
	bool flushed;			/* at the next poll the last one is */
	u32 polls;			/* begun while it was a source */
	struct rxfence_dev *rd;
	struct napi_struct *napi;
	atomic_t kicks;			/* asked for, and not done */
	call_single_data_t kick;
#endif
};

#if IS_ENABLED(CONFIG_RXFENCE)

void rxfence_init(struct rxfence_dev *rd, struct net_device *netdev,
		  u32 steered);
void rxfence_enable(struct rxfence_dev *rd, bool on);
void rxfence_reset(struct rxfence_dev *rd);
void rxfence_add_queue(struct rxfence_dev *rd, struct rxfence_napi *rn,
		       struct napi_struct *napi, unsigned int queue);
void rxfence_del_napi(struct rxfence_napi *rn);
void rxfence_get_strings(u8 **data);
void rxfence_get_stats(struct rxfence_dev *rd, u64 **data);
bool rxfence_move(struct rxfence_dev *rd, u32 slot, unsigned int from,
		  unsigned int to);
bool rxfence_moved(struct rxfence_dev *rd);
bool __rxfence_hint(struct rxfence_dev *rd, const struct sock *sk,
		    unsigned int to);
void __rxfence_hinted(struct rxfence_dev *rd);
void __rxfence_begin(struct rxfence_napi *rn);
bool __rxfence_stop(struct rxfence_napi *rn, u32 hash);
bool __rxfence_complete(struct rxfence_napi *rn, struct napi_struct *napi,
			int work_done);

/**
 * rxfence_enabled - whether rxfence is switched on
 * @rd: the device
 *
 * Context: any; a caller that needs a stable answer holds what serializes the
 *	ethtool operations.
 * Return: what the last rxfence_enable() set.
 */
static inline bool rxfence_enabled(const struct rxfence_dev *rd)
{
	return READ_ONCE(rd->enabled);
}

/**
 * rxfence_hint - ask whether a transmitted packet may move its flow
 * @rd: the device
 * @skb: the packet; its socket knows the hash of what it receives, and from
 *	which queue that came. Where it does not, the flow is not fenced.
 * @to: the receive queue
 *
 * Context: the driver's transmit function, bottom halves disabled.
 * Return: whether the driver is to write the hardware, and then to call
 *	rxfence_hinted(). If not, a later packet will ask again.
 */
static inline bool rxfence_hint(struct rxfence_dev *rd,
				const struct sk_buff *skb, unsigned int to)
{
	return likely(!rxfence_enabled(rd)) || !skb->sk ||
	       __rxfence_hint(rd, skb->sk, to);
}

/**
 * rxfence_hinted - tell that the hardware is written as rxfence_hint() said
 * @rd: the device
 * @skb: the same packet
 *
 * Context: as rxfence_hint().
 */
static inline void rxfence_hinted(struct rxfence_dev *rd,
				  const struct sk_buff *skb)
{
	if (unlikely(rxfence_enabled(rd)) && skb->sk)
		__rxfence_hinted(rd);
}

/**
 * rxfence_begin - begin a poll
 * @rn: the NAPI instance
 *
 * Context: the poll function of the NAPI instance, with a budget.
 */
static inline void rxfence_begin(struct rxfence_napi *rn)
{
	WRITE_ONCE(rn->cpu, smp_processor_id());
	if (unlikely(READ_ONCE(rn->source)))
		__rxfence_begin(rn);
}

/**
 * rxfence_stop - ask whether a frame has to wait in its ring
 * @rn: the NAPI instance that is polled
 * @hash: the receive hash in the descriptor that ends the frame; 0 if it has
 *	none, or if the descriptor ends no frame
 *
 * Must be asked after the descriptor was found written back (dma_rmb()), and
 * before it is taken.
 *
 * Context: the poll function of the NAPI instance, after rxfence_begin().
 * Return: whether the poll takes no descriptor from here on.
 */
static inline bool rxfence_stop(struct rxfence_napi *rn, u32 hash)
{
	return unlikely(READ_ONCE(rn->destination)) && __rxfence_stop(rn, hash);
}

/**
 * rxfence_waiting - ask whether the poll stopped at a frame that waits
 * @rn: the NAPI instance that is polled
 *
 * Context: the poll function of the NAPI instance, once, after all of its
 *	receive rings.
 * Return: whether it has to be polled again.
 */
static inline bool rxfence_waiting(struct rxfence_napi *rn)
{
	if (likely(!rn->waiting))
		return false;
	rn->waiting = false;
	return true;
}

/**
 * rxfence_complete - complete a poll that has emptied all receive rings
 * @rn: the NAPI instance that is polled
 * @napi: the same, as the core knows it
 * @work_done: frames received
 *
 * In place of napi_complete_done().
 *
 * Context: as napi_complete_done().
 * Return: what napi_complete_done() says.
 */
static inline bool rxfence_complete(struct rxfence_napi *rn,
				    struct napi_struct *napi, int work_done)
{
	if (unlikely(rn->counted))
		return __rxfence_complete(rn, napi, work_done);
	return napi_complete_done(napi, work_done);
}

#else /* !CONFIG_RXFENCE */

static inline void rxfence_init(struct rxfence_dev *rd,
				struct net_device *netdev, u32 steered)
{
}

static inline void rxfence_enable(struct rxfence_dev *rd, bool on)
{
}

static inline bool rxfence_enabled(const struct rxfence_dev *rd)
{
	return false;
}

static inline void rxfence_reset(struct rxfence_dev *rd)
{
}

static inline void rxfence_add_queue(struct rxfence_dev *rd,
				     struct rxfence_napi *rn,
				     struct napi_struct *napi,
				     unsigned int queue)
{
}

static inline void rxfence_del_napi(struct rxfence_napi *rn)
{
}

static inline void rxfence_get_strings(u8 **data)
{
}

static inline void rxfence_get_stats(struct rxfence_dev *rd, u64 **data)
{
}

static inline bool rxfence_move(struct rxfence_dev *rd, u32 slot,
				unsigned int from, unsigned int to)
{
	return true;
}

static inline bool rxfence_moved(struct rxfence_dev *rd)
{
	return false;
}

static inline bool rxfence_hint(struct rxfence_dev *rd,
				const struct sk_buff *skb, unsigned int to)
{
	return true;
}

static inline void rxfence_hinted(struct rxfence_dev *rd,
				  const struct sk_buff *skb)
{
}

static inline void rxfence_begin(struct rxfence_napi *rn)
{
}

static inline bool rxfence_stop(struct rxfence_napi *rn, u32 hash)
{
	return false;
}

static inline bool rxfence_waiting(struct rxfence_napi *rn)
{
	return false;
}

static inline bool rxfence_complete(struct rxfence_napi *rn,
				    struct napi_struct *napi, int work_done)
{
	return napi_complete_done(napi, work_done);
}

#endif /* CONFIG_RXFENCE */

#endif /* _NET_RXFENCE_H */
