/* SPDX-License-Identifier: GPL-2.0 */
/* Which packets are suitable, and of which flow. */
#ifndef _SRPIC_PARSE_H
#define _SRPIC_PARSE_H

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "srpic_manager.h"

/* All four of RFC 9293; later kernels name one of them (AccECN). */
#define SRPIC_TCP_RESERVED	htonl(0x0f000000)
#define SRPIC_TCP_FLAGS		(SRPIC_TCP_RESERVED | TCP_FLAG_CWR | \
				 TCP_FLAG_ECE | TCP_FLAG_URG | TCP_FLAG_ACK | \
				 TCP_FLAG_RST | TCP_FLAG_SYN | TCP_FLAG_FIN)

/* The usual layout of the timestamp option: NOP, NOP, timestamp. */
#define SRPIC_TIMESTAMP_HEAD	htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) | \
				      (TCPOPT_TIMESTAMP << 8) | \
				      TCPOLEN_TIMESTAMP)
#define SRPIC_TIMESTAMP_HLEN	(sizeof(struct tcphdr) + TCPOLEN_TSTAMP_ALIGNED)

/* What SRPIC_TCP_FLAGS and the data offset are in suitable packets. */
#define SRPIC_PLAIN_FLAGS	(htonl(sizeof(struct tcphdr) / 4 << 28) | \
				 TCP_FLAG_ACK)
#define SRPIC_TIMESTAMP_FLAGS	(htonl(SRPIC_TIMESTAMP_HLEN / 4 << 28) | \
				 TCP_FLAG_ACK)

/* The headers of a suitable packet are not longer. */
#define SRPIC_HLEN_MAX		(VLAN_HLEN + sizeof(struct ipv6hdr) + \
				 SRPIC_TIMESTAMP_HLEN)

/**
 * enum srpic_class - what to do with a packet
 * @SRPIC_TAKE: suitable: give it to the manager of its flow
 * @SRPIC_VERIFY: the same, if its checksum is good
 * @SRPIC_BARRIER: TCP that is not suitable: flush its flow, then deliver it
 * @SRPIC_BARRIER_EMPTY: the same, but without data, so that the flow goes on where
 *	it did
 * @SRPIC_BARRIER_ACK: the same, with the sequence number and the timestamp in
 *	skb->cb: what waits for a hole, and was sent behind it, waits on
 * @SRPIC_BARRIER_SYN: as SRPIC_BARRIER, and the flow begins behind it
 * @SRPIC_BARRIER_PAIR: TCP without ports in their usual place: flush all flows
 *	of its addresses, then deliver it
 * @SRPIC_PASS: no TCP that could be held: deliver it
 * @SRPIC_ODD: srpic_odd_class() must look: TCP with another flag or option, or
 *	without payload
 * @SRPIC_SLOW: srpic_receive_slow() must look: the headers are not in one piece,
 *	not those of IP and TCP alone, or do not agree with the length
 */
enum srpic_class {
	SRPIC_TAKE,
	SRPIC_VERIFY,
	SRPIC_BARRIER,
	SRPIC_BARRIER_EMPTY,
	SRPIC_BARRIER_ACK,
	SRPIC_BARRIER_SYN,
	SRPIC_BARRIER_PAIR,
	SRPIC_PASS,
	SRPIC_ODD,
	SRPIC_SLOW,
};

/*
 * The VLAN in srpic_flow.id. A tag with identifier 0 says a priority only, and
 * the priority is no part of a flow.
 */
static inline u64 srpic_vlan(__be16 proto, u16 tci)
{
	u64 vid = tci & VLAN_VID_MASK;

	return vid && proto == htons(ETH_P_8021AD) ? vid | SRPIC_FLOW_8021AD : vid;
}

/* The same, of a tag that the NIC has taken out of the packet. */
static inline u64 srpic_skb_vlan(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) ?
	       srpic_vlan(skb->vlan_proto, skb_vlan_tag_get(skb)) : 0;
}

unsigned int srpic_packet_len(const void *header, unsigned int len,
			      __be16 proto);
enum srpic_class srpic_slow_class(const struct sk_buff *skb,
				  struct srpic_flow *flow, const void *header,
				  unsigned int ahead, __be16 proto);
enum srpic_class srpic_odd_class(struct sk_buff *skb, struct srpic_flow flow,
				 unsigned int ahead, unsigned int len,
				 bool holds);
bool srpic_csum_is_good(struct sk_buff *skb, const void *data,
			unsigned int ahead, bool is_ipv6);

/* Whether the NIC, or this host, vouches for the packet. */
static inline bool srpic_csum_is_known(const struct sk_buff *skb)
{
	return skb->ip_summed == CHECKSUM_UNNECESSARY ||
	       skb->ip_summed == CHECKSUM_PARTIAL;
}

/*
 * Whether a sum of the whole packet, which begins at data with ahead bytes and
 * the IP header, is that of a good one. The addresses are the last of the IP
 * header: they stay in the sum, for the pseudo-header, and just what is ahead of
 * them is taken off.
 */
