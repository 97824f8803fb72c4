// SPDX-License-Identifier: GPL-2.0
/* What the slow path asks of a packet, see srpic_parse.h. */

#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <net/ipv6.h>

#include "srpic_parse.h"

/* More than any packet but a forged one has. */
#define SRPIC_EXTHDRS_MAX	8

/* Behind extension headers, ports are not looked for: that it is TCP suffices. */
static enum srpic_class srpic_exthdr_class(const struct sk_buff *skb,
					   unsigned int offset, u8 nexthdr)
{
	const struct ipv6_opt_hdr *oh;
	struct ipv6_opt_hdr _oh;
	unsigned int i;

	for (i = 0; i < SRPIC_EXTHDRS_MAX; i++) {
		if (nexthdr == NEXTHDR_TCP)
			return SRPIC_BARRIER_PAIR;
		if (!ipv6_ext_hdr(nexthdr) || nexthdr == NEXTHDR_NONE)
			return SRPIC_PASS;
		oh = skb_header_pointer(skb, offset, sizeof(_oh), &_oh);
		if (!oh)
			return SRPIC_PASS;	/* IPv6 drops it */
		if (nexthdr == NEXTHDR_FRAGMENT)
			return oh->nexthdr == NEXTHDR_TCP ||
			       ipv6_ext_hdr(oh->nexthdr) ?
			       SRPIC_BARRIER_PAIR : SRPIC_PASS;
		offset += nexthdr == NEXTHDR_AUTH ? ipv6_authlen(oh) :
						    ipv6_optlen(oh);
		nexthdr = oh->nexthdr;
	}
	return SRPIC_BARRIER_PAIR;
}

/* How long a packet is by what its header says. */
static unsigned int srpic_ip_len(const void *header, __be16 proto)
{
	const struct ipv6hdr *ip6h = header;
	const struct iphdr *iph = header;

	return proto == htons(ETH_P_IPV6) ?
	       ntohs(ip6h->payload_len) + sizeof(*ip6h) : ntohs(iph->tot_len);
}

/* How much of len bytes is the packet: the least frame may be padded. */
unsigned int srpic_packet_len(const void *header, unsigned int len,
			      __be16 proto)
{
	return len > ETH_ZLEN - ETH_HLEN ? len :
					   min(len, srpic_ip_len(header, proto));
}

/*
 * The class of a packet that is SRPIC_SLOW although all headers were in reach;
 * so many bytes are ahead of that of IP.
 */
enum srpic_class srpic_slow_class(const struct sk_buff *skb,
				  struct srpic_flow *flow, const void *header,
				  unsigned int ahead, __be16 proto)
{
	unsigned int ip_len = srpic_ip_len(header, proto);
	const struct ipv6hdr *ip6h = header;
	const struct iphdr *iph = header;

	/* IP drops what is cut off, and TCP what has no room for its header */
	if (ip_len > skb->len - ahead)
		return SRPIC_PASS;
	if (proto == htons(ETH_P_IPV6) && ip6h->version == 6) {
		if (ip6h->nexthdr == NEXTHDR_TCP &&
		    ip_len < sizeof(*ip6h) + sizeof(struct tcphdr))
			return SRPIC_PASS;
		flow->addrs = (const void *)&ip6h->addrs;
		flow->id |= SRPIC_FLOW_IPV6;
		return srpic_exthdr_class(skb, ahead + sizeof(*ip6h),
					  ip6h->nexthdr);
	}
	if (proto == htons(ETH_P_IP) && iph->version == 4 && iph->ihl >= 5 &&
	    iph->protocol == IPPROTO_TCP) {
		if (!ip_is_fragment(iph) &&
		    ip_len < iph->ihl * 4 + sizeof(struct tcphdr))
			return SRPIC_PASS;
		/* a fragment has no ports, and options move them */
		flow->addrs = (const void *)&iph->addrs;
		return SRPIC_BARRIER_PAIR;
	}
	return SRPIC_PASS;
}

/*
 * The class of a packet that is SRPIC_ODD, with ahead bytes and len from the IP
 * header on. If packets are held, FIN is sorted, and counts as one byte behind the
 * payload. TCP drops what has no room for its header.
 */
enum srpic_class srpic_odd_class(struct sk_buff *skb, struct srpic_flow flow,
				 unsigned int ahead, unsigned int len,
				 bool holds)
{
	bool is_ipv6 = flow.id & SRPIC_FLOW_IPV6;
	unsigned int ip_hlen = is_ipv6 ? sizeof(struct ipv6hdr) :
					 sizeof(struct iphdr);
	struct srpic_cb *cb = SRPIC_CB(skb);
	const void *header = flow.addrs;
	int tcp_len = len - ip_hlen;
	const struct tcphdr *th;
	int payload;
	__be32 flags;

	header -= is_ipv6 ? offsetof(struct ipv6hdr, addrs) :
			    offsetof(struct iphdr, addrs);
	th = header + ip_hlen;
	if (tcp_len < (int)sizeof(*th))
		return SRPIC_PASS;
	flags = tcp_flag_word(th) & (TCP_DATA_OFFSET | SRPIC_TCP_FLAGS);
	if (th->fin && holds) {
		payload = srpic_payload(cb, th, tcp_len + 1,
					flags & ~TCP_FLAG_FIN);
		return payload > 0 ? srpic_take_class(skb, th, payload) :
				     SRPIC_BARRIER;
	}
	if (th->fin || th->rst || tcp_len != __tcp_hdrlen(th))
		return SRPIC_BARRIER;
	if (!th->syn) {
		/*
		 * Whether data could be sorted in its place: a byte. Nothing is
		 * learnt from it, so the checksum is left to TCP.
		 */
		cb->seq = ntohl(th->seq);
		return holds && srpic_payload(cb, th, tcp_len + 1, flags) > 0 ?
		       SRPIC_BARRIER_ACK : SRPIC_BARRIER_EMPTY;
	}
	cb->end_seq = ntohl(th->seq) + 1;
	return srpic_csum_is_known(skb) ||
	       (skb->len == ahead + len &&
		srpic_csum_is_good(skb, header - ahead, ahead, is_ipv6)) ?
	       SRPIC_BARRIER_SYN : SRPIC_BARRIER;
}

/*
 * Whether the checksum is good. The packet has no padding: a NIC's sum may or may
 * not cover it. Where the NIC gave nothing, the sum is made here in place of GRO,
 * and the verdict noted; where GRO would not make it nobody might ever do, and it
 * is not good.
 */
bool srpic_csum_is_good(struct sk_buff *skb, const void *data,
			unsigned int ahead, bool is_ipv6)
{
	__wsum csum = skb->csum;

	if (skb->ip_summed == CHECKSUM_NONE) {
		if (netif_elide_gro(skb->dev) || skb_has_frag_list(skb) ||
		    !skb_frags_readable(skb))
			return false;
		csum = skb_checksum(skb, 0, skb->len, 0);
	}
	if (!srpic_sum_is_good(skb, csum, data, ahead, is_ipv6))
		return false;
	if (skb->ip_summed == CHECKSUM_NONE) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = 0;
	}
	return true;
}
