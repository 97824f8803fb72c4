/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fake NIC, and cases that many drivers have: for KUnit suites that run a
 * driver's poll function over rings that they fill in place of a device. Drivers
 * are modules of their own, so all is static here.
 *
 * A suite embeds struct poll_nic at the start of its own, to which test->priv
 * points, and fills in its first part between poll_new() and poll_start(). In the
 * end it calls poll_stop(), frees its rings, and calls poll_free().
 */
#ifndef _SRPIC_TESTS_POLL_H
#define _SRPIC_TESTS_POLL_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/if_vlan.h>
#include <linux/pci.h>
#include <linux/pid_namespace.h>
#include <linux/rtnetlink.h>
#include <net/hotdata.h>
#include <net/ip.h>
#include <net/srpic.h>
#include <net/tcp.h>
#include <net/xsk_buff_pool.h>

/* A frame has a number, and as many units of payload as the numbers it takes. */
#define POLL_UNIT	100
#define POLL_UNITS	60
#define POLL_HEADERS	(ETH_HLEN + sizeof(struct iphdr) + \
			 sizeof(struct tcphdr))
#define POLL_PAGES	64

struct poll_frame {
	unsigned int len;
	u16 vlan;			/* tag that the NIC took, or 0 */
	bool bad_csum;
	u8 data[POLL_HEADERS + POLL_UNITS * POLL_UNIT];
};

struct poll_nic {
	struct net_device *netdev;
	struct napi_struct *napi;
	struct srpic_dev *sd;
	struct srpic_napi *sn;
	unsigned int rings;		/* that share a budget */
	unsigned int units;		/* of a frame that takes some buffers, or 0 */
	unsigned int ring;		/* frames that take all of a ring's buffers, */
	unsigned int ring_units;	/* of so many units each */
	/* these bytes of a frame arrive in a ring, perhaps the last ones */
	void (*receive)(struct kunit *test, unsigned int ring,
			const struct poll_frame *frame, unsigned int from,
			unsigned int to);
	void (*set_xdp)(struct kunit *test, struct bpf_prog *prog);
	/* ring 0 becomes one of AF_XDP, or, without buffers, an empty one */
	void (*set_xsk)(struct kunit *test, struct xdp_buff_xsk *xskb,
			unsigned int n);

	struct pci_dev pdev;		/* as far as DMA needs one */
	struct device *dev;
	struct poll_frame frame;
	struct sk_buff_head left;	/* what left, until it is looked at */
	unsigned int late;		/* that left when NAPI was complete */
	int gro_normal_batch;
	bool started;
	bool paused;
	bool holds;
	bool notes_pages;		/* those that it writes to */
	struct page *page[POLL_PAGES];
};

static void *poll_new(struct kunit *test, size_t size)
{
	struct poll_nic *nic = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, nic);
	nic->dev = &nic->pdev.dev;
	device_initialize(nic->dev);
	nic->dev->dma_mask = &nic->dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, 0, dma_set_mask_and_coherent(nic->dev,
							   DMA_BIT_MASK(64)));
	skb_queue_head_init(&nic->left);
	test->priv = nic;
	return nic;
}

static rx_handler_result_t poll_capture(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct poll_nic *nic = rcu_dereference(skb->dev->rx_handler_data);

	nic->late += !test_bit(NAPI_STATE_SCHED, &nic->napi->state);
	skb_queue_tail(&nic->left, skb);
	return RX_HANDLER_CONSUMED;
}

static void poll_watch(struct kunit *test, struct net_device *netdev)
{
	int err;

	rtnl_lock();
	err = netdev_rx_handler_register(netdev, poll_capture, test->priv);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, 0, err);
}

static void poll_unwatch(struct net_device *netdev)
{
	rtnl_lock();
	netdev_rx_handler_unregister(netdev);
	rtnl_unlock();
}

