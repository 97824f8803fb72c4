/* SPDX-License-Identifier: GPL-2.0 */
/* SRPIC: Sorting Reordered Packets with Interrupt Coalescing */
#ifndef _NET_SRPIC_H
#define _NET_SRPIC_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/types.h>

/**
 * DOC: driver interface
 *
 * A driver embeds a &struct srpic_dev in its private data and a
 * &struct srpic_napi in each of its NAPI vectors that has a receive ring.
 * In its poll function it
 *
 * - calls srpic_begin() once, before it looks at the first receive ring,
 * - hands every received packet to srpic_receive() where it called
 *   napi_gro_receive(),
 * - calls srpic_flush() once after the last receive ring is cleaned, on
 *   every path, and before napi_complete_done().
 *
 * All its packets must go this way: one that takes another, such as
 * napi_gro_frags() or netif_receive_skb(), can overtake what is held.
 *
 * It has an option in drivers/net/srpic/Kconfig, and opts in with one line in
 * its Makefile::
 *
 *	ccflags-$(CONFIG_FOO_SRPIC) += -DSRPIC_DRIVER
 *
 * Without that define all of the interface is stubs, and the driver compiles
 * to what it was.
 */

/**
 * enum srpic_stat - what is counted, per network device
 * @SRPIC_FLUSH_BLOCK: blocks flushed because they were full
 * @SRPIC_FLUSH_RING: blocks flushed because the context took as many packets
 *	as the receive ring has descriptors (or net.srpic.full_flush_pkts)
 * @SRPIC_FLUSH_POLL: blocks flushed because the poll ended
 * @SRPIC_FLUSH_BARRIER: blocks flushed ahead of a packet that is not suitable
 * @SRPIC_FLUSH_TIMESTAMP: blocks flushed to keep the order of TCP timestamps,
 *	or because the next packet's cannot be compared with those held
 * @SRPIC_FLUSH_OVERLAP: blocks flushed because a packet overlaps what is held,
 *	or is too far away from it to be compared
 * @SRPIC_FLUSH_EVICT: blocks flushed because all managers of a set held
 *	packets
 * @SRPIC_PACKETS_TAKEN: packets that went through a block
 * @SRPIC_PACKETS_PASSED: packets that were not suitable
 * @SRPIC_PACKETS_OUT_OF_ORDER: packets taken that went to prev or after
 * @SRPIC_COUNTERS: number of counters above
 * @SRPIC_BLOCKS: blocks flushed, the sum of all causes
 * @SRPIC_STATS: number of statistics in ``ethtool -S``
 */
enum srpic_stat {
	SRPIC_FLUSH_BLOCK,
	SRPIC_FLUSH_RING,
	SRPIC_FLUSH_POLL,
	SRPIC_FLUSH_BARRIER,
	SRPIC_FLUSH_TIMESTAMP,
	SRPIC_FLUSH_OVERLAP,
	SRPIC_FLUSH_EVICT,
	SRPIC_PACKETS_TAKEN,
	SRPIC_PACKETS_PASSED,
	SRPIC_PACKETS_OUT_OF_ORDER,
	SRPIC_COUNTERS,
	SRPIC_BLOCKS = SRPIC_COUNTERS,
	SRPIC_STATS
};

struct srpic;

#ifdef SRPIC_DRIVER

/**
 * struct srpic_dev - SRPIC on one network device, embedded by its driver
 *
 * All fields are private to the library.
 */
struct srpic_dev {
	/* private: */
	struct net_device *netdev;
	unsigned int ring_pkts;		/* descriptors in a receive ring */
	struct mutex lock;		/* protects everything below */
	struct list_head napis;		/* of struct srpic_napi */
	u64 retired[SRPIC_COUNTERS];	/* counts of contexts that are gone */
	bool enabled;
};

/**
 * struct srpic_napi - SRPIC on one NAPI instance, embedded by its driver
 *
 * Zeroed memory is a valid instance that never sorts. All fields are private
 * to the library.
 */
struct srpic_napi {
	/* private: */
	struct srpic *poll;		/* what this poll uses; NULL: off */
	struct srpic *active;		/* what the next poll will use */
	struct srpic *srpic;		/* lives until the vector goes */
	struct srpic_dev *dev;
	struct list_head node;		/* on dev->napis */
};

/* For a list of private flags: the name and its comma, or nothing at all. */
#define SRPIC_PRIV_FLAG		"srpic",
#define SRPIC_NUM_STATS		SRPIC_STATS

void srpic_init(struct srpic_dev *sd, struct net_device *netdev);
int srpic_enable(struct srpic_dev *sd, bool on);
void srpic_add_napi(struct srpic_dev *sd, struct srpic_napi *sn);
void srpic_del_napi(struct srpic_napi *sn);
void srpic_get_strings(u8 **data);
void srpic_get_stats(struct srpic_dev *sd, u64 *data);
void __srpic_receive(struct srpic_napi *sn, struct napi_struct *napi,
		     struct sk_buff *skb);
void __srpic_flush(struct srpic_napi *sn, struct napi_struct *napi);

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
 * switching off in the middle of it strands no packet.
 *
 * Context: the poll function of the NAPI instance.
 */
static inline void srpic_begin(struct srpic_napi *sn)
{
	sn->poll = READ_ONCE(sn->active);
}

/**
 * srpic_receive - receive a packet, sorted if SRPIC is on
 * @sn: the NAPI instance that is polled
 * @napi: the same, as the core knows it
 * @skb: the packet, as napi_gro_receive() takes it; consumed
 *
 * In place of napi_gro_receive(). The packet reaches it at the latest in
 * srpic_flush(), on the same NAPI instance. Cannot fail; no allocation, lock
 * or atomic operation is made.
 *
 * Context: the poll function of @napi.
 */
static inline void srpic_receive(struct srpic_napi *sn,
				 struct napi_struct *napi,
				 struct sk_buff *skb)
{
	if (unlikely(sn->poll))
		__srpic_receive(sn, napi, skb);
	else
		napi_gro_receive(napi, skb);
}

/**
 * srpic_flush - deliver all that is held
 * @sn: the NAPI instance that is polled
 * @napi: the same, as the core knows it
 *
 * Must be called after the receive rings are cleaned and before
 * napi_complete_done(), on every path out of the poll function: afterwards
 * another CPU may own the NAPI instance.
 *
 * Context: the poll function of @napi.
 */
static inline void srpic_flush(struct srpic_napi *sn, struct napi_struct *napi)
{
	if (sn->poll)
		__srpic_flush(sn, napi);
}

#else /* !SRPIC_DRIVER */

struct srpic_dev { };
struct srpic_napi { };

#define SRPIC_PRIV_FLAG
#define SRPIC_NUM_STATS		0

static inline void srpic_init(struct srpic_dev *sd, struct net_device *netdev)
{
}

static inline int srpic_enable(struct srpic_dev *sd, bool on)
{
	return on ? -EOPNOTSUPP : 0;
}

static inline void srpic_add_napi(struct srpic_dev *sd, struct srpic_napi *sn)
{
}

static inline void srpic_del_napi(struct srpic_napi *sn)
{
}

static inline void srpic_get_strings(u8 **data)
{
}

static inline void srpic_get_stats(struct srpic_dev *sd, u64 *data)
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

static inline void srpic_receive(struct srpic_napi *sn,
				 struct napi_struct *napi,
				 struct sk_buff *skb)
{
	napi_gro_receive(napi, skb);
}

static inline void srpic_flush(struct srpic_napi *sn, struct napi_struct *napi)
{
}

#endif /* SRPIC_DRIVER */

#endif /* _NET_SRPIC_H */
