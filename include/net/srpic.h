/* SPDX-License-Identifier: GPL-2.0 */
/* SRPIC: Sorting Reordered Packets with Interrupt Coalescing */
#ifndef _NET_SRPIC_H
#define _NET_SRPIC_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/types.h>

/**
 * DOC: driver interface
 *
 * A driver embeds a &struct srpic_dev in its private data and a
 * &struct srpic_napi in each of its NAPI vectors.
 * In its poll function it
 *
 * - calls srpic_begin() once, before it looks at the first receive ring,
 * - hands every received packet to srpic_receive() where it called
 *   napi_gro_receive(),
 * - calls srpic_end() once after the last receive ring is cleaned, on every
 *   path, and before napi_complete_done(),
 *
 * and none of these if it is polled with a budget of 0: netpoll does that, and
 * another CPU may be in the same poll function then. Packets may be held from
 * one poll to the next, so it calls srpic_stop() where it called
 * napi_disable().
 *
 * All its packets must go this way: one that takes another, such as
 * napi_gro_frags() or netif_receive_skb(), can overtake what is held.
 *
 * The driver's Kconfig entry says ``depends on SRPIC || SRPIC=n``. Without
 * CONFIG_SRPIC all that is left of the interface is napi_gro_receive().
 */

struct srpic;

/* How many statistics srpic_get_stats() adds to those of a driver. */
#define SRPIC_NUM_STATS		(IS_ENABLED(CONFIG_SRPIC) ? 15 : 0)

/**
 * struct srpic_dev - SRPIC on one network device, embedded by its driver
 *
 * All fields are private to the library.
 */
struct srpic_dev {
	/* private: */
#if IS_ENABLED(CONFIG_SRPIC)
	struct net_device *netdev;
	unsigned int ring_pkts;		/* descriptors in a receive ring */
	struct mutex lock;		/* protects everything below */
	struct list_head napis;		/* of struct srpic_napi */
	u64 retired[SRPIC_NUM_STATS];	/* of contexts that are gone */
	bool enabled;
#endif
};

/**
 * struct srpic_napi - SRPIC on one NAPI instance, embedded by its driver
 *
 * Zeroed until it is added. All fields are private to the library.
 */
struct srpic_napi {
	/* private: */
	struct napi_struct *napi;
#if IS_ENABLED(CONFIG_SRPIC)
	struct srpic *poll;		/* what the last poll began with */
	struct srpic *active;		/* what the next poll will use */
	struct srpic *srpic;		/* lives until the vector goes */
	struct srpic_dev *sd;
	struct list_head node;		/* on sd->napis */
	atomic_t stopping;		/* how many are in srpic_stop() */
#endif
};

#if IS_ENABLED(CONFIG_SRPIC)

void srpic_init(struct srpic_dev *sd, struct net_device *netdev);
int srpic_enable(struct srpic_dev *sd, bool on);
void srpic_add_napi(struct srpic_dev *sd, struct srpic_napi *sn,
		    struct napi_struct *napi);
void srpic_del_napi(struct srpic_napi *sn);
void srpic_get_strings(u8 **data);
void srpic_get_stats(struct srpic_dev *sd, u64 **data);
void srpic_stop(struct srpic_napi *sn,
		void (*disable)(struct napi_struct *napi));
void __srpic_switch(struct srpic_napi *sn, struct srpic *active);
void __srpic_receive(struct srpic *srpic, struct sk_buff *skb);
void __srpic_end(struct srpic_napi *sn, bool complete);

/**
 * srpic_enabled - whether SRPIC is switched on
 * @sd: the device
 *
 * Context: any; a caller that needs a stable answer holds what serializes the
 *	ethtool operations: RTNL, or the device's lock in later kernels.
 * Return: what the last successful srpic_enable() set.
 */
static inline bool srpic_enabled(const struct srpic_dev *sd)
{
	return READ_ONCE(sd->enabled);
}

