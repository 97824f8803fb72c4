// SPDX-License-Identifier: GPL-2.0
/*
 * Two queues in memory, A and B, which the core polls. The tests write frames
 * into their rings, as a device would, and see in which order they leave.
 */

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <linux/version.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "../rxfence_priv.h"

enum { A, B, QUEUES };

#define FRAMES		64
#define SLOTS		8
#define HASH		(5 * SLOTS + 3)		/* of slot 3 */
#define LEN		100
#define HEADERS		(sizeof(struct ethhdr) + sizeof(struct iphdr) + \
			 sizeof(struct tcphdr))

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define GRO_FLUSH_TIMEOUT(fence) (&(fence)->netdev->gro_flush_timeout)
#else
#define GRO_FLUSH_TIMEOUT(fence) (&(fence)->queue[A].napi.gro_flush_timeout)
#endif

struct frame {
	u32 number;
	u32 hash;
};

struct queue {
	struct napi_struct napi;
	struct rxfence_napi rn;
	struct fence *fence;
	struct frame ring[FRAMES];
	unsigned int head, tail;
	unsigned int polls;
	/* run once, when a poll has found the ring empty */
	void (*hook)(struct fence *fence);
};

struct fence {
	struct net_device *netdev;
	struct rxfence_dev rd;
	struct queue queue[QUEUES];
	struct sock *sk;
	u32 out[FRAMES];
	unsigned int n_out;
	u64 unsettled;			/* A was a source when these left */
	int deadline_usecs;
};

static rx_handler_result_t capture(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct fence *fence = rcu_dereference(skb->dev->rx_handler_data);
	const struct tcphdr *th = (void *)(skb->data + sizeof(struct iphdr));

	if (fence->n_out < FRAMES) {
		if (fence->queue[A].rn.source)
			fence->unsettled |= BIT_ULL(fence->n_out);
		fence->out[fence->n_out++] = ntohl(th->seq) / LEN;
	}
	kfree_skb(skb);
	return RX_HANDLER_CONSUMED;
}

/* A TCP segment, which GRO keeps until the poll is over. */
static struct sk_buff *frame_skb(struct queue *q, const struct frame *frame)
{
	struct sk_buff *skb = napi_alloc_skb(&q->napi, HEADERS + LEN);
	struct ethhdr *eth;
	struct tcphdr *th;
	struct iphdr *ip;

	if (!skb)
		return NULL;
	eth = skb_put_zero(skb, HEADERS + LEN);
	ip = (struct iphdr *)(eth + 1);
	th = (struct tcphdr *)(ip + 1);
	ether_addr_copy(eth->h_dest, q->fence->netdev->dev_addr);
	eth->h_proto = htons(ETH_P_IP);
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->protocol = IPPROTO_TCP;
	ip->tot_len = htons(HEADERS - sizeof(*eth) + LEN);
	ip->saddr = htonl(0xc6336401);
	ip->daddr = htonl(0xc6336402);
	ip->check = ip_fast_csum(ip, ip->ihl);
	th->source = htons(5000);
	th->seq = htonl(frame->number * LEN);
	th->doff = sizeof(*th) / 4;
	th->ack = 1;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->protocol = eth_type_trans(skb, q->fence->netdev);
	return skb;
}

static int clean(struct queue *q, int budget)
{
	int done = 0;

	/* pairs with the release in arrive() */
	while (done < budget && q->head != smp_load_acquire(&q->tail)) {
		const struct frame *frame = &q->ring[q->head % FRAMES];
		struct sk_buff *skb;

		if (rxfence_stop(&q->rn, frame->hash))
			break;
		skb = frame_skb(q, frame);
		if (skb)
			napi_gro_receive(&q->napi, skb);
		q->head++;
		done++;
	}
	return done;
}

static int poll(struct napi_struct *napi, int budget)
{
	struct queue *q = container_of(napi, struct queue, napi);
	void (*hook)(struct fence *fence) = q->hook;
	int done;

	q->polls++;
	rxfence_begin(&q->rn);
	done = clean(q, budget);
	if (hook) {
		q->hook = NULL;
		hook(q->fence);
	}
	if (done >= budget || rxfence_waiting(&q->rn))
		return budget;
	rxfence_complete(&q->rn, napi, done);
	return done;
}

