// SPDX-License-Identifier: GPL-2.0
/*
 * ixgbe_poll() over rings that these tests fill in place of a NIC; registers
 * are memory. Included by ixgbe_main.c, whose netdev_ops the rings' owner must
 * have.
 */

#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/filter.h>
#include <net/hotdata.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/xsk_buff_pool.h>

#define FAKE_RINGS	2		/* of the vector; another one has one */
#define FAKE_OTHER	FAKE_RINGS
#define FAKE_COUNT	256
#define FAKE_REGS	0x20000
#define FAKE_VECTOR	0
#define FAKE_LEN	100
#define FAKE_HEADERS	(ETH_HLEN + sizeof(struct iphdr) + \
			 sizeof(struct tcphdr))
#define FAKE_MAX	160

/* one packet that left: the number it was given, and its payload */
struct fake_packet {
	u32 number;
	u32 len;
};

struct fake {
	struct net_device *netdev;
	struct ixgbe_adapter *adapter;
	struct ixgbe_q_vector *q_vector;
	struct ixgbe_q_vector *other;
	u8 *regs;
	u32 hash;			/* of what arrives */
	int gro_normal_batch;
	u16 head[FAKE_RINGS + 1];	/* where the NIC writes next */
	struct fake_packet out[FAKE_MAX];
	unsigned int n_out;
	unsigned int late;		/* that left when NAPI was complete */
	unsigned int corrupt;
};

static u8 fake_byte(u32 number, u32 at)
{
	return number * 7 + at;
}

static rx_handler_result_t fake_capture(struct sk_buff **pskb)
{
	struct fake *fake = rcu_dereference((*pskb)->dev->rx_handler_data);
	const int at = sizeof(struct iphdr) + sizeof(struct tcphdr);
	struct sk_buff *skb = *pskb;
	struct fake_packet *packet;
	struct tcphdr *th;
	u32 i;
	u8 byte;

	if (fake->n_out < FAKE_MAX) {
		th = (struct tcphdr *)(skb->data + sizeof(struct iphdr));
		packet = &fake->out[fake->n_out];
		packet->number = ntohl(th->seq) / FAKE_LEN;
		packet->len = skb->len - at;
		for (i = 0; i < packet->len; i++)
			fake->corrupt += skb_copy_bits(skb, at + i, &byte, 1) ||
				byte != fake_byte(packet->number, i);
	}
	fake->n_out++;
	fake->late += !test_bit(NAPI_STATE_SCHED,
				&fake->q_vector->napi.state) &&
		      !test_bit(NAPI_STATE_SCHED, &fake->other->napi.state);
	kfree_skb(skb);
	return RX_HANDLER_CONSUMED;
}

static struct ixgbe_ring *fake_ring(struct fake *fake, int n)
{
	return n == FAKE_OTHER ? &fake->other->ring[0] :
		&fake->q_vector->ring[n];
}

static void fake_add_ring(struct kunit *test, struct fake *fake, int n,
			  struct device *dev)
{
	struct ixgbe_q_vector *q_vector = n == FAKE_OTHER ? fake->other :
							    fake->q_vector;
	struct ixgbe_ring *ring = fake_ring(fake, n);

	ring->netdev = fake->netdev;
	ring->q_vector = q_vector;
	ring->dev = dev;
	ring->count = FAKE_COUNT;
	ring->queue_index = n;
	ring->tail = (u8 __iomem *)fake->regs + IXGBE_RDT(n);
	u64_stats_init(&ring->syncp);
	/* later kernels have an array of one */
	set_bit(__IXGBE_RX_BUILD_SKB_ENABLED, (unsigned long *)&ring->state);
	ring->rx_offset = ixgbe_rx_offset(ring);
	KUNIT_ASSERT_EQ(test, 0, ixgbe_setup_rx_resources(fake->adapter, ring));
	memset(ring->rx_buffer_info, 0,
	       sizeof(*ring->rx_buffer_info) * ring->count);
	ixgbe_alloc_rx_buffers(ring, ixgbe_desc_unused(ring));
	KUNIT_ASSERT_EQ(test, 0, ixgbe_desc_unused(ring));

