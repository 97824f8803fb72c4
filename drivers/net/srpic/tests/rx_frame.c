// SPDX-License-Identifier: GPL-2.0
/* Frames for the tests of the receive path. */

#include <kunit/test.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "rx_frame.h"

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
	iph->saddr = htonl(f->what & OTHER_ADDRESS ? 0x0a000003 : 0x0a000001);
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
	iph->saddr.s6_addr[15] = f->what & OTHER_ADDRESS ? 3 : 1;
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
		th->check = csum16_add(th->check, htons(1));

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

/* Makes a packet that was received by netdev; skb->mark is its number. */
struct sk_buff *srpic_frame_skb(struct kunit *test, struct net_device *netdev,
				const struct frame *f, u8 id)
{
	unsigned int len;
	struct sk_buff *skb;
	__wsum csum;
	u8 *buf;

	buf = kunit_kzalloc(test, 512, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	len = put_frame(buf, f, &csum);

	/* not of a page fragment, which GRO would take without the skb */
	skb = alloc_skb(NET_SKB_PAD + 512, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, NET_SKB_PAD);
	skb->dev = netdev;
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

/*
 * What ip_summed should be on the way out: a sum that was made and found good
 * is not to be made again.
 */
u8 srpic_frame_summed(const struct frame *f)
{
	if (f->what & SUM_CSUM)
		return CHECKSUM_COMPLETE;
	if (f->what & HOST_CSUM)
		return CHECKSUM_PARTIAL;
	if (f->what & NO_CSUM && f->what & (BAD_CSUM | PADDED))
		return CHECKSUM_NONE;
	return CHECKSUM_UNNECESSARY;
}