/* A frame arrives; the interrupt may come later. */
static void arrive(struct fence *fence, int n, u32 number, u32 hash)
{
	struct queue *q = &fence->queue[n];

	q->ring[q->tail % FRAMES] = (struct frame){ number, hash };
	/* pairs with the acquire in clean() */
	smp_store_release(&q->tail, q->tail + 1);
}

/* Polls a queue until it has not to be polled again. */
static void poll_queue(struct fence *fence, int n)
{
	local_bh_disable();
	napi_schedule(&fence->queue[n].napi);
	local_bh_enable();
	/* this may be left to ksoftirqd */
	napi_synchronize(&fence->queue[n].napi);
}

/* Likewise, and the other one, if it has to be polled. */
static void interrupt(struct fence *fence, int n)
{
	poll_queue(fence, n);
	napi_synchronize(&fence->queue[!n].napi);
}

/* How many frames a poll would take. */
static int take(struct fence *fence, int n)
{
	struct queue *q = &fence->queue[n];
	int done;

	local_bh_disable();
	rxfence_begin(&q->rn);
	done = clean(q, 64);
	rxfence_waiting(&q->rn);
	local_bh_enable();
	return done;
}

static u64 stat(struct fence *fence, enum rxfence_stat which)
{
	u64 stats[RXFENCE_STATS], *data = stats;

	rxfence_get_stats(&fence->rd, &data);
	return stats[which];
}

static bool move(struct fence *fence, u32 slot, int from, int to)
{
	bool may = rxfence_move(&fence->rd, slot, from, to);

	rxfence_moved(&fence->rd);
	return may;
}

static void expect(struct kunit *test, const u32 *numbers, unsigned int n)
{
	struct fence *fence = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, n, fence->n_out);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ_MSG(test, numbers[i], fence->out[i],
				    "frame %u", i);
	fence->n_out = 0;
}

#define EXPECT(test, ...) do { \
	static const u32 numbers[] = { __VA_ARGS__ }; \
	expect(test, numbers, ARRAY_SIZE(numbers)); \
} while (0)

/* Frames that wait in both rings, the later ones in B. */
static void in_both(struct fence *fence)
{
	arrive(fence, A, 0, HASH);
	arrive(fence, A, 2, HASH);
	move(fence, HASH, A, B);
	arrive(fence, B, 4, HASH);
	arrive(fence, B, 6, HASH);
}

static void off_reorders(struct kunit *test)
{
	struct fence *fence = test->priv;

	rxfence_enable(&fence->rd, false);
	in_both(fence);
	interrupt(fence, B);
	interrupt(fence, A);
	EXPECT(test, 4, 6, 0, 2);
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_MOVES));
}

static void new_queue_waits_for_old(struct kunit *test)
{
	struct fence *fence = test->priv;

	in_both(fence);
	interrupt(fence, B);
	EXPECT(test, 0, 2, 4, 6);
	KUNIT_EXPECT_EQ(test, 1, stat(fence, RXFENCE_MOVES));
	KUNIT_EXPECT_EQ(test, 1, stat(fence, RXFENCE_WAITS));
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_EXPIRED));
	/* not before the two had left GRO */
	KUNIT_EXPECT_EQ(test, 3, fence->unsettled);
	/* it costs B no more */
	KUNIT_EXPECT_EQ(test, 0, fence->queue[A].rn.source);
	KUNIT_EXPECT_EQ(test, 0, fence->queue[B].rn.destination);
}

/* One that fills the budget of A's first poll has it polled again. */
static void old_ring_is_emptied(struct kunit *test)
{
	struct fence *fence = test->priv;
	u32 i;

	fence->queue[A].napi.weight = 8;
	for (i = 0; i < 20; i++)
		arrive(fence, A, 2 * i, HASH);
	move(fence, HASH, A, B);
	arrive(fence, B, 40, HASH);
	interrupt(fence, B);
	KUNIT_ASSERT_EQ(test, 21, fence->n_out);
	for (i = 0; i < 21; i++)
		KUNIT_EXPECT_EQ(test, 2 * i, fence->out[i]);
}

