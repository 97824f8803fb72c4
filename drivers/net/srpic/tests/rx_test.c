// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the receive path: frames into srpic_receive() of a NAPI
 * instance, and what comes out of the network core above it.
 */

#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "../srpic_priv.h"

#define MAX_FRAMES	140

/* What is special about a frame; without any: IPv4, TCP, ACK, payload. */
enum {
	IPV6		= BIT(0),
	UDP		= BIT(1),
	OTHER_PORT	= BIT(2),	/* of another flow */
	STAMP		= BIT(3),	/* timestamp option */
	SACK		= BIT(4),	/* SACK option */
	IP_OPTION	= BIT(5),	/* or an IPv6 extension header */
	FRAGMENT	= BIT(6),
	BAD_CSUM	= BIT(7),
	NO_CSUM		= BIT(8),	/* the NIC gave no verdict */
	SUM_CSUM	= BIT(9),	/* the NIC gave the sum */
	VLAN		= BIT(10),	/* tag taken off by the NIC */
	VLAN_IN_BAND	= BIT(11),	/* tag left in the frame */
	VLAN_PRIORITY	= BIT(12),	/* ... with another priority */
	PADDED		= BIT(13),	/* to the least length of a frame */
	TRAILER		= BIT(14),	/* longer than packet and padding */
	CUT		= BIT(15),	/* shorter than the packet says */
	PAGED		= BIT(16),	/* nothing but Ethernet is linear */
	HOST_CSUM	= BIT(17),	/* from this host, sum not made yet */
	RESERVED	= BIT(18),	/* a reserved bit of TCP is set */
	VLAN_0		= BIT(19),	/* tag with a priority only */
	VLAN_SERVICE	= BIT(20),	/* tag of 802.1ad */
	SHORT_TCP	= BIT(21),	/* IPv6 ends within the TCP header */
};

struct frame {
	u32 seq;
	u16 len;
	u32 what;
	u8 flags;			/* of TCP, besides ACK */
	bool no_ack;
	u32 tsval;
	u16 port;			/* 0: 4000 */
};

#define FIN	BIT(0)
#define SYN	BIT(1)
#define RST	BIT(2)
#define PSH	BIT(3)
#define URG	BIT(5)
#define ECE	BIT(6)
#define CWR	BIT(7)

struct rx_case {
	const char *name;
	unsigned int num;
	struct frame in[8];
	u8 out[8];			/* indices into in, as they leave */
	u64 taken;
	u64 passed;
	enum srpic_stat cause;		/* of one block or more */
};

/* Two frames of one flow around one in the middle. */
#define AROUND(...)	{ { 30, 10 }, { 10, 10 }, __VA_ARGS__, { 0, 10 } }
#define HELD_BACK	{ 1, 0, 2, 3 }	/* flush, the middle one, the rest */
#define SORTED_PAST	{ 2, 3, 1, 0 }	/* the middle one passed at once */

#define BARRIER(n, ...) {						\
	.name = n, .num = 4, .in = AROUND(__VA_ARGS__),			\
	.out = HELD_BACK, .taken = 3, .passed = 1,			\
	.cause = SRPIC_FLUSH_BARRIER }
#define PASSES(n, ...) {						\
	.name = n, .num = 4, .in = AROUND(__VA_ARGS__),			\
	.out = SORTED_PAST, .taken = 3, .passed = 1,			\
	.cause = SRPIC_FLUSH_POLL }
#define SORTS(n, f) {							\
	.name = n, .num = 4,						\
	.in = { { 12, 4, f }, { 4, 4, f }, { 8, 4, f }, { 0, 4, f } },	\
	.out = { 3, 1, 2, 0 }, .taken = 4, .cause = SRPIC_FLUSH_POLL }
#define SORTS_NOT(n, f) {						\
	.name = n, .num = 4,						\
	.in = { { 12, 4, f }, { 4, 4, f }, { 8, 4, f }, { 0, 4, f } },	\
	.out = { 0, 1, 2, 3 }, .passed = 4, .cause = SRPIC_COUNTERS }

