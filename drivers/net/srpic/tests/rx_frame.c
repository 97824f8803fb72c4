// SPDX-License-Identifier: GPL-2.0
/* Frames for the tests of the receive path, and for the reference model. */

#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "rx_frame.h"

#define FRAME_MAX	512			/* in bytes */
#define LATER		181			/* where a later fragment begins, in 8 bytes */

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
	static const u16 fragments[] = { IP_MF, LATER | IP_MF, LATER };
	struct iphdr *iph = (void *)p;

	iph->version = 4;
	iph->ihl = f->what & IP_OPTION ? 6 : 5;
	if (f->what & IP_OPTION)
		memset(iph + 1, IPOPT_NOOP, 4);
	iph->tot_len = htons(iph->ihl * 4 + len);
	if (f->what & FRAGMENT)
		iph->frag_off = htons(fragments[f->form % 3]);
	else if (f->what & WHOLE)
		iph->frag_off = htons(IP_DF);
	iph->protocol = f->what & UDP ? IPPROTO_UDP : IPPROTO_TCP;
	iph->saddr = htonl(f->what & OTHER_ADDRESS ? 0x0a000003 : 0x0a000001);
	iph->daddr = htonl(f->what & OTHER_DEST ? 0x0a000004 : 0x0a000002);
	ip_send_check(iph);
	if (f->what & BAD_HEADER)
		iph->check = csum16_add(iph->check, htons(1));
	return iph->ihl * 4;
}

/* Puts one between what is at p and the next header; returns where it ends. */
static u8 *put_extension(u8 *p, u8 **next, u8 kind, unsigned int words)
{
	**next = kind;
	*next = p;
	/* those of IPsec have another unit */
	p[1] = kind == NEXTHDR_AUTH ? 2 * words - 2 : words - 1;
	return p + 8 * words;
}

static unsigned int put_ipv6(u8 *p, const struct frame *f, unsigned int len)
{
	static const u16 fragments[] = {
		IP6_MF, LATER << 3 | IP6_MF, LATER << 3,
	};
	static const u8 options[] = {
		NEXTHDR_HOP, NEXTHDR_ROUTING, NEXTHDR_DEST, NEXTHDR_AUTH,
	};
	unsigned int i, num = f->what & MANY_OPTIONS ? 9 : 1;
	u8 option = options[f->form % ARRAY_SIZE(options)];
	struct ipv6hdr *iph = (void *)p;
	u8 *next = &iph->nexthdr, *end = (u8 *)(iph + 1);
	struct frag_hdr *fragment = (void *)end;

	iph->version = 6;
	/* one differs in its upper half, one in its lower */
	iph->saddr.s6_addr[0] = f->what & OTHER_ADDRESS ? 3 : 1;
	iph->daddr.s6_addr[15] = f->what & OTHER_DEST ? 4 : 2;
	if (f->what & FRAGMENT) {
		end = put_extension(end, &next, NEXTHDR_FRAGMENT, 1);
		fragment->frag_off = htons(fragments[f->form % 3]);
	}
	for (i = 0; f->what & IP_OPTION && i < num; i++)
		end = put_extension(end, &next, option, 1);
	/* whose place depends on the length of the one ahead of it */
	if (f->what & IP_OPTION && option == NEXTHDR_AUTH)
		end = put_extension(put_extension(end, &next, option, 2),
				    &next, NEXTHDR_DEST, 1);
	*next = f->what & NO_NEXT ? NEXTHDR_NONE :
		f->what & UDP ? NEXTHDR_UDP : NEXTHDR_TCP;
	if ((f->what & BEHIND_END) == BEHIND_END) {
		end = put_extension(end, &next, NEXTHDR_DEST, 1);
		next[0] = NEXTHDR_DEST;
		next[1] = 255;
	}
	iph->payload_len = htons(end - (u8 *)(iph + 1) + len);
	return end - p;
}

/* Returns the length of the header. */
static unsigned int put_tcp(u8 *p, const struct frame *f)
{
	struct tcphdr *th = (void *)p;
	__be32 *option = (void *)(th + 1);

	th->source = htons(f->what & OTHER_SOURCE ? 5202 : 5201);
	th->dest = htons(f->port ?: f->what & OTHER_PORT ? 4001 : 4000);
	th->seq = htonl(f->seq);
	th->ack_seq = htonl(0x50100000);	/* looks like length and ACK */
	p[13] = f->flags;
	th->ack = !f->no_ack;
	if (f->what & STAMP) {
		*option++ = htonl(0x0101080a);
		*option++ = htonl(f->tsval);
		option++;
	}
	if (f->what & SACK) {
		*option++ = htonl(0x0101050a);
		option += 2;
	}
	th->doff = ((u8 *)option - p) / 4;
	if (f->what & RESERVED)
		p[12] |= BIT(f->form % 4);
	return (u8 *)option - p;
}