static void poll_start(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	napi_enable(nic->napi);
	nic->started = true;
	poll_watch(test, nic->netdev);
	/* a packet shows up when it leaves, not when some more have left */
	nic->gro_normal_batch = READ_ONCE(net_hotdata.gro_normal_batch);
	WRITE_ONCE(net_hotdata.gro_normal_batch, 1);
	KUNIT_ASSERT_EQ(test, 0, srpic_enable(nic->sd, true));
}

/*
 * While rings are made anew. Of a driver that does not flush nothing of them is
 * left then: it fails its cases, not the kernel.
 */
static void poll_pause(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	srpic_enable(nic->sd, false);
	srpic_stop(nic->sn, napi_disable);
	skb_queue_purge(&nic->left);
	nic->paused = true;
}

static __maybe_unused void poll_resume(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	nic->paused = false;
	napi_enable(nic->napi);
	KUNIT_ASSERT_EQ(test, 0, srpic_enable(nic->sd, true));
}

/*
 * By the sysctl: the library's settings are its own. Kernel threads need not see the
 * files that init sees.
 */
static ssize_t poll_write_hold(const char *usecs)
{
	struct task_struct *init = init_pid_ns.child_reaper;
	struct file *file;
	struct path root;
	loff_t pos = 0;
	ssize_t err;

	task_lock(init);
	get_fs_root(init->fs, &root);
	task_unlock(init);
	file = file_open_root(&root, "proc/sys/net/srpic/hold_usecs", O_WRONLY,
			      0);
	path_put(&root);
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = kernel_write(file, usecs, strlen(usecs), &pos);
	filp_close(file, NULL);
	return err;
}

static void poll_hold(struct kunit *test, const char *usecs)
{
	struct poll_nic *nic = test->priv;
	ssize_t err = poll_write_hold(usecs);

	if (err == -ENOENT)
		kunit_skip(test, "no sysctls where the driver is built in");
	KUNIT_ASSERT_EQ(test, strlen(usecs), err);
	nic->holds = true;
}

static void poll_stop(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	if (nic->holds)
		poll_write_hold("0");
	if (!nic->started)
		return;
	WRITE_ONCE(net_hotdata.gro_normal_batch, nic->gro_normal_batch);
	/* a case that was given up may have left it paused, or scheduled */
	if (!nic->paused) {
		if (test_bit(NAPI_STATE_SCHED, &nic->napi->state)) {
			local_bh_disable();
			napi_complete(nic->napi);
			local_bh_enable();
		}
		poll_pause(test);
	}
	poll_unwatch(nic->netdev);
}

/* No page is used any longer, and none was given back too often. */
static void poll_free(struct kunit *test)
{
	struct poll_nic *nic = test->priv;
	unsigned int i;

	for (i = 0; i < POLL_PAGES && nic->page[i] && !nic->notes_pages; i++) {
		KUNIT_EXPECT_EQ_MSG(test, 1, page_count(nic->page[i]),
				    "page %u", i);
		put_page(nic->page[i]);
	}
	free_netdev(nic->netdev);
}

static void poll_note_page(struct kunit *test, struct page *page)
{
	struct poll_nic *nic = test->priv;
	unsigned int i;

	for (i = 0; i < POLL_PAGES && nic->page[i]; i++)
		if (nic->page[i] == page)
			return;
	KUNIT_ASSERT_LT(test, i, POLL_PAGES);
	nic->page[i] = page;
}

/* The pages that were noted are in use: keep them, to look at in the end. */
static void poll_keep_pages(struct kunit *test)
{
	struct poll_nic *nic = test->priv;
	unsigned int i;

	nic->notes_pages = false;
	for (i = 0; i < POLL_PAGES && nic->page[i]; i++)
		get_page(nic->page[i]);
}

/* Where a NIC writes to that was given this address. */
static void *poll_memory(struct kunit *test, dma_addr_t addr)
{
	struct poll_nic *nic = test->priv;
	void *to = phys_to_virt(dma_to_phys(nic->dev, addr));

	if (nic->notes_pages)
		poll_note_page(test, virt_to_head_page(to));
	return to;
}

/* The payload that has this place in the flow, in bytes */
static u8 poll_byte(u32 at)
{
	return at % 251;
}