	ring->next = q_vector->rx.ring;
	q_vector->rx.ring = ring;
	q_vector->rx.count++;
}

static struct ixgbe_q_vector *fake_add_vector(struct kunit *test,
					      struct fake *fake, int v_idx,
					      int rings)
{
	struct ixgbe_adapter *adapter = fake->adapter;
	struct ixgbe_q_vector *q_vector;

	q_vector = kzalloc(struct_size(q_vector, ring, rings), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q_vector);
	q_vector->adapter = adapter;
	q_vector->v_idx = v_idx;
	netif_napi_add(fake->netdev, &q_vector->napi, ixgbe_poll);
	srpic_add_napi(&adapter->srpic, &q_vector->srpic, &q_vector->napi);
	napi_enable(&q_vector->napi);
	return q_vector;
}

#if IS_ENABLED(CONFIG_RXFENCE)
static void fake_fence(struct fake *fake)
{
	struct rxfence_dev *rd = &fake->adapter->rxfence;
	int n;

	rxfence_init(rd, fake->netdev, ~0);
	for (n = 0; n <= FAKE_OTHER; n++) {
		struct ixgbe_q_vector *q_vector = fake_ring(fake, n)->q_vector;

		rxfence_add_queue(rd, &q_vector->rxfence, &q_vector->napi, n);
	}
}

static void fake_unfence(struct fake *fake)
{
	rxfence_reset(&fake->adapter->rxfence);
	rxfence_del_napi(&fake->q_vector->rxfence);
	rxfence_del_napi(&fake->other->rxfence);
}
#else
static void fake_fence(struct fake *fake)
{
}

static void fake_unfence(struct fake *fake)
{
}
#endif

static int fake_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "ixgbe_srpic");
	struct ixgbe_adapter *adapter;
	int n, err;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, 0,
			dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)));
	test->priv = fake;
	fake->gro_normal_batch = READ_ONCE(net_hotdata.gro_normal_batch);

	fake->netdev = alloc_etherdev(sizeof(*adapter));
	KUNIT_ASSERT_NOT_NULL(test, fake->netdev);
	fake->netdev->netdev_ops = &ixgbe_netdev_ops;
	fake->netdev->features = NETIF_F_RXCSUM;
	/* later kernels have a pointer to it there, which nothing here reads */
	adapter = netdev_priv(fake->netdev);
	fake->adapter = adapter;
	adapter->netdev = fake->netdev;
	adapter->hw.mac.type = ixgbe_mac_82599EB;
	fake->regs = kunit_kzalloc(test, FAKE_REGS, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->regs);
	adapter->hw.hw_addr = (u8 __iomem *)fake->regs;
	srpic_init(&adapter->srpic, fake->netdev);
	srpic_set_ring(&adapter->srpic, FAKE_COUNT);

	fake->q_vector = fake_add_vector(test, fake, FAKE_VECTOR, FAKE_RINGS);
	fake->other = fake_add_vector(test, fake, FAKE_VECTOR + 1, 1);
	for (n = 0; n <= FAKE_OTHER; n++)
		fake_add_ring(test, fake, n, dev);
	fake_fence(fake);

	rtnl_lock();
	err = netdev_rx_handler_register(fake->netdev, fake_capture, fake);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, 0, err);
	/* a packet shows up when it leaves, not when some more have left */
	WRITE_ONCE(net_hotdata.gro_normal_batch, 1);
	KUNIT_ASSERT_EQ(test, 0, srpic_enable(&adapter->srpic, true));
	return 0;
}

static void fake_stop(struct ixgbe_q_vector *q_vector)
{
	/* a case that was given up may have left it scheduled */
	if (test_bit(NAPI_STATE_SCHED, &q_vector->napi.state)) {
		local_bh_disable();
		napi_complete(&q_vector->napi);
		local_bh_enable();
	}
	srpic_stop(&q_vector->srpic, napi_disable);
}

static void fake_del_vector(struct ixgbe_q_vector *q_vector)
{
	struct ixgbe_ring *ring;

	srpic_del_napi(&q_vector->srpic);
	netif_napi_del(&q_vector->napi);
	ixgbe_for_each_ring(ring, q_vector->rx)
		ixgbe_free_rx_resources(ring);
	kfree(q_vector);
}