/**
 * srpic_set_ring - tell the size of the receive rings
 * @sd: the device
 * @pkts: descriptors in one receive ring
 *
 * Taken over at the next full flush. It bounds how many packets are held
 * while net.srpic.full_flush_pkts is 0.
 *
 * Context: any, usually where the driver programs its rings.
 */
static inline void srpic_set_ring(struct srpic_dev *sd, unsigned int pkts)
{
	WRITE_ONCE(sd->ring_pkts, pkts);
}

/**
 * srpic_begin - begin a poll
 * @sn: the NAPI instance
 *
 * Decides whether this poll sorts. Must be called once per poll, so that
 * switching off in the middle of it strands no packet; what is held when
 * SRPIC was switched off since the last poll is delivered.
 *
 * Context: the poll function of the NAPI instance, with a budget.
 */
static inline void srpic_begin(struct srpic_napi *sn)
{
	struct srpic *active = READ_ONCE(sn->active);

	if (unlikely(sn->poll != active))
		__srpic_switch(sn, active);
}

/**
 * srpic_receive - receive a packet, sorted if SRPIC is on
 * @sn: the NAPI instance that is polled
 * @skb: the packet, as napi_gro_receive() takes it; consumed
 *
 * In place of napi_gro_receive(). The packet reaches it at the latest in the
 * srpic_end() of a poll that completes, on the same NAPI instance, unless
 * net.srpic.hold_usecs lets it wait for those ahead of it. Cannot fail; SRPIC
 * makes no allocation, lock or atomic operation.
 *
 * Context: the poll function of the NAPI instance, after srpic_begin().
 */
static inline void srpic_receive(struct srpic_napi *sn, struct sk_buff *skb)
{
	if (unlikely(sn->poll))	/* read again, not kept: off costs less so */
		__srpic_receive(READ_ONCE(sn->poll), skb);
	else
		napi_gro_receive(sn->napi, skb);
}

/**
 * srpic_end - end a poll
 * @sn: the NAPI instance that is polled
 * @complete: whether NAPI is about to complete; false if it will be polled
 *	again because the budget is used up
 *
 * Delivers what need not wait any longer: all that is in order if the poll
 * completes, and everything while somebody polls busily.
 *
 * Must be called after the receive rings are cleaned and before
 * napi_complete_done(), on every path out of the poll function: afterwards
 * another CPU may own the NAPI instance. May be called again with @complete
 * where a poll completes although it has work left.
 *
 * Context: the poll function of the NAPI instance, with a budget, after
 *	srpic_receive().
 */
static inline void srpic_end(struct srpic_napi *sn, bool complete)
{
	if (sn->poll)
		__srpic_end(sn, complete);
}

#else /* !CONFIG_SRPIC */

static inline void srpic_init(struct srpic_dev *sd, struct net_device *netdev)
{
}

static inline int srpic_enable(struct srpic_dev *sd, bool on)
{
	return on ? -EOPNOTSUPP : 0;
}

static inline void srpic_add_napi(struct srpic_dev *sd, struct srpic_napi *sn,
				  struct napi_struct *napi)
{
	sn->napi = napi;
}

static inline void srpic_del_napi(struct srpic_napi *sn)
{
}

static inline void srpic_get_strings(u8 **data)
{
}

static inline void srpic_get_stats(struct srpic_dev *sd, u64 **data)
{
}

static inline bool srpic_enabled(const struct srpic_dev *sd)
{
	return false;
}

static inline void srpic_set_ring(struct srpic_dev *sd, unsigned int pkts)
{
}

static inline void srpic_begin(struct srpic_napi *sn)
{
}

static inline void srpic_receive(struct srpic_napi *sn, struct sk_buff *skb)
{
	napi_gro_receive(sn->napi, skb);
}

static inline void srpic_end(struct srpic_napi *sn, bool complete)
{
}

static inline void srpic_stop(struct srpic_napi *sn,
			      void (*disable)(struct napi_struct *napi))
{
	disable(sn->napi);
}

#endif /* CONFIG_SRPIC */

#endif /* _NET_SRPIC_H */