static struct poll_frame *poll_frame(struct kunit *test, u32 number, u32 units)
{
	struct poll_nic *nic = test->priv;
	struct poll_frame *frame = &nic->frame;
	struct ethhdr *eth = (struct ethhdr *)frame->data;
	struct iphdr *ip = (struct iphdr *)(eth + 1);
	struct tcphdr *th = (struct tcphdr *)(ip + 1);
	const u32 seq = number * POLL_UNIT;
	u8 *payload = (u8 *)(th + 1);
	u32 i;

	memset(frame, 0, sizeof(*frame));
	frame->len = POLL_HEADERS + units * POLL_UNIT;
	eth->h_proto = htons(ETH_P_IP);
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->frag_off = htons(IP_DF);
	ip->protocol = IPPROTO_TCP;
	ip->tot_len = htons(frame->len - ETH_HLEN);
	ip->saddr = htonl(0xc6336401);
	ip->daddr = htonl(0xc6336402);
	ip->check = ip_fast_csum(ip, ip->ihl);
	th->source = htons(5000);
	th->dest = htons(80);
	th->seq = htonl(seq);
	th->doff = sizeof(*th) / 4;
	th->ack = 1;
	for (i = 0; i < units * POLL_UNIT; i++)
		payload[i] = poll_byte(seq + i);
	th->check = tcp_v4_check(frame->len - ETH_HLEN - sizeof(*ip), ip->saddr,
				 ip->daddr,
				 csum_partial(th, frame->len - ETH_HLEN -
					      sizeof(*ip), 0));
	return frame;
}

static void poll_receive(struct kunit *test, unsigned int ring,
			 const struct poll_frame *frame)
{
	struct poll_nic *nic = test->priv;

	nic->receive(test, ring, frame, 0, frame->len);
}

/* Has these packets arrive in a ring, in this order. */
#define POLL_RECEIVE(test, ring, ...) do { \
	static const u32 numbers[] = { __VA_ARGS__ }; \
	unsigned int i; \
	for (i = 0; i < ARRAY_SIZE(numbers); i++) \
		poll_receive(test, ring, poll_frame(test, numbers[i], 1)); \
} while (0)

static int poll_once(struct kunit *test, int budget)
{
	struct poll_nic *nic = test->priv;
	struct napi_struct *napi = nic->napi;
	int done;

	local_bh_disable();
	if (!test_bit(NAPI_STATE_SCHED, &napi->state)) {
		napi_schedule_prep(napi);
		/* as the core has it */
		WRITE_ONCE(napi->list_owner, smp_processor_id());
	}
	done = napi->poll(napi, budget);
	local_bh_enable();
	return done;
}

static bool poll_completed(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	return !test_bit(NAPI_STATE_SCHED, &nic->napi->state);
}

/* Polls all that has arrived, which is so much. */
static void poll_all(struct kunit *test, int done)
{
	KUNIT_EXPECT_EQ(test, done, poll_once(test, 128));
	KUNIT_EXPECT_TRUE(test, poll_completed(test));
}

/* The numbers of a packet, which is one frame or some merged ones; returns how many. */
static u32 poll_numbers(struct kunit *test, struct sk_buff *skb, u32 *first)
{
	enum { AT = POLL_HEADERS - ETH_HLEN };
	unsigned int len = skb->len - AT, corrupt = 0, i;
	u8 headers[AT], unit[POLL_UNIT];
	const struct tcphdr *th;
	const struct iphdr *ip;
	u32 seq;

	KUNIT_ASSERT_EQ(test, 0, skb_copy_bits(skb, 0, headers, AT));
	ip = (struct iphdr *)headers;
	th = (struct tcphdr *)(ip + 1);
	seq = ntohl(th->seq);
	for (i = 0; i < len; i++) {
		if (!(i % POLL_UNIT))
			KUNIT_ASSERT_EQ(test, 0, skb_copy_bits(skb, AT + i, unit,
							       POLL_UNIT));
		corrupt += unit[i % POLL_UNIT] != poll_byte(seq + i);
	}
	KUNIT_EXPECT_EQ(test, skb->len, ntohs(ip->tot_len));
	KUNIT_EXPECT_EQ_MSG(test, 0, corrupt, "packet %u", seq / POLL_UNIT);
	*first = seq / POLL_UNIT;
	return len / POLL_UNIT;
}