static void fake_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	if (!fake || !fake->other)
		return;
	WRITE_ONCE(net_hotdata.gro_normal_batch, fake->gro_normal_batch);
	fake_stop(fake->q_vector);
	fake_stop(fake->other);
	fake_unfence(fake);
	rtnl_lock();
	netdev_rx_handler_unregister(fake->netdev);
	rtnl_unlock();
	fake_del_vector(fake->q_vector);
	fake_del_vector(fake->other);
	free_netdev(fake->netdev);
}

static void fake_frame(u8 *frame, u32 number, u32 len)
{
	struct ethhdr *eth = (struct ethhdr *)frame;
	struct iphdr *ip = (struct iphdr *)(eth + 1);
	struct tcphdr *th = (struct tcphdr *)(ip + 1);
	u8 *payload = (u8 *)(th + 1);
	u32 i;

	memset(frame, 0, FAKE_HEADERS);
	eth->h_proto = htons(ETH_P_IP);
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->protocol = IPPROTO_TCP;
	ip->tot_len = htons(FAKE_HEADERS - ETH_HLEN + len);
	ip->saddr = htonl(0xc6336401);
	ip->daddr = htonl(0xc6336402);
	ip->check = ip_fast_csum(ip, ip->ihl);
	th->source = htons(5000);
	th->dest = htons(80);
	th->seq = htonl(number * FAKE_LEN);
	th->doff = sizeof(*th) / 4;
	th->ack = 1;
	for (i = 0; i < len; i++)
		payload[i] = fake_byte(number, i);
}

/* What a NIC does with a descriptor when it has filled its buffer. */
static void fake_write_back(struct fake *fake, int n, const u8 *data, u16 len,
			    u32 status, u32 rsc)
{
	struct ixgbe_ring *ring = fake_ring(fake, n);
	u16 i = fake->head[n];
	union ixgbe_adv_rx_desc *desc = IXGBE_RX_DESC(ring, i);
	struct ixgbe_rx_buffer *buffer = &ring->rx_buffer_info[i];
	void *to = ring->xsk_pool ? buffer->xdp->data :
		page_address(buffer->page) + buffer->page_offset;

	fake->head[n] = (i + 1) % ring->count;
	memcpy(to, data, len);
	desc->wb.lower.lo_dword.data =
		cpu_to_le32(rsc << IXGBE_RXDADV_RSCCNT_SHIFT);
	desc->wb.lower.hi_dword.rss = cpu_to_le32(fake->hash);
	if (rsc && !(status & IXGBE_RXD_STAT_EOP))
		status |= (u32)fake->head[n] << IXGBE_RXDADV_NEXTP_SHIFT;
	desc->wb.upper.status_error =
		cpu_to_le32(IXGBE_RXD_STAT_DD | status);
	desc->wb.upper.vlan = 0;
	desc->wb.upper.length = cpu_to_le16(len);
}

#define FAKE_GOOD (IXGBE_RXD_STAT_EOP | IXGBE_RXD_STAT_IPCS | \
		   IXGBE_RXD_STAT_L4CS)

static void fake_receive(struct fake *fake, int n, u32 number)
{
	u8 frame[FAKE_HEADERS + FAKE_LEN];

	fake_frame(frame, number, FAKE_LEN);
	fake_write_back(fake, n, frame, sizeof(frame), FAKE_GOOD, 0);
}

/* Has these packets arrive in a ring, in this order. */
#define FAKE_RECEIVE(fake, ring, ...) do { \
	static const u32 numbers[] = { __VA_ARGS__ }; \
	unsigned int i; \
	for (i = 0; i < ARRAY_SIZE(numbers); i++) \
		fake_receive(fake, ring, numbers[i]); \
} while (0)

static int fake_poll_vector(struct fake *fake, struct ixgbe_q_vector *q_vector,
			    int budget)
{
	struct napi_struct *napi = &q_vector->napi;
	int done;

	writel(0, fake->adapter->hw.hw_addr + IXGBE_EIMS_EX(0));
	local_bh_disable();
	if (!test_bit(NAPI_STATE_SCHED, &napi->state)) {
		napi_schedule_prep(napi);
		WRITE_ONCE(napi->list_owner, 0);	/* as the core has it */
	}
	done = ixgbe_poll(napi, budget);
	local_bh_enable();
	return done;
}