static const struct rx_case rx_cases[] = {
	SORTS("ipv4", 0),
	SORTS("ipv6", IPV6),
	SORTS("timestamps", STAMP),
	SORTS("ipv6_timestamps", IPV6 | STAMP),
	SORTS("vlan", VLAN),
	SORTS("vlan_in_band", VLAN_IN_BAND),
	SORTS("ipv6_vlan_in_band", IPV6 | VLAN_IN_BAND),
	SORTS("padded", PADDED),
	SORTS("headers_in_a_page", PAGED),
	SORTS("ipv6_headers_in_a_page", IPV6 | STAMP | PAGED),
	SORTS("checksum_made_here", NO_CSUM),
	SORTS("ipv6_checksum_made_here", IPV6 | NO_CSUM),
	SORTS("checksum_made_here_from_a_page", NO_CSUM | PAGED),
	SORTS("checksum_left_to_do", HOST_CSUM),
	SORTS("sum_from_the_nic", SUM_CSUM),
	SORTS("ipv6_sum_from_the_nic", IPV6 | SUM_CSUM),
	SORTS("sum_from_the_nic_with_vlan", SUM_CSUM | VLAN_IN_BAND),
	SORTS_NOT("bad_checksum", NO_CSUM | BAD_CSUM),
	SORTS_NOT("ipv6_bad_checksum", IPV6 | NO_CSUM | BAD_CSUM),
	SORTS_NOT("bad_sum_from_the_nic", SUM_CSUM | BAD_CSUM),
	SORTS_NOT("padded_without_checksum", PADDED | NO_CSUM),
	SORTS_NOT("two_vlan_tags", VLAN | VLAN_IN_BAND),
	SORTS_NOT("udp", UDP),
	SORTS_NOT("trailer", TRAILER),
	SORTS_NOT("cut_short", CUT),
	BARRIER("fin", { 20, 10, 0, FIN }),
	BARRIER("syn", { 20, 0, 0, SYN }),
	BARRIER("rst", { 20, 0, 0, RST }),
	BARRIER("urg", { 20, 10, 0, URG }),
	BARRIER("ece", { 20, 10, 0, ECE }),
	BARRIER("cwr", { 20, 10, 0, CWR }),
	BARRIER("pure_ack", { 20, 0 }),
	BARRIER("no_ack", { 20, 10, 0, 0, true }),
	BARRIER("sack", { 20, 10, SACK }),
	BARRIER("ip_options", { 20, 10, IP_OPTION }),
	BARRIER("fragment", { 20, 10, FRAGMENT }),
	BARRIER("fragment_of_any_flow", { 20, 10, FRAGMENT | OTHER_PORT }),
	BARRIER("timestamp_and_sack", { 20, 10, STAMP | SACK }),
	BARRIER("reserved_bit", { 20, 10, RESERVED }),
	BARRIER("tcp_header_cut_short", { 20, 0, IPV6 | SHORT_TCP }),
	BARRIER("priority_tag_is_no_vlan", { 20, 0, VLAN_0 }),
	BARRIER("barrier_with_bad_checksum", { 20, 10, NO_CSUM | BAD_CSUM }),
	BARRIER("barrier_with_trailer", { 20, 10, TRAILER }),
	BARRIER("extension_header_of_any_flow", { 20, 10, IPV6 | IP_OPTION }),
	PASSES("udp_passes_tcp", { 20, 10, UDP }),
	PASSES("fin_of_another_flow", { 20, 10, OTHER_PORT, FIN }),
	PASSES("ack_of_another_vlan", { 20, 0, VLAN }),
	PASSES("ipv6_fin", { 20, 10, IPV6, FIN }),
	PASSES("ipv6_udp_is_no_barrier", { 20, 10, IPV6 | UDP }),
	{
		.name = "psh_is_suitable",
		.num = 3,
		.in = { { 10, 10, 0, PSH }, { 20, 10 }, { 0, 10, 0, PSH } },
		.out = { 2, 0, 1 },
		.taken = 3,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "vlan_priority_is_no_part_of_a_flow",
		.num = 3,
		.in = { { 20, 10, VLAN }, { 10, 10, VLAN | VLAN_PRIORITY },
			{ 0, 10, VLAN_IN_BAND } },
		.out = { 2, 1, 0 },
		.taken = 3,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "service_tag_is_another_vlan",
		.num = 4,
		.in = { { 20, 10, VLAN }, { 30, 10, VLAN | VLAN_SERVICE },
			{ 0, 10, VLAN }, { 10, 10, VLAN | VLAN_SERVICE } },
		.out = { 2, 0, 3, 1 },
		.taken = 4,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "flows_do_not_mix",
		.num = 6,
		.in = { { 10, 10 }, { 50, 10, OTHER_PORT }, { 0, 10 },
			{ 40, 10, OTHER_PORT }, { 5, 1, IPV6 }, { 4, 1, IPV6 } },
		.out = { 2, 0, 3, 1, 5, 4 },
		.taken = 6,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "overlap_flushes",
		.num = 4,
		.in = { { 10, 10 }, { 20, 10 }, { 15, 10 }, { 0, 10 } },
		.out = { 0, 1, 3, 2 },
		.taken = 4,
		.cause = SRPIC_FLUSH_OVERLAP,
	}, {
		.name = "retransmission_stays_behind_older_timestamps",
		.num = 4,
		.in = { { 10, 10, STAMP, 0, false, 7 },
			{ 20, 10, STAMP, 0, false, 7 },
			{ 30, 10, STAMP, 0, false, 7 },
			{ 0, 10, STAMP, 0, false, 57 } },
		.out = { 0, 1, 2, 3 },
		.taken = 4,
		.cause = SRPIC_FLUSH_TIMESTAMP,
	},
};