/* Whether what left has these numbers, or those from first on, and no others. */
static void poll_compare(struct kunit *test, const u32 *numbers, u32 first, u32 n)
{
	struct poll_nic *nic = test->priv;
	struct sk_buff *skb;
	u32 number, units, i = 0;

	while ((skb = skb_dequeue(&nic->left))) {
		for (units = poll_numbers(test, skb, &number); units--; i++)
			KUNIT_EXPECT_EQ_MSG(test, i >= n ? -1 :
					    numbers ? numbers[i] : first + i,
					    number++,
					    "packet %u", i);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, n, i);
	KUNIT_EXPECT_EQ(test, 0, nic->late);
}

#define POLL_EXPECT(test, ...) do { \
	static const u32 numbers[] = { __VA_ARGS__ }; \
	poll_compare(test, numbers, 0, ARRAY_SIZE(numbers)); \
} while (0)

/* So many, from 0 on */
static void poll_expect(struct kunit *test, u32 n)
{
	poll_compare(test, NULL, 0, n);
}

static void sorted(struct kunit *test)
{
	POLL_RECEIVE(test, 0, 3, 1, 2, 0);
	poll_all(test, 4);
	POLL_EXPECT(test, 0, 1, 2, 3);
}

static void off(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	KUNIT_ASSERT_EQ(test, 0, srpic_enable(nic->sd, false));
	POLL_RECEIVE(test, 0, 3, 1, 0);
	poll_all(test, 3);
	POLL_EXPECT(test, 3, 1, 0);
}

/* Receives 12 packets, and polls with a budget for 8, which says that it did so much. */
static void poll_budget(struct kunit *test, int done)
{
	struct poll_nic *nic = test->priv;
	u32 i;

	for (i = 0; i < 12; i++)
		poll_receive(test, 0, poll_frame(test, i ^ 1, 1));
	KUNIT_EXPECT_EQ(test, done, poll_once(test, 8 * nic->rings));
}

/* As netpoll does, which sends: it receives nothing. */
static void poll_for_netpoll(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	set_bit(NAPI_STATE_NPSVC, &nic->napi->state);
	KUNIT_EXPECT_EQ(test, 0, poll_once(test, 0));
	clear_bit(NAPI_STATE_NPSVC, &nic->napi->state);
	poll_expect(test, 0);
}

static void netpoll(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	poll_budget(test, 8 * nic->rings);
	poll_for_netpoll(test);
	poll_all(test, 4);
	poll_expect(test, 12);
}

/* What a poll received waits for the next one if it ends for want of budget. */
static void budget_used_up(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	poll_budget(test, 8 * nic->rings);
	KUNIT_EXPECT_FALSE(test, poll_completed(test));
	poll_expect(test, 0);
	poll_all(test, 4);
	poll_expect(test, 12);
}

/* A frame of which one half is there waits in the ring, not in SRPIC. */
static void half_a_frame(struct kunit *test)
{
	struct poll_nic *nic = test->priv;
	struct poll_frame *frame;

	if (!nic->units)
		kunit_skip(test, "a frame takes one buffer");
	POLL_RECEIVE(test, 0, 1, 0);
	frame = poll_frame(test, 2, nic->units);
	nic->receive(test, 0, frame, 0, frame->len / 2);
	poll_all(test, 2);
	POLL_EXPECT(test, 0, 1);
	nic->receive(test, 0, frame, frame->len / 2, frame->len);
	poll_all(test, 1);
	KUNIT_EXPECT_EQ(test, POLL_HEADERS - ETH_HLEN + nic->units * POLL_UNIT,
			skb_queue_len(&nic->left) ?
			skb_peek(&nic->left)->len : 0);
	skb_queue_purge(&nic->left);
}