static int fake_poll(struct fake *fake, int budget)
{
	return fake_poll_vector(fake, fake->q_vector, budget);
}

static bool fake_completed(struct fake *fake)
{
	return readl(fake->adapter->hw.hw_addr + IXGBE_EIMS_EX(0)) ==
		BIT(FAKE_VECTOR);
}

/* Polls what the budget left. */
static void fake_finish(struct kunit *test, struct fake *fake)
{
	fake_poll(fake, 64);
	KUNIT_EXPECT_TRUE(test, fake_completed(fake));
}

/* Whether these packets left, in this order, and nothing else. */
static void fake_expect(struct kunit *test, const u32 *numbers, unsigned int n)
{
	struct fake *fake = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, n, fake->n_out);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ_MSG(test, numbers[i], fake->out[i].number,
				    "packet %u", i);
	KUNIT_EXPECT_EQ(test, 0, fake->late);
	KUNIT_EXPECT_EQ(test, 0, fake->corrupt);
	fake->n_out = 0;
}

#define FAKE_EXPECT(test, ...) do { \
	static const u32 numbers[] = { __VA_ARGS__ }; \
	fake_expect(test, numbers, ARRAY_SIZE(numbers)); \
} while (0)

static void srpic_sorted(struct kunit *test)
{
	struct fake *fake = test->priv;

	FAKE_RECEIVE(fake, 0, 3, 1, 2, 0);
	KUNIT_EXPECT_EQ(test, 4, fake_poll(fake, 64));
	KUNIT_EXPECT_TRUE(test, fake_completed(fake));
	FAKE_EXPECT(test, 0, 1, 2, 3);
}

static void srpic_off(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_EQ(test, 0, srpic_enable(&fake->adapter->srpic, false));
	FAKE_RECEIVE(fake, 0, 3, 1, 0);
	KUNIT_EXPECT_EQ(test, 3, fake_poll(fake, 64));
	FAKE_EXPECT(test, 3, 1, 0);
}

/* A flow that two rings of a vector share is sorted as one. */
static void srpic_several_rings(struct kunit *test)
{
	struct fake *fake = test->priv;

	/* the ring that was added last is cleaned first */
	FAKE_RECEIVE(fake, 1, 5, 3);
	FAKE_RECEIVE(fake, 0, 4, 2);
	KUNIT_EXPECT_EQ(test, 4, fake_poll(fake, 64));
	KUNIT_EXPECT_TRUE(test, fake_completed(fake));
	FAKE_EXPECT(test, 2, 3, 4, 5);
}