KUNIT_ARRAY_PARAM_DESC(rx, rx_cases, name);

struct rx_fixture {
	struct net_device *netdev;
	struct srpic_dev sd;
	struct srpic_napi sn;
	struct napi_struct napi;
	unsigned int received;
	u8 id[MAX_FRAMES];
	u8 summed[MAX_FRAMES];		/* ip_summed on the way out, by id */
};

/* Takes all that comes up; skb->mark says which frame it is. */
static rx_handler_result_t rx_capture(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct rx_fixture *fix;

	fix = rcu_dereference(skb->dev->rx_handler_data);
	if (fix->received < MAX_FRAMES)
		fix->id[fix->received] = skb->mark;
	fix->received++;
	fix->summed[skb->mark] = skb->ip_summed;
	consume_skb(skb);
	return RX_HANDLER_CONSUMED;
}

static int rx_poll(struct napi_struct *napi, int budget)
{
	return 0;
}

static const struct net_device_ops rx_netdev_ops = { };

static int rx_init(struct kunit *test)
{
	struct rx_fixture *fix;
	int err;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	if (!fix)
		return -ENOMEM;
	fix->netdev = alloc_etherdev(0);
	if (!fix->netdev)
		return -ENOMEM;
	fix->netdev->netdev_ops = &rx_netdev_ops;
	eth_hw_addr_random(fix->netdev);

	rtnl_lock();
	err = register_netdevice(fix->netdev);
	if (!err) {
		err = netdev_rx_handler_register(fix->netdev, rx_capture, fix);
		if (err)
			unregister_netdevice(fix->netdev);
	}
	/* each packet on its own: what is judged is SRPIC, not GRO */
	fix->netdev->features &= ~NETIF_F_GRO;
	rtnl_unlock();
	if (err) {
		free_netdev(fix->netdev);
		return err;
	}

	srpic_init(&fix->sd, fix->netdev);
	srpic_set_ring(&fix->sd, 256);
	netif_napi_add(fix->netdev, &fix->napi, rx_poll);
	srpic_add_napi(&fix->sd, &fix->sn);
	napi_enable(&fix->napi);
	test->priv = fix;
	return srpic_enable(&fix->sd, true);
}

static void rx_exit(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;

	if (!fix)
		return;
	napi_disable(&fix->napi);
	netif_napi_del(&fix->napi);
	srpic_del_napi(&fix->sn);
	rtnl_lock();
	netdev_rx_handler_unregister(fix->netdev);
	unregister_netdevice(fix->netdev);
	rtnl_unlock();
	free_netdev(fix->netdev);
}