static inline bool srpic_sum_is_good(const struct sk_buff *skb, __wsum csum,
				     const void *data, unsigned int ahead,
				     bool is_ipv6)
{
	const __wsum *word = data;
	unsigned int tcp = ahead, i;

	if (is_ipv6) {
		ahead += offsetof(struct ipv6hdr, addrs);
		tcp += sizeof(struct ipv6hdr);
	} else {
		ahead += offsetof(struct iphdr, addrs);
		tcp += sizeof(struct iphdr);
	}
	for (i = 0; i < ahead / sizeof(*word); i++)
		csum = csum_sub(csum, word[i]);
	return !csum_tcpudp_magic(0, 0, skb->len - tcp, IPPROTO_TCP, csum);
}

/* Whether less than the headers is in one piece; without options, TCP is short. */
static inline bool srpic_is_scattered(unsigned int hlen, unsigned int ip_hlen,
				      const struct tcphdr *th)
{
	return hlen < ip_hlen + SRPIC_TIMESTAMP_HLEN &&
	       (hlen < ip_hlen + sizeof(*th) || th->doff != sizeof(*th) / 4);
}

/*
 * How many bytes of payload there are, if the flags are those of a packet with no
 * option but the timestamp, which goes to skb->cb; 0 or less if there are none.
 */
static __always_inline int
srpic_payload(struct srpic_cb *cb, const struct tcphdr *th, int tcp_len,
	      __be32 flags)
{
	int payload = 0;

	if (likely(flags == SRPIC_TIMESTAMP_FLAGS)) {
		if (*(const __be32 *)(th + 1) == SRPIC_TIMESTAMP_HEAD) {
			cb->stamp = get_unaligned((const u64 *)(th + 1));
			payload = tcp_len - SRPIC_TIMESTAMP_HLEN;
		}
	} else if (flags == SRPIC_PLAIN_FLAGS) {
		cb->stamp = 0;
		payload = tcp_len - sizeof(*th);
	}
	return payload;
}

static __always_inline enum srpic_class
srpic_take_class(struct sk_buff *skb, const struct tcphdr *th, int len)
{
	struct srpic_cb *cb = SRPIC_CB(skb);

	cb->seq = ntohl(th->seq);
	cb->end_seq = cb->seq + len;
	return srpic_csum_is_known(skb) ? SRPIC_TAKE : SRPIC_VERIFY;
}

/* The TCP half of srpic_parse(), where th is readable as far as it is needed. */
static __always_inline enum srpic_class
srpic_parse_tcp(struct sk_buff *skb, struct srpic_flow *flow,
		const struct tcphdr *th, int tcp_len)
{
	__be32 flags = tcp_flag_word(th) & (TCP_DATA_OFFSET | SRPIC_TCP_FLAGS);
	int payload = srpic_payload(SRPIC_CB(skb), th, tcp_len, flags);

	flow->id |= (u64)*(const u32 *)&th->source << 32;
	if (payload <= 0)
		return SRPIC_ODD;
	return srpic_take_class(skb, th, payload);
}

/*
 * Which class a packet is of: len bytes from the header of this protocol on,
 * hlen of them in one piece. The VLAN is in flow, which gets the rest. What the
 * sorter wants to know goes to skb->cb.
 */
static __always_inline enum srpic_class
srpic_parse(struct sk_buff *skb, struct srpic_flow *flow, const void *header,
	    unsigned int hlen, unsigned int len, __be16 proto)
{
	if (likely(proto == htons(ETH_P_IP))) {
		const struct iphdr *iph = header;
		const struct tcphdr *th = (const void *)(iph + 1);

		if (srpic_is_scattered(hlen, sizeof(*iph), th) ||
		    *(const u8 *)iph != 0x45 || iph->protocol != IPPROTO_TCP ||
		    ip_is_fragment(iph) || ntohs(iph->tot_len) != len)
			return SRPIC_SLOW;
		flow->addrs = (const void *)&iph->addrs;
		return srpic_parse_tcp(skb, flow, th, len - sizeof(*iph));
	}
	if (proto == htons(ETH_P_IPV6)) {
		const struct ipv6hdr *ip6h = header;
		const struct tcphdr *th = (const void *)(ip6h + 1);

		if (srpic_is_scattered(hlen, sizeof(*ip6h), th) ||
		    ip6h->version != 6 || ip6h->nexthdr != IPPROTO_TCP ||
		    ntohs(ip6h->payload_len) + sizeof(*ip6h) != len)
			return SRPIC_SLOW;
		flow->addrs = (const void *)&ip6h->addrs;
		flow->id |= SRPIC_FLOW_IPV6;
		return srpic_parse_tcp(skb, flow, th, len - sizeof(*ip6h));
	}
	return SRPIC_SLOW;
}

#endif /* _SRPIC_PARSE_H */