/* What a poll received waits for the next one if it ends for want of budget. */
static void srpic_budget(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i;

	for (i = 0; i < 12; i++)
		fake_receive(fake, 0, i ^ 1);
	/* two rings share it */
	KUNIT_EXPECT_EQ(test, 16, fake_poll(fake, 16));
	KUNIT_EXPECT_FALSE(test, fake_completed(fake));
	KUNIT_EXPECT_EQ(test, 0, fake->n_out);
	fake_finish(test, fake);
	FAKE_EXPECT(test, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

static void srpic_netpoll(struct kunit *test)
{
	struct fake *fake = test->priv;

	FAKE_RECEIVE(fake, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, 0, fake_poll(fake, 0));
	KUNIT_EXPECT_EQ(test, 0, fake->n_out);
	fake_finish(test, fake);
	FAKE_EXPECT(test, 0, 1);
}

static void fake_receive_in_two(struct fake *fake, u32 number, u32 rsc,
				bool first, bool second)
{
	u8 frame[FAKE_HEADERS + 2 * FAKE_LEN];
	const u16 half = FAKE_HEADERS + FAKE_LEN;

	fake_frame(frame, number, 2 * FAKE_LEN);
	if (first)
		fake_write_back(fake, 0, frame, half, 0, rsc);
	if (second)
		fake_write_back(fake, 0, frame + half, sizeof(frame) - half,
				FAKE_GOOD, rsc);
}

static void srpic_two_buffers(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_receive(fake, 0, 4);
	fake_receive_in_two(fake, 2, 0, true, true);
	fake_receive(fake, 0, 1);
	KUNIT_EXPECT_EQ(test, 3, fake_poll(fake, 64));
	FAKE_EXPECT(test, 1, 2, 4);
	KUNIT_EXPECT_EQ(test, 2 * FAKE_LEN, fake->out[1].len);
}

/* A frame of which one half is there waits in the ring, not in SRPIC. */
static void srpic_half_a_frame(struct kunit *test)
{
	struct fake *fake = test->priv;

	FAKE_RECEIVE(fake, 0, 1, 0);
	fake_receive_in_two(fake, 2, 0, true, false);
	KUNIT_EXPECT_EQ(test, 2, fake_poll(fake, 64));
	FAKE_EXPECT(test, 0, 1);
	fake_receive_in_two(fake, 2, 0, false, true);
	KUNIT_EXPECT_EQ(test, 1, fake_poll(fake, 64));
	FAKE_EXPECT(test, 2);
}

/* What the NIC has merged is a range of sequence numbers. */
static void srpic_rsc(struct kunit *test)
{
	struct fake *fake = test->priv;

	set_ring_rsc_enabled(&fake->q_vector->ring[0]);
	fake_receive(fake, 0, 4);
	fake_receive_in_two(fake, 2, 2, true, true);
	fake_receive(fake, 0, 1);
	KUNIT_EXPECT_EQ(test, 3, fake_poll(fake, 64));
	FAKE_EXPECT(test, 1, 2, 4);
	KUNIT_EXPECT_EQ(test, 2 * FAKE_LEN, fake->out[1].len);
	KUNIT_EXPECT_EQ(test, 1,
			fake->q_vector->ring[0].rx_stats.rsc_flush);
}

static struct bpf_prog *fake_xdp_pass(struct kunit *test)
{
	const struct bpf_insn insns[] = {
		BPF_MOV64_IMM(BPF_REG_0, XDP_PASS),
		BPF_EXIT_INSN(),
	};
	struct bpf_prog *prog;
	int err;

	prog = bpf_prog_alloc(bpf_prog_size(ARRAY_SIZE(insns)), 0);
	KUNIT_ASSERT_NOT_NULL(test, prog);
	prog->len = ARRAY_SIZE(insns);
	prog->type = BPF_PROG_TYPE_XDP;
	memcpy(prog->insnsi, insns, sizeof(insns));
	prog = bpf_prog_select_runtime(prog, &err);
	KUNIT_ASSERT_EQ(test, 0, err);
	return prog;
}

static void srpic_xdp_pass(struct kunit *test)
{
	struct bpf_prog *prog = fake_xdp_pass(test);
	struct fake *fake = test->priv;

	WRITE_ONCE(fake->q_vector->ring[0].xdp_prog, prog);
	FAKE_RECEIVE(fake, 0, 2, 1);
	KUNIT_EXPECT_EQ(test, 2, fake_poll(fake, 64));
	WRITE_ONCE(fake->q_vector->ring[0].xdp_prog, NULL);
	bpf_prog_free(prog);
	FAKE_EXPECT(test, 1, 2);
}

/*
 * What an AF_XDP ring passes, beside the packets of a usual one: the vector's
 * other path up. Its buffers are zeroed, which is what xp_free() takes for free
 * already.
 */
static void srpic_af_xdp(struct kunit *test)
{
	enum { N = 3 };
	struct fake *fake = test->priv;
	struct ixgbe_ring *ring = &fake->q_vector->ring[0];
	const size_t info = sizeof(*ring->rx_buffer_info) * ring->count;
	struct bpf_prog *prog = fake_xdp_pass(test);
	struct xsk_buff_pool *pool = kunit_kzalloc(test, sizeof(*pool),
						   GFP_KERNEL);
	struct xdp_buff_xsk *xskb = kunit_kcalloc(test, N, sizeof(*xskb),
						  GFP_KERNEL);
	u8 *frames = kunit_kcalloc(test, N, IXGBE_RXBUFFER_2K, GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_ASSERT_NOT_NULL(test, xskb);
	KUNIT_ASSERT_NOT_NULL(test, frames);

	ixgbe_clean_rx_ring(ring);
	memset(ring->rx_buffer_info, 0, info);
	pool->dev = ring->dev;
	for (i = 0; i < N; i++) {
		xskb[i].pool = pool;
		xskb[i].xdp.data = frames + i * IXGBE_RXBUFFER_2K;
		xskb[i].xdp.data_meta = xskb[i].xdp.data;
		ring->rx_buffer_info[i].xdp = &xskb[i].xdp;
	}
	ring->next_to_use = ring->count - 1;
	ring->xsk_pool = pool;
	WRITE_ONCE(ring->xdp_prog, prog);

	FAKE_RECEIVE(fake, 1, 5, 2);
	FAKE_RECEIVE(fake, 0, 4, 1, 3);
	KUNIT_EXPECT_EQ(test, 5, fake_poll(fake, 64));
	KUNIT_EXPECT_TRUE(test, fake_completed(fake));

	/* a ring without buffers */
	WRITE_ONCE(ring->xdp_prog, NULL);
	ring->xsk_pool = NULL;
	memset(ring->rx_buffer_info, 0, info);
	ring->next_to_clean = 0;
	ring->next_to_use = 0;
	ring->next_to_alloc = 0;
	bpf_prog_free(prog);
	FAKE_EXPECT(test, 1, 2, 3, 4, 5);
}

/* Many polls, so that buffers are used again: each packet comes once. */
static void srpic_around_the_ring(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 round, i;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < 32; i++)
			fake_receive(fake, 0, 32 * round + (i ^ 3));
		KUNIT_EXPECT_EQ(test, 32, fake_poll(fake, 128));
		KUNIT_ASSERT_EQ(test, 32, fake->n_out);
		for (i = 0; i < 32; i++)
			KUNIT_EXPECT_EQ(test, 32 * round + i,
					fake->out[i].number);
		fake->n_out = 0;
	}
	KUNIT_EXPECT_EQ(test, 0, fake->late);
	KUNIT_EXPECT_EQ(test, 0, fake->corrupt);
}

#if IS_ENABLED(CONFIG_RXFENCE)
#define FAKE_HASH	0x12345678

/*
 * Has ixgbe_atr() see a packet of a socket that is sent by the ring of this
 * number, and was received from that one; what it writes, if anything.
 */
static u64 fake_atr(struct kunit *test, u32 hash, int from, int to)
{
	struct fake *fake = test->priv;
	struct ixgbe_ring *ring = kunit_kzalloc(test, sizeof(*ring),
						GFP_KERNEL);
	struct sock *sk = kunit_kzalloc(test, sizeof(*sk), GFP_KERNEL);
	struct sk_buff *skb = alloc_skb(FAKE_HEADERS + FAKE_LEN, GFP_KERNEL);
	struct ixgbe_tx_buffer first = { .protocol = htons(ETH_P_IP) };
	u64 written;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	KUNIT_ASSERT_NOT_NULL(test, sk);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_rxhash = hash;
	sk->sk_rx_queue_mapping = from;
	fake_frame(skb_put(skb, FAKE_HEADERS + FAKE_LEN), 0, FAKE_LEN);
	skb_set_network_header(skb, ETH_HLEN);
	skb->sk = sk;
	first.skb = skb;
	ring->q_vector = to == FAKE_OTHER ? fake->other : fake->q_vector;
	ring->queue_index = to;
	ring->atr_sample_rate = 1;

	memset(fake->regs + IXGBE_FDIRHASH, 0, sizeof(written));
	local_bh_disable();
	ixgbe_atr(ring, &first);
	local_bh_enable();
	memcpy(&written, fake->regs + IXGBE_FDIRHASH, sizeof(written));
	skb->sk = NULL;
	kfree_skb(skb);
	return written;
}

/* Until the core has polled what is waited for, maybe on another CPU. */
static void fake_settle(struct ixgbe_q_vector *q_vector)
{
	struct rxfence_napi *rn = &q_vector->rxfence;
	unsigned int ms;

	while (atomic_read(&rn->kicks))
		cpu_relax();
	napi_synchronize(&q_vector->napi);
	/* it settles when it is complete */
	for (ms = 0; ms < 1000 && READ_ONCE(rn->source); ms++)
		fsleep(1000);
}

/* What the new ring has waits for the old one, in either direction. */
static void rxfence_in_order(struct kunit *test)
{
	struct fake *fake = test->priv;

	rxfence_enable(&fake->adapter->rxfence, true);
	fake->hash = FAKE_HASH;
	FAKE_RECEIVE(fake, 0, 1, 2);
	KUNIT_EXPECT_NE(test, 0, fake_atr(test, FAKE_HASH, 0, FAKE_OTHER));
	FAKE_RECEIVE(fake, FAKE_OTHER, 3, 4);
	KUNIT_EXPECT_EQ(test, 64, fake_poll_vector(fake, fake->other, 64));
	fake_settle(fake->q_vector);
	KUNIT_EXPECT_EQ(test, 2, fake_poll_vector(fake, fake->other, 64));
	FAKE_EXPECT(test, 1, 2, 3, 4);

	FAKE_RECEIVE(fake, FAKE_OTHER, 5);
	KUNIT_EXPECT_NE(test, 0, fake_atr(test, FAKE_HASH, FAKE_OTHER, 0));
	FAKE_RECEIVE(fake, 0, 6);
	KUNIT_EXPECT_EQ(test, 64, fake_poll(fake, 64));
	fake_settle(fake->other);
	KUNIT_EXPECT_EQ(test, 1, fake_poll(fake, 64));
	FAKE_EXPECT(test, 5, 6);
}

static void rxfence_off(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->hash = FAKE_HASH;
	FAKE_RECEIVE(fake, 0, 1, 2);
	KUNIT_EXPECT_NE(test, 0, fake_atr(test, FAKE_HASH, 0, FAKE_OTHER));
	FAKE_RECEIVE(fake, FAKE_OTHER, 3);
	KUNIT_EXPECT_EQ(test, 1, fake_poll_vector(fake, fake->other, 64));
	fake_finish(test, fake);
	FAKE_EXPECT(test, 3, 1, 2);
}

/* A hint that is dropped is not written, so the hardware comes second. */
static void rxfence_hints(struct kunit *test)
{
	struct fake *fake = test->priv;

	rxfence_enable(&fake->adapter->rxfence, true);
	KUNIT_EXPECT_NE(test, 0, fake_atr(test, FAKE_HASH, 0, FAKE_OTHER));
	KUNIT_EXPECT_EQ(test, 0, fake_atr(test, FAKE_HASH, 0, 0));
	KUNIT_EXPECT_EQ(test, 0, fake_atr(test, 1, FAKE_OTHER, 0));
	/* between two queues of a vector */
	KUNIT_EXPECT_EQ(test, 0, fake_atr(test, 2, 0, 1));
	/* and as ever: to where it is, and of what nothing is known */
	KUNIT_EXPECT_NE(test, 0, fake_atr(test, 3, 0, 0));
	KUNIT_EXPECT_NE(test, 0, fake_atr(test, 0, FAKE_OTHER, 0));
	KUNIT_EXPECT_NE(test, 0, fake_atr(test, 4, NO_QUEUE_MAPPING, 0));
}
#endif

static struct kunit_case ixgbe_srpic_cases[] = {
	KUNIT_CASE(srpic_sorted),
	KUNIT_CASE(srpic_off),
	KUNIT_CASE(srpic_several_rings),
	KUNIT_CASE(srpic_budget),
	KUNIT_CASE(srpic_netpoll),
	KUNIT_CASE(srpic_two_buffers),
	KUNIT_CASE(srpic_half_a_frame),
	KUNIT_CASE(srpic_rsc),
	KUNIT_CASE(srpic_xdp_pass),
	KUNIT_CASE(srpic_af_xdp),
	KUNIT_CASE(srpic_around_the_ring),
#if IS_ENABLED(CONFIG_RXFENCE)
	KUNIT_CASE(rxfence_in_order),
	KUNIT_CASE(rxfence_off),
	KUNIT_CASE(rxfence_hints),
#endif
	{ }
};

static struct kunit_suite ixgbe_srpic_suite = {
	.name = "ixgbe_srpic",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = ixgbe_srpic_cases,
};

kunit_test_suite(ixgbe_srpic_suite);