static __sum16 tcp_sum(const struct frame *f, const void *ip, const void *tcp,
		       unsigned int len)
{
	__wsum sum = csum_partial(tcp, len, 0);
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;

	if (f->what & IPV6)
		return csum_ipv6_magic(&ip6->saddr, &ip6->daddr, len,
				       IPPROTO_TCP, sum);
	return csum_tcpudp_magic(ip4->saddr, ip4->daddr, len, IPPROTO_TCP, sum);
}

static unsigned int put_ipv4(u8 *p, const struct frame *f, unsigned int len)
{
	struct iphdr *iph = (void *)p;

	iph->version = 4;
	iph->ihl = f->what & IP_OPTION ? 6 : 5;
	iph->tot_len = htons(iph->ihl * 4 + len);
	iph->frag_off = f->what & FRAGMENT ? htons(IP_MF) : 0;
	iph->protocol = f->what & UDP ? IPPROTO_UDP : IPPROTO_TCP;
	iph->saddr = htonl(0x0a000001);
	iph->daddr = htonl(0x0a000002);
	ip_send_check(iph);
	return iph->ihl * 4;
}

static unsigned int put_ipv6(u8 *p, const struct frame *f, unsigned int len)
{
	struct ipv6hdr *iph = (void *)p;

	iph->version = 6;
	iph->nexthdr = f->what & IP_OPTION ? NEXTHDR_HOP :
		       f->what & UDP ? NEXTHDR_UDP : NEXTHDR_TCP;
	iph->payload_len = htons(len);
	iph->saddr.s6_addr[15] = 1;
	iph->daddr.s6_addr[15] = 2;
	return sizeof(*iph);
}

static void put_tcp(u8 *p, const struct frame *f)
{
	struct tcphdr *th = (void *)p;
	__be32 *option = (void *)(th + 1);

	th->source = htons(5201);
	th->dest = htons(f->port ?: f->what & OTHER_PORT ? 4001 : 4000);
	th->seq = htonl(f->seq);
	th->doff = sizeof(*th) / 4;
	((u8 *)th)[13] = f->flags;
	th->ack = !f->no_ack;
	th->res1 = !!(f->what & RESERVED);
	if (f->what & STAMP) {
		th->doff += TCPOLEN_TSTAMP_ALIGNED / 4;
		option[0] = htonl(0x0101080a);
		option[1] = htonl(f->tsval);
		option += TCPOLEN_TSTAMP_ALIGNED / 4;
	}
	if (f->what & SACK) {
		th->doff += 3;
		option[0] = htonl(0x0101050a);
	}
}

/* Writes a frame to p, without its Ethernet header, and returns its length. */
static unsigned int put_frame(u8 *p, const struct frame *f, __wsum *csum)
{
	unsigned int vlan = f->what & VLAN_IN_BAND ? VLAN_HLEN : 0;
	unsigned int ip_len, tcp_len, len;
	u8 *ip = p + vlan;
	struct tcphdr *th;

	if (vlan) {
		struct vlan_hdr *vh = (void *)p;

		vh->h_vlan_TCI = htons(5);
		vh->h_vlan_encapsulated_proto =
			htons(f->what & IPV6 ? ETH_P_IPV6 : ETH_P_IP);
	}
	tcp_len = sizeof(*th) + f->len;
	if (f->what & STAMP)
		tcp_len += TCPOLEN_TSTAMP_ALIGNED;
	if (f->what & SACK)
		tcp_len += 12;
	ip_len = f->what & IPV6 ? put_ipv6(ip, f, tcp_len) :
				  put_ipv4(ip, f, tcp_len);
	put_tcp(ip + ip_len, f);
	memset(ip + ip_len + tcp_len - f->len, 0x5a, f->len);

	th = (void *)(ip + ip_len);
	th->check = tcp_sum(f, ip, th, tcp_len);
	if (f->what & BAD_CSUM)
		th->check = ~th->check;

	len = ip_len + tcp_len;
	*csum = csum_partial(p, vlan + len, 0);
	if (f->what & PADDED)
		len = ETH_ZLEN - ETH_HLEN;
	if (f->what & TRAILER)
		len += 8;
	if (f->what & CUT)
		len -= 1;
	if (f->what & SHORT_TCP)
		len -= 8;
	return vlan + len;
}

static struct sk_buff *rx_skb(struct kunit *test, const struct frame *f, u8 id)
{
	struct rx_fixture *fix = test->priv;
	unsigned int len;
	struct sk_buff *skb;
	__wsum csum;
	u8 *buf;