static void arrive_and_poll_b(struct fence *fence)
{
	arrive(fence, A, 0, HASH);
	arrive(fence, B, 2, HASH);
	take(fence, B);
	napi_schedule(&fence->queue[B].napi);
}

/* A has been found empty, then frames arrive, and B is polled before A ends. */
static void earlier_poll_does_not_count(struct kunit *test)
{
	struct fence *fence = test->priv;

	move(fence, HASH, A, B);
	fence->queue[A].hook = arrive_and_poll_b;
	interrupt(fence, A);
	EXPECT(test, 0, 2);
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_EXPIRED));
}

/* Even if the device has GRO keep packets beyond the poll. */
static void gro_flush_timeout(struct kunit *test)
{
	struct fence *fence = test->priv;
	unsigned long *timeout = GRO_FLUSH_TIMEOUT(fence);

	WRITE_ONCE(*timeout, NSEC_PER_SEC);
	in_both(fence);
	interrupt(fence, B);
	WRITE_ONCE(*timeout, 0);
	/* what GRO keeps of B */
	arrive(fence, B, 8, HASH);
	interrupt(fence, B);
	EXPECT(test, 0, 2, 4, 6, 8);
}

/* Nobody sees when busy polling sends up what it received: at the next poll. */
static void busy_poll_settles_later(struct kunit *test)
{
	struct fence *fence = test->priv;
	struct queue *a = &fence->queue[A];

	in_both(fence);
	local_bh_disable();
	napi_schedule_prep(&a->napi);
	set_bit(NAPI_STATE_IN_BUSY_POLL, &a->napi.state);
	take(fence, B);
	poll(&a->napi, 64);
	KUNIT_EXPECT_EQ(test, 1, a->rn.source);
	poll(&a->napi, 64);
	KUNIT_EXPECT_EQ(test, 0, a->rn.source);
	clear_bit(NAPI_STATE_IN_BUSY_POLL, &a->napi.state);
	napi_complete(&a->napi);
	local_bh_enable();
	interrupt(fence, B);
	EXPECT(test, 0, 2, 4, 6);
}

static bool settles(struct fence *fence)
{
	unsigned int ms;

	for (ms = 0; ms < 1000 && READ_ONCE(fence->queue[A].rn.source); ms++)
		fsleep(1000);
	return ms < 1000;
}

/* What the device still puts into the old ring may come for 1 ms. */
static void nothing_follows(struct kunit *test)
{
	struct fence *fence = test->priv;
	u64 began;

	KUNIT_EXPECT_TRUE(test, rxfence_move(&fence->rd, HASH, A, B));
	/* not written yet */
	interrupt(fence, A);
	fsleep(5000);
	interrupt(fence, A);
	KUNIT_EXPECT_EQ(test, 1, fence->queue[A].rn.source);
	KUNIT_EXPECT_FALSE(test, rxfence_moved(&fence->rd));
	began = ktime_get_ns();
	KUNIT_EXPECT_TRUE(test, settles(fence));
	KUNIT_EXPECT_GE(test, ktime_get_ns() - began, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 3, fence->queue[A].polls);
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_WAITS));
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_EXPIRED));
}

/* A queue that is waited for does not wait. */
static void never_both_directions(struct kunit *test)
{
	struct fence *fence = test->priv;

	KUNIT_EXPECT_TRUE(test, rxfence_move(&fence->rd, 1, A, B));
	KUNIT_EXPECT_TRUE(test, rxfence_move(&fence->rd, 2, A, B));
	KUNIT_EXPECT_FALSE(test, rxfence_move(&fence->rd, 3, B, A));
	KUNIT_EXPECT_FALSE(test, rxfence_move(&fence->rd, 1, A, B));
	KUNIT_EXPECT_TRUE(test, rxfence_moved(&fence->rd));
	KUNIT_EXPECT_TRUE(test, settles(fence));
	KUNIT_EXPECT_TRUE(test, rxfence_move(&fence->rd, 3, B, A));
	KUNIT_EXPECT_FALSE(test, rxfence_moved(&fence->rd));
	KUNIT_EXPECT_EQ(test, 3, stat(fence, RXFENCE_MOVES));
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_REFUSED));
}