static unsigned int put_vlan(u8 *p, const struct frame *f)
{
	struct vlan_hdr *vh = (void *)p;

	if (!(f->what & VLAN_IN_BAND))
		return 0;
	vh->h_vlan_TCI = htons(f->vlan ?: 5);
	vh->h_vlan_encapsulated_proto = htons(f->what & NO_IP ? ETH_P_LOOPBACK :
					      f->what & IPV6 ? ETH_P_IPV6 :
							       ETH_P_IP);
	return VLAN_HLEN;
}

/*
 * Writes a frame to p, which is zeroed, without its Ethernet header, and
 * returns its length.
 */
unsigned int srpic_frame_put(u8 *p, const struct frame *f)
{
	unsigned int payload = f->what & AGGREGATE ? 0 : f->len;
	u8 *ip = p + put_vlan(p, f);
	u8 fill = f->fill ?: 0x5a;
	unsigned int tcp_len, len;
	struct tcphdr *th;
	u8 *end;

	tcp_len = sizeof(*th);
	if (f->what & STAMP)
		tcp_len += TCPOLEN_TSTAMP_ALIGNED;
	if (f->what & SACK)
		tcp_len += 12;
	len = tcp_len + f->len;
	if (f->what & SHORT_TCP && f->form)
		len -= 8;
	th = (void *)(ip + (f->what & IPV6 ? put_ipv6(ip, f, len) :
					    put_ipv4(ip, f, len)));
	end = (u8 *)th + put_tcp((u8 *)th, f);
	memset(end, fill, payload);
	end += payload;

	th->check = tcp_sum(f, ip, th, tcp_len + payload);
	if (f->what & BAD_CSUM)
		th->check = csum16_add(th->check, htons(1));
	/* a later fragment has no TCP header */
	if (f->what & FRAGMENT && f->form % 3)
		memset(th, fill, tcp_len);

	if (f->what & PADDED)
		end = ip + ETH_ZLEN - ETH_HLEN;
	if (f->what & TRAILER)
		end += 8;
	if (f->what & CUT)
		end--;
	if (f->what & SHORT_TCP)
		end -= 8;
	return end - p;
}

/* Another frame's bytes where those of this one would be if all were linear. */
static void put_decoy(struct sk_buff *skb, const struct frame *f, u8 *buf,
		      unsigned int linear)
{
	struct frame decoy = *f;

	decoy.seq = -f->seq;
	decoy.tsval -= f->seq;
	memset(buf, 0, FRAME_MAX);
	srpic_frame_put(buf, &decoy);
	memcpy(skb_tail_pointer(skb), buf + linear, FRAME_MAX - linear);
}

/* Makes a packet that was received by netdev; skb->mark is its number. */
struct sk_buff *srpic_frame_skb(struct kunit *test, struct net_device *netdev,
				const struct frame *f, u8 id)
{
	unsigned int len, linear;
	struct sk_buff *skb;
	u8 *buf;

	buf = kunit_kzalloc(test, FRAME_MAX, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	len = srpic_frame_put(buf, f);

	/* not of a page fragment, which GRO would take without the skb */
	skb = alloc_skb(NET_SKB_PAD + FRAME_MAX, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, NET_SKB_PAD);
	skb->dev = netdev;
	linear = f->what & PAGED ? 0 : f->what & SPLIT ? f->form : len;
	skb_put_data(skb, buf, linear);
	if (linear < len) {
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page), buf + linear, len - linear);
		skb_add_rx_frag(skb, 0, page, 0, len - linear, PAGE_SIZE);
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
		skb->csum = csum_partial(buf, len, 0);
	} else if (f->what & HOST_CSUM) {
		skb->ip_summed = CHECKSUM_PARTIAL;
	} else if (!(f->what & NO_CSUM)) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	}
	if (linear < len)
		put_decoy(skb, f, buf, linear);
	kunit_kfree(test, buf);
	return skb;
}

/*
 * What ip_summed should be on the way out: a sum that GRO would have made was
 * made, and is not to be made again, unless it was bad.
 */
u8 srpic_frame_summed(const struct frame *f, bool gro)
{
	if (f->what & SUM_CSUM)
		return CHECKSUM_COMPLETE;
	if (f->what & HOST_CSUM)
		return CHECKSUM_PARTIAL;
	return f->what & NO_CSUM && (!gro || f->what & BAD_CSUM) ?
	       CHECKSUM_NONE : CHECKSUM_UNNECESSARY;
}