	buf = kunit_kzalloc(test, 512, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	len = put_frame(buf, f, &csum);

	skb = netdev_alloc_skb_ip_align(fix->netdev, 512);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	if (f->what & PAGED) {
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page), buf, len);
		skb_add_rx_frag(skb, 0, page, 0, len, PAGE_SIZE);
	} else {
		skb_put_data(skb, buf, len);
	}

	skb->mark = id;
	skb->protocol = htons(f->what & VLAN_IN_BAND ? ETH_P_8021Q :
			      f->what & IPV6 ? ETH_P_IPV6 : ETH_P_IP);
	skb_reset_mac_header(skb);
	if (f->what & VLAN)
		__vlan_hwaccel_put_tag(skb, f->what & VLAN_SERVICE ?
				       htons(ETH_P_8021AD) : htons(ETH_P_8021Q),
				       f->what & VLAN_PRIORITY ? 0xe005 : 5);
	if (f->what & VLAN_0)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), 0xe000);
	if (f->what & SUM_CSUM) {
		skb->ip_summed = CHECKSUM_COMPLETE;
		skb->csum = csum;
	} else if (f->what & HOST_CSUM) {
		skb->ip_summed = CHECKSUM_PARTIAL;
	} else if (!(f->what & NO_CSUM)) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	}
	return skb;
}

/* A sum that was made and found good is not to be made again. */
static u8 summed(const struct frame *f)
{
	if (f->what & SUM_CSUM)
		return CHECKSUM_COMPLETE;
	if (f->what & HOST_CSUM)
		return CHECKSUM_PARTIAL;
	if (f->what & NO_CSUM && f->what & (BAD_CSUM | PADDED))
		return CHECKSUM_NONE;
	return CHECKSUM_UNNECESSARY;
}

static void poll_begin(struct rx_fixture *fix)
{
	local_bh_disable();
	napi_schedule_prep(&fix->napi);
	srpic_begin(&fix->sn);
}

static void poll_end(struct rx_fixture *fix)
{
	srpic_flush(&fix->sn, &fix->napi);
	napi_complete_done(&fix->napi, 1);
	local_bh_enable();
}

static void rx_case_test(struct kunit *test)
{
	const struct rx_case *c = test->param_value;
	struct rx_fixture *fix = test->priv;
	struct sk_buff *skb[ARRAY_SIZE(c->in)];
	u64 stats[SRPIC_STATS];
	unsigned int i;

	for (i = 0; i < c->num; i++)
		skb[i] = rx_skb(test, &c->in[i], i);

	poll_begin(fix);
	for (i = 0; i < c->num; i++)
		srpic_receive(&fix->sn, &fix->napi, skb[i]);
	poll_end(fix);

	KUNIT_ASSERT_EQ(test, fix->received, c->num);
	for (i = 0; i < c->num; i++)
		KUNIT_EXPECT_EQ_MSG(test, fix->id[i], c->out[i],
				    "place %u", i);
	for (i = 0; i < c->num; i++)
		KUNIT_EXPECT_EQ(test, fix->summed[i], summed(&c->in[i]));

	srpic_get_stats(&fix->sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], c->taken);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_PASSED], c->passed);
	if (c->cause < SRPIC_COUNTERS)
		KUNIT_EXPECT_GT(test, stats[c->cause], 0);
	else
		KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 0);
}

/* Sends num frames of one flow, the last first. */
static void rx_descending(struct kunit *test, unsigned int num)
{
	struct rx_fixture *fix = test->priv;
	struct sk_buff *skb[MAX_FRAMES];
	unsigned int i;

	for (i = 0; i < num; i++) {
		struct frame f = { .seq = 10 * (num - i), .len = 10 };

		skb[i] = rx_skb(test, &f, num - 1 - i);
	}
	poll_begin(fix);
	for (i = 0; i < num; i++)
		srpic_receive(&fix->sn, &fix->napi, skb[i]);
}