/* Has B polled until two frames have left it. */
static void two_leave(struct fence *fence)
{
	unsigned int ms;

	local_bh_disable();
	napi_schedule(&fence->queue[B].napi);
	local_bh_enable();
	for (ms = 0; ms < 500 && READ_ONCE(fence->n_out) < 2; ms++)
		fsleep(1000);
}

static void deadline_ends_the_wait(struct kunit *test)
{
	struct fence *fence = test->priv;
	u64 began;

	rxfence_deadline_usecs = 20000;
	in_both(fence);
	napi_disable(&fence->queue[A].napi);
	began = ktime_get_ns();
	two_leave(fence);
	KUNIT_EXPECT_GE(test, ktime_get_ns() - began, 20 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, 1, stat(fence, RXFENCE_EXPIRED));
	napi_enable(&fence->queue[A].napi);
	interrupt(fence, A);
	EXPECT(test, 4, 6, 0, 2);
}

/* One deadline for all that waits for a queue that is stuck. */
static void deadline_is_of_the_old_queue(struct kunit *test)
{
	struct fence *fence = test->priv;

	rxfence_deadline_usecs = 20000;
	napi_disable(&fence->queue[A].napi);
	move(fence, HASH, A, B);
	move(fence, HASH + 1, A, B);
	arrive(fence, B, 0, HASH);
	arrive(fence, B, 2, HASH + 1);
	two_leave(fence);
	KUNIT_EXPECT_EQ(test, 1, stat(fence, RXFENCE_WAITS));
	KUNIT_EXPECT_EQ(test, 2, stat(fence, RXFENCE_EXPIRED));
	napi_enable(&fence->queue[A].napi);
	EXPECT(test, 0, 2);
}

static void same_queue_is_no_move(struct kunit *test)
{
	struct fence *fence = test->priv;

	KUNIT_EXPECT_TRUE(test, move(fence, HASH, B, B));
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_MOVES));
}

static void no_hash_does_not_wait(struct kunit *test)
{
	struct fence *fence = test->priv;

	/* slot 0, that of a hash of 0 */
	move(fence, 0, A, B);
	arrive(fence, B, 0, 0);
	arrive(fence, B, 2, SLOTS);
	KUNIT_EXPECT_EQ(test, 1, take(fence, B));
	interrupt(fence, B);
	EXPECT(test, 0, 2);
}

/* Both move with the slot if that is what the device steers by. */
static void two_flows_in_a_slot(struct kunit *test)
{
	struct fence *fence = test->priv;

	arrive(fence, A, 0, HASH);
	arrive(fence, A, 2, HASH + SLOTS);
	move(fence, HASH, A, B);
	arrive(fence, B, 4, HASH + SLOTS);
	arrive(fence, B, 6, HASH);
	interrupt(fence, B);
	EXPECT(test, 0, 2, 4, 6);

	fence->rd.steered = ~0;
	arrive(fence, A, 0, HASH);
	move(fence, HASH, A, B);
	arrive(fence, B, 4, HASH + RXFENCE_SLOTS);
	arrive(fence, B, 2, HASH);
	KUNIT_EXPECT_EQ(test, 1, take(fence, B));
	interrupt(fence, B);
	EXPECT(test, 0, 4, 2);
}

static void queue_that_is_gone(struct kunit *test)
{
	struct fence *fence = test->priv;
	struct queue *a = &fence->queue[A];

	in_both(fence);
	napi_disable(&a->napi);
	rxfence_del_napi(&a->rn);
	poll_queue(fence, B);
	EXPECT(test, 4, 6);
	KUNIT_EXPECT_TRUE(test, move(fence, HASH, B, A));
	KUNIT_EXPECT_EQ(test, 1, stat(fence, RXFENCE_MOVES));
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_EXPIRED));

	napi_enable(&a->napi);
	rxfence_add_queue(&fence->rd, &a->rn, &a->napi, A);
	interrupt(fence, A);
	EXPECT(test, 0, 2);
}

