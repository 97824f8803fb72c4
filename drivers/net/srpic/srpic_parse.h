/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPIC_PARSE_H
#define _SRPIC_PARSE_H

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "srpic_priv.h"

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

/**
 * enum srpic_class - what to do with a packet
 * @SRPIC_PASS: no TCP that could be held: deliver it
 * @SRPIC_BARRIER: TCP that is not suitable: flush its flow, then deliver it
 * @SRPIC_BARRIER_ALL: may be of any flow: flush all, then deliver it
 * @SRPIC_TAKE: suitable: give it to the manager of its flow
 */
enum srpic_class {
	SRPIC_PASS,
	SRPIC_BARRIER,
	SRPIC_BARRIER_ALL,
	SRPIC_TAKE,
};

/* Of a packet's TCP header, for its key. */
static inline u64 srpic_ports(const struct tcphdr *th)
{
	return (u64)*(const u32 *)&th->source << 32;
}

/*
 * The VLAN in a key. A tag with identifier 0 says a priority only, and the
 * priority is no part of a flow.
 */
static inline u64 srpic_vlan(__be16 proto, u16 tci)
{
	u64 vid = tci & VLAN_VID_MASK;

	return vid && proto == htons(ETH_P_8021AD) ? vid | BIT(12) : vid;
}

/* The same, of a tag that the NIC has taken out of the packet. */
static inline u64 srpic_skb_vlan(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) ?
	       srpic_vlan(skb->vlan_proto, skb_vlan_tag_get(skb)) : 0;
}

/* The TCP half of srpic_looks_usual(). */
static __always_inline bool srpic_usual_tcp(const struct tcphdr *th,
					    int payload, struct srpic_cb *cb)
{
	const __be32 *option = (const void *)(th + 1);
	__be32 flags;

	flags = tcp_flag_word(th) & (TCP_DATA_OFFSET | SRPIC_TCP_FLAGS);
	if (likely(flags == SRPIC_TIMESTAMP_FLAGS)) {
		if (option[0] != SRPIC_TIMESTAMP_HEAD)
			return false;
		cb->stamp = SRPIC_HAS_TSVAL | ntohl(option[1]);
	} else if (flags == SRPIC_PLAIN_FLAGS) {
		cb->stamp = 0;
		payload += TCPOLEN_TSTAMP_ALIGNED;
	} else {
		return false;
	}
	cb->seq = ntohl(th->seq);
	cb->end_seq = cb->seq + payload;
	return payload > 0;
}

/*
 * The form that data usually has: all headers in one piece and nothing between
 * them, no option but the timestamp, no padding. If the checksum is good, too,
 * one look is enough: srpic_classify() would say SRPIC_TAKE and leave the same
 * in skb->cb. False says nothing of the packet: it may be too short for a
 * timestamp option, or not linear that far.
 *
 * If true, other is 0 if the words of this key are those of the packet. The
 * device is not looked at.
 */
static __always_inline bool srpic_looks_usual(struct sk_buff *skb,
					      const struct srpic_key *key,
					      u64 *other)
{
	const struct ipv6hdr *ip6h = (const void *)skb->data;
	const struct iphdr *iph = (const void *)skb->data;
	u64 word0 = srpic_skb_vlan(skb);
	const struct tcphdr *th;
	const u64 *addr;
	int payload;

	/* with a timestamp; not below data_len if all headers are linear */
	if (skb->protocol == htons(ETH_P_IP)) {
		payload = skb->len - sizeof(*iph) - SRPIC_TIMESTAMP_HLEN;
		if (payload < (int)skb->data_len || *(const u8 *)iph != 0x45 ||
		    iph->protocol != IPPROTO_TCP || ip_is_fragment(iph) ||
		    ntohs(iph->tot_len) != skb->len)
			return false;
		addr = (const void *)&iph->addrs;
		*other = get_unaligned(&addr[0]) ^ key->word[1];
		th = (const void *)(iph + 1);
	} else if (skb->protocol == htons(ETH_P_IPV6)) {
		payload = skb->len - sizeof(*ip6h) - SRPIC_TIMESTAMP_HLEN;
		if (payload < (int)skb->data_len || ip6h->version != 6 ||
		    ip6h->nexthdr != IPPROTO_TCP ||
		    ntohs(ip6h->payload_len) + sizeof(*ip6h) != skb->len)
			return false;
		addr = (const void *)&ip6h->addrs;
		*other = get_unaligned(&addr[0]) ^ key->word[1];
		*other |= get_unaligned(&addr[1]) ^ key->word[2];
		*other |= get_unaligned(&addr[2]) ^ key->word[3];
		*other |= get_unaligned(&addr[3]) ^ key->word[4];
		word0 |= SRPIC_KEY_IPV6;
		th = (const void *)(ip6h + 1);
	} else {
		return false;
	}
	word0 |= srpic_ports(th);
	*other |= word0 ^ key->word[0];
	return srpic_usual_tcp(th, payload, SRPIC_CB(skb));
}

/* A packet that looks usual, with a checksum that the NIC found to be good. */
static inline bool srpic_is_usual(struct sk_buff *skb,
				  const struct srpic_key *key, u64 *other)
{
	return skb->ip_summed == CHECKSUM_UNNECESSARY &&
	       srpic_looks_usual(skb, key, other);
}

/*
 * A packet that looks usual, and the sum that the NIC made says that it is good.
 * The addresses are in that sum and in the pseudo-header: only what is ahead of
 * them has to be taken off.
 */
static inline bool srpic_is_usual_sum(struct sk_buff *skb,
				      const struct srpic_key *key, u64 *other)
{
	const __wsum *word = (const void *)skb->data;
	unsigned int hlen = sizeof(struct ipv6hdr);
	__wsum csum;

	if (skb->ip_summed != CHECKSUM_COMPLETE ||
	    !srpic_looks_usual(skb, key, other))
		return false;

	csum = csum_sub(csum_sub(skb->csum, word[0]), word[1]);
	if (skb->protocol == htons(ETH_P_IP)) {
		csum = csum_sub(csum, word[2]);
		hlen = sizeof(struct iphdr);
	}
	return !csum_tcpudp_magic(0, 0, skb->len - hlen, IPPROTO_TCP, csum);
}

/* The flow of a packet of the usual form. */
static inline void srpic_usual_key(const struct sk_buff *skb,
				   struct srpic_key *key)
{
	const struct ipv6hdr *ip6h = (const void *)skb->data;
	const struct iphdr *iph = (const void *)skb->data;

	key->dev = skb->dev;
	key->word[0] = srpic_skb_vlan(skb);
	if (skb->protocol == htons(ETH_P_IP)) {
		key->word[0] |= srpic_ports((const void *)(iph + 1));
		memcpy(&key->word[1], &iph->addrs, sizeof(iph->addrs));
	} else {
		key->word[0] |= srpic_ports((const void *)(ip6h + 1));
		key->word[0] |= SRPIC_KEY_IPV6;
		memcpy(&key->word[1], &ip6h->addrs, sizeof(ip6h->addrs));
	}
}

enum srpic_class srpic_classify(struct sk_buff *skb, struct srpic_key *key);

#endif /* _SRPIC_PARSE_H */