static void several_buffers(struct kunit *test)
{
	struct poll_nic *nic = test->priv;
	const u32 units = nic->units;
	struct poll_frame *frame;

	if (!units)
		kunit_skip(test, "a frame takes one buffer");
	poll_receive(test, 0, poll_frame(test, 1 + units, 1));
	frame = poll_frame(test, 1, units);
	nic->receive(test, 0, frame, 0, frame->len / 2);
	nic->receive(test, 0, frame, frame->len / 2, frame->len);
	poll_receive(test, 0, poll_frame(test, 0, 1));
	poll_all(test, 3);
	poll_expect(test, units + 2);
}

static struct bpf_prog *poll_xdp_pass(struct kunit *test)
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
	atomic64_set(&prog->aux->refcnt, 1);
	memcpy(prog->insnsi, insns, sizeof(insns));
	prog = bpf_prog_select_runtime(prog, &err);
	KUNIT_ASSERT_EQ(test, 0, err);
	return prog;
}

static void xdp_pass(struct kunit *test)
{
	struct bpf_prog *prog = poll_xdp_pass(test);
	struct poll_nic *nic = test->priv;

	nic->set_xdp(test, prog);
	POLL_RECEIVE(test, 0, 2, 1);
	poll_all(test, 2);
	POLL_EXPECT(test, 1, 2);
	nic->set_xdp(test, NULL);
	bpf_prog_free(prog);
}

static void receive_tagged(struct kunit *test, u32 number, u16 vlan)
{
	struct poll_frame *frame = poll_frame(test, number, 1);

	frame->vlan = vlan;
	poll_receive(test, 0, frame);
}

static void vlan_tag(struct kunit *test)
{
	struct poll_nic *nic = test->priv;
	struct sk_buff *skb;
	u16 tagged = 0;

	receive_tagged(test, 3, 5);
	receive_tagged(test, 1, 0);
	receive_tagged(test, 2, 5);
	receive_tagged(test, 0, 0);
	poll_all(test, 4);
	skb_queue_walk(&nic->left, skb)
		tagged = tagged << 4 | skb_vlan_tag_get(skb);
	KUNIT_EXPECT_EQ(test, 0x5500, tagged);
	POLL_EXPECT(test, 2, 3, 0, 1);
}

/* What it says of its place cannot be believed. */
static void bad_checksum(struct kunit *test)
{
	struct poll_frame *frame;

	POLL_RECEIVE(test, 0, 4, 3);
	frame = poll_frame(test, 2, 1);
	frame->bad_csum = true;
	frame->data[POLL_HEADERS - 4] ^= 1;	/* the checksum */
	poll_receive(test, 0, frame);
	POLL_RECEIVE(test, 0, 1, 0);
	poll_all(test, 5);
	POLL_EXPECT(test, 3, 4, 2, 0, 1);
}

/*
 * Buffers are used again, while packets are held and while some that left are in
 * use.
 */
static void around_the_ring(struct kunit *test)
{
	enum { TIMES = 20, N = 32 };
	struct poll_nic *nic = test->priv;
	const u32 rounds = DIV_ROUND_UP(TIMES * nic->ring, N);
	const u32 units = nic->ring_units;
	u32 round, i;

	nic->netdev->features |= NETIF_F_GRO;
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < N; i++) {
			u32 number = (round * N + (i ^ 3)) * units;

			poll_receive(test, 0, poll_frame(test, number, units));
		}
		KUNIT_EXPECT_EQ(test, 24 * nic->rings,
				poll_once(test, 24 * nic->rings));
		poll_all(test, 8);
		if (round % 2)
			poll_compare(test, NULL, (round - 1) * N * units,
				     2 * N * units);
		cond_resched();
	}
	skb_queue_purge(&nic->left);
}

/*
 * The packets of a block become one before NAPI completes, which GRO would wait for;
 * of buffers that were used before, and each page goes back once.
 */