static void off_and_reset_end_all_waits(struct kunit *test)
{
	struct fence *fence = test->priv;

	in_both(fence);
	rxfence_enable(&fence->rd, false);
	interrupt(fence, B);
	EXPECT(test, 4, 6);
	rxfence_enable(&fence->rd, true);
	move(fence, HASH, A, B);
	rxfence_reset(&fence->rd);
	KUNIT_EXPECT_EQ(test, 0, fence->queue[A].rn.source);
	interrupt(fence, A);
	EXPECT(test, 0, 2);
}

static bool hint(struct fence *fence, u32 hash, int from, int to)
{
	struct sk_buff skb = { .sk = fence->sk };
	bool may;

	fence->sk->sk_rxhash = hash;
	fence->sk->sk_rx_queue_mapping = from;
	local_bh_disable();
	may = rxfence_hint(&fence->rd, &skb, to);
	if (may)
		rxfence_hinted(&fence->rd, &skb);
	local_bh_enable();
	return may;
}

static void hints(struct kunit *test)
{
	struct fence *fence = test->priv;

	fence->rd.steered = ~0;
	/* nothing to go by: as without rxfence */
	KUNIT_EXPECT_TRUE(test, hint(fence, 0, A, B));
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, NO_QUEUE_MAPPING, B));
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, A, A));
	KUNIT_EXPECT_EQ(test, 0, stat(fence, RXFENCE_MOVES));

	arrive(fence, A, 0, HASH);
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, A, B));
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, A, B));
	KUNIT_EXPECT_EQ(test, 1, stat(fence, RXFENCE_MOVES));
	/* back, another one of the slot, and another direction */
	KUNIT_EXPECT_FALSE(test, hint(fence, HASH, A, A));
	KUNIT_EXPECT_FALSE(test, hint(fence, HASH + RXFENCE_SLOTS, A, B));
	KUNIT_EXPECT_FALSE(test, hint(fence, HASH + 1, B, A));
	KUNIT_EXPECT_EQ(test, 3, stat(fence, RXFENCE_REFUSED));
	arrive(fence, B, 2, HASH);
	interrupt(fence, B);
	EXPECT(test, 0, 2);

	/* settled; the socket has not seen what came from B */
	arrive(fence, B, 4, HASH);
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, A, A));
	KUNIT_EXPECT_EQ(test, 2, stat(fence, RXFENCE_MOVES));
	arrive(fence, A, 6, HASH);
	interrupt(fence, A);
	EXPECT(test, 4, 6);
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, A, A));
	KUNIT_EXPECT_EQ(test, 2, stat(fence, RXFENCE_MOVES));
}

/* It is over even if the socket hears of another hash before the write. */
static void hash_changes_during_a_hint(struct kunit *test)
{
	struct fence *fence = test->priv;
	struct sk_buff skb = { .sk = fence->sk };
	bool may;

	fence->rd.steered = ~0;
	fence->sk->sk_rxhash = HASH;
	fence->sk->sk_rx_queue_mapping = A;
	local_bh_disable();
	may = rxfence_hint(&fence->rd, &skb, B);
	fence->sk->sk_rxhash = HASH + 1;
	rxfence_hinted(&fence->rd, &skb);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, may);
	KUNIT_EXPECT_EQ(test, 1, stat(fence, RXFENCE_MOVES));
	KUNIT_EXPECT_TRUE(test, settles(fence));
}

/* Where a flow goes while it is off is not known, nor where it went before. */
static void off_forgets(struct kunit *test)
{
	struct fence *fence = test->priv;

	fence->rd.steered = ~0;
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, A, B));
	arrive(fence, B, 0, HASH);
	interrupt(fence, B);
	rxfence_enable(&fence->rd, false);
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, B, A));
	rxfence_enable(&fence->rd, true);
	arrive(fence, A, 2, HASH);
	KUNIT_EXPECT_TRUE(test, hint(fence, HASH, A, B));
	KUNIT_EXPECT_EQ(test, 2, stat(fence, RXFENCE_MOVES));
	arrive(fence, B, 4, HASH);
	interrupt(fence, B);
	EXPECT(test, 0, 2, 4);
}