static void full_block_is_flushed(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];
	unsigned int i;

	rx_descending(test, 2 * SRPIC_BLOCK_SIZE_DEFAULT + 1);
	poll_end(fix);

	srpic_get_stats(&fix->sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_BLOCK], 2);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_POLL], 1);
	for (i = 0; i < SRPIC_BLOCK_SIZE_DEFAULT; i++)
		KUNIT_EXPECT_EQ(test, fix->id[i],
				SRPIC_BLOCK_SIZE_DEFAULT + 1 + i);
}

static void ring_full_of_packets_is_flushed(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];

	srpic_set_ring(&fix->sd, 10);
	rx_descending(test, 25);
	poll_end(fix);

	srpic_get_stats(&fix->sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_RING], 2);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_POLL], 1);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 25);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_OUT_OF_ORDER], 22);
}

/* As many flows of one packet as there are managers, and some more. */
static void eviction_delivers_the_evicted(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];
	struct sk_buff *skb[8];
	unsigned int i;

	/* all flows in one set of SRPIC_WAYS managers */
	memset(fix->sn.srpic->table.multiplier, 0,
	       sizeof(fix->sn.srpic->table.multiplier));
	for (i = 0; i < ARRAY_SIZE(skb); i++) {
		struct frame f = { .seq = 10, .len = 10, .port = 4000 + i };

		skb[i] = rx_skb(test, &f, i);
	}

	poll_begin(fix);
	for (i = 0; i < ARRAY_SIZE(skb); i++)
		srpic_receive(&fix->sn, &fix->napi, skb[i]);
	poll_end(fix);

	srpic_get_stats(&fix->sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_EVICT],
			ARRAY_SIZE(skb) - SRPIC_WAYS);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_FLUSH_POLL], SRPIC_WAYS);

	KUNIT_ASSERT_EQ(test, fix->received, ARRAY_SIZE(skb));
	for (i = 0; i < ARRAY_SIZE(skb); i++)
		KUNIT_EXPECT_EQ(test, fix->id[i], i);
}

static void nothing_outlives_a_poll(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;

	rx_descending(test, 3);
	KUNIT_EXPECT_EQ(test, fix->received, 0);
	poll_end(fix);
	KUNIT_EXPECT_EQ(test, fix->received, 3);
	KUNIT_EXPECT_TRUE(test, list_empty(&fix->sn.srpic->table.used));
}

static void switched_off_in_a_poll_strands_nothing(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;

	rx_descending(test, 3);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, srpic_enable(&fix->sd, false), 0);
	local_bh_disable();
	poll_end(fix);
	KUNIT_EXPECT_EQ(test, fix->received, 3);
	KUNIT_EXPECT_EQ(test, fix->id[0], 0);

	/* and the next poll does not sort */
	rx_descending(test, 3);
	KUNIT_EXPECT_NULL(test, fix->sn.poll);
	poll_end(fix);
	KUNIT_EXPECT_EQ(test, fix->received, 6);
	KUNIT_EXPECT_EQ(test, fix->id[3], 2);
}

static void counters_outlive_the_napi_instance(struct kunit *test)
{
	struct rx_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];

	rx_descending(test, 3);
	poll_end(fix);
	srpic_del_napi(&fix->sn);
	srpic_add_napi(&fix->sd, &fix->sn);
	KUNIT_EXPECT_NOT_NULL(test, fix->sn.active);

	rx_descending(test, 3);
	poll_end(fix);
	srpic_get_stats(&fix->sd, stats);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_PACKETS_TAKEN], 6);
	KUNIT_EXPECT_EQ(test, stats[SRPIC_BLOCKS], 2);
}

static struct kunit_case rx_test_cases[] = {
	KUNIT_CASE_PARAM(rx_case_test, rx_gen_params),
	KUNIT_CASE(full_block_is_flushed),
	KUNIT_CASE(ring_full_of_packets_is_flushed),
	KUNIT_CASE(eviction_delivers_the_evicted),
	KUNIT_CASE(nothing_outlives_a_poll),
	KUNIT_CASE(switched_off_in_a_poll_strands_nothing),
	KUNIT_CASE(counters_outlive_the_napi_instance),
	{ }
};

static struct kunit_suite rx_test_suite = {
	.name = "srpic_rx",
	.init = rx_init,
	.exit = rx_exit,
	.test_cases = rx_test_cases,
};

kunit_test_suite(rx_test_suite);