static void merged(struct kunit *test)
{
	enum { N = 32, UNITS = 10 };
	struct poll_nic *nic = test->priv;
	u32 i;

	nic->netdev->features |= NETIF_F_GRO;
	for (i = 0; i < nic->ring; i++) {
		poll_receive(test, 0, poll_frame(test, 0, nic->ring_units));
		poll_all(test, 1);
		skb_queue_purge(&nic->left);
	}
	nic->notes_pages = true;
	for (i = 0; i < N; i++)
		poll_receive(test, 0, poll_frame(test, UNITS * (i ^ 1), UNITS));
	KUNIT_EXPECT_EQ(test, N * nic->rings, poll_once(test, N * nic->rings));
	KUNIT_EXPECT_EQ(test, 1, skb_queue_len(&nic->left));
	poll_keep_pages(test);
	poll_expect(test, N * UNITS);
	poll_all(test, 0);
}

/* Of these, two wait for the one that is missing. */
static void poll_with_a_hole(struct kunit *test)
{
	POLL_RECEIVE(test, 0, 0, 1, 4, 3);
	poll_all(test, 4);
	POLL_EXPECT(test, 0, 1);
}

static void held_until_filled(struct kunit *test)
{
	poll_hold(test, "100000");
	poll_with_a_hole(test);
	POLL_RECEIVE(test, 0, 2);
	poll_all(test, 1);
	POLL_EXPECT(test, 2, 3, 4);
}

/* Nothing arrives any more: it is the deadline that has NAPI polled. */
static void held_until_deadline(struct kunit *test)
{
	poll_hold(test, "20000");
	poll_with_a_hole(test);
	msleep(100);
	KUNIT_EXPECT_TRUE(test, poll_completed(test));
	POLL_EXPECT(test, 3, 4);
}

static void held_until_down(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	poll_hold(test, "100000");
	poll_with_a_hole(test);
	srpic_stop(nic->sn, napi_disable);
	POLL_EXPECT(test, 3, 4);
	napi_enable(nic->napi);
}

/* A flow that two rings of a vector share is sorted as one. */
static __maybe_unused void several_rings(struct kunit *test)
{
	/* the ring that was added last is cleaned first */
	POLL_RECEIVE(test, 1, 5, 3);
	POLL_RECEIVE(test, 0, 4, 2);
	poll_all(test, 4);
	POLL_EXPECT(test, 2, 3, 4, 5);
}

/*
 * What an AF_XDP ring passes, beside the packets of a usual one: the vector's
 * other path up. Its buffers are zeroed, which is what xp_free() takes for free
 * already.
 */
static __maybe_unused void af_xdp(struct kunit *test)
{
	enum { N = 3, FRAME = 2048 };
	struct poll_nic *nic = test->priv;
	struct bpf_prog *prog = poll_xdp_pass(test);
	struct xsk_buff_pool *pool = kunit_kzalloc(test, sizeof(*pool),
						   GFP_KERNEL);
	struct xdp_buff_xsk *xskb = kunit_kcalloc(test, N, sizeof(*xskb),
						  GFP_KERNEL);
	u8 *frames = kunit_kcalloc(test, N, FRAME, GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_ASSERT_NOT_NULL(test, xskb);
	KUNIT_ASSERT_NOT_NULL(test, frames);
	pool->dev = nic->dev;
	for (i = 0; i < N; i++) {
		xskb[i].pool = pool;
		xskb[i].xdp.data_hard_start = frames + i * FRAME;
		xskb[i].xdp.frame_sz = FRAME;
		xskb[i].dma = phys_to_dma(nic->dev, virt_to_phys(frames)) +
			      i * FRAME + XDP_PACKET_HEADROOM;
	}
	nic->set_xsk(test, xskb, N);
	nic->set_xdp(test, prog);

	POLL_RECEIVE(test, 1, 5, 2);
	POLL_RECEIVE(test, 0, 4, 1, 3);
	poll_all(test, 5);
	POLL_EXPECT(test, 1, 2, 3, 4, 5);
	nic->set_xdp(test, NULL);
	nic->set_xsk(test, NULL, 0);
	bpf_prog_free(prog);
}

#endif /* _SRPIC_TESTS_POLL_H */