static netdev_tx_t fence_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops fence_netdev_ops = {
	.ndo_start_xmit	= fence_xmit,
};

static int add_netdev(struct fence *fence)
{
	int err;

	fence->netdev = alloc_etherdev(0);
	if (!fence->netdev)
		return -ENOMEM;
	fence->netdev->netdev_ops = &fence_netdev_ops;
	eth_hw_addr_random(fence->netdev);
	rtnl_lock();
	err = register_netdevice(fence->netdev);
	if (!err)
		err = dev_open(fence->netdev, NULL);
	if (!err)
		err = netdev_rx_handler_register(fence->netdev, capture, fence);
	rtnl_unlock();
	return err;
}

static int fence_init(struct kunit *test)
{
	struct fence *fence = kunit_kzalloc(test, sizeof(*fence), GFP_KERNEL);
	int n;

	KUNIT_ASSERT_NOT_NULL(test, fence);
	test->priv = fence;
	fence->sk = kunit_kzalloc(test, sizeof(*fence->sk), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fence->sk);
	fence->sk->sk_state = TCP_ESTABLISHED;
	KUNIT_ASSERT_EQ(test, 0, add_netdev(fence));
	fence->deadline_usecs = rxfence_deadline_usecs;
	/* many times what a slow machine needs to poll A */
	rxfence_deadline_usecs = 100000;

	rxfence_init(&fence->rd, fence->netdev, SLOTS - 1);
	for (n = 0; n < QUEUES; n++) {
		struct queue *q = &fence->queue[n];

		q->fence = fence;
		netif_napi_add(fence->netdev, &q->napi, poll);
		rxfence_add_queue(&fence->rd, &q->rn, &q->napi, n);
		napi_enable(&q->napi);
	}
	rxfence_enable(&fence->rd, true);
	return 0;
}

static void fence_exit(struct kunit *test)
{
	struct fence *fence = test->priv;
	int n;

	if (!fence || !fence->rd.netdev)
		return;
	rxfence_reset(&fence->rd);
	for (n = 0; n < QUEUES; n++) {
		napi_disable(&fence->queue[n].napi);
		rxfence_del_napi(&fence->queue[n].rn);
		netif_napi_del(&fence->queue[n].napi);
	}
	rxfence_deadline_usecs = fence->deadline_usecs;
	rtnl_lock();
	netdev_rx_handler_unregister(fence->netdev);
	unregister_netdevice(fence->netdev);
	rtnl_unlock();
	free_netdev(fence->netdev);
}

static struct kunit_case rxfence_cases[] = {
	KUNIT_CASE(off_reorders),
	KUNIT_CASE(new_queue_waits_for_old),
	KUNIT_CASE(old_ring_is_emptied),
	KUNIT_CASE(earlier_poll_does_not_count),
	KUNIT_CASE(gro_flush_timeout),
	KUNIT_CASE(busy_poll_settles_later),
	KUNIT_CASE(nothing_follows),
	KUNIT_CASE(never_both_directions),
	KUNIT_CASE(deadline_ends_the_wait),
	KUNIT_CASE(deadline_is_of_the_old_queue),
	KUNIT_CASE(same_queue_is_no_move),
	KUNIT_CASE(no_hash_does_not_wait),
	KUNIT_CASE(two_flows_in_a_slot),
	KUNIT_CASE(queue_that_is_gone),
	KUNIT_CASE(off_and_reset_end_all_waits),
	KUNIT_CASE(hints),
	KUNIT_CASE(hash_changes_during_a_hint),
	KUNIT_CASE(off_forgets),
	{ }
};

static struct kunit_suite rxfence_suite = {
	.name = "rxfence",
	.init = fence_init,
	.exit = fence_exit,
	.test_cases = rxfence_cases,
};

kunit_test_suite(rxfence_suite);
