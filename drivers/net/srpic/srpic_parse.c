// SPDX-License-Identifier: GPL-2.0
/* Which packets are suitable, whatever they look like, and of which flow. */

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "srpic_parse.h"

/**
 * struct srpic_ip - what the headers below TCP say of a packet
 * @tcp_offset: of the TCP header from skb->data, in bytes
 * @tcp_len: from there to the end of the IP packet, in bytes
 * @has_options: whether there are IP options
 * @trailer: bytes of Ethernet padding behind the IP packet, negative if the
 *	lengths of frame and packet disagree
 */
struct srpic_ip {
	unsigned int tcp_offset;
	int tcp_len;
	bool has_options;
	int trailer;
};

/*
 * Whether the sequence number can be trusted. Where the NIC gave no verdict,
 * the sum is made here and the verdict noted, so that GRO need not make it.
 */
static bool srpic_csum_is_good(struct sk_buff *skb, const struct srpic_ip *ip,
			       const struct srpic_key *key)
{
	__wsum csum = skb->csum;
	unsigned int words;

	if (skb->ip_summed == CHECKSUM_UNNECESSARY ||
	    skb->ip_summed == CHECKSUM_PARTIAL)
		return true;
	if (ip->trailer)
		return false;

	if (skb->ip_summed == CHECKSUM_NONE)
		csum = skb_checksum(skb, ip->tcp_offset, ip->tcp_len, 0);
	else
		csum = csum_sub(csum, skb_checksum(skb, 0, ip->tcp_offset, 0));

	/* the addresses of the pseudo-header are in the key */
	words = key->word[0] & SRPIC_KEY_IPV6 ? SRPIC_KEY_WORDS :
						SRPIC_KEY_WORDS_IPV4;
	csum = csum_add(csum, csum_partial(&key->word[1],
					   (words - 1) * sizeof(u64), 0));
	if (csum_tcpudp_magic(0, 0, ip->tcp_len, IPPROTO_TCP, csum))
		return false;

	if (skb->ip_summed == CHECKSUM_NONE) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = 0;
	}
	return true;
}

static enum srpic_class srpic_parse_tcp(struct sk_buff *skb,
					const struct srpic_ip *ip,
					struct srpic_key *key)
{
	struct srpic_cb *cb = SRPIC_CB(skb);
	struct tcphdr _th __uninitialized;
	const struct tcphdr *th;
	int payload;

	th = skb_header_pointer(skb, ip->tcp_offset, sizeof(_th), &_th);
	if (!th)
		return SRPIC_BARRIER_ALL;

	key->word[0] |= srpic_ports(th);

	payload = ip->tcp_len - th->doff * 4;
	if (ip->has_options || payload <= 0 || ip->trailer < 0 ||
	    (tcp_flag_word(th) & SRPIC_TCP_FLAGS) != TCP_FLAG_ACK)
		return SRPIC_BARRIER;

	cb->seq = ntohl(th->seq);
	cb->end_seq = cb->seq + payload;
	cb->stamp = 0;
	if (th->doff == SRPIC_TIMESTAMP_HLEN / 4) {
		__be32 _option[2] __uninitialized;
		const __be32 *option;

		option = skb_header_pointer(skb, ip->tcp_offset + sizeof(_th),
					    sizeof(_option), &_option);
		if (!option || option[0] != SRPIC_TIMESTAMP_HEAD)
			return SRPIC_BARRIER;
		cb->stamp = SRPIC_HAS_TSVAL | ntohl(option[1]);
	} else if (th->doff != sizeof(_th) / 4) {
		return SRPIC_BARRIER;
	}

	return srpic_csum_is_good(skb, ip, key) ? SRPIC_TAKE : SRPIC_BARRIER;
}

/* Only a frame of the least length may be longer than its packet. */
static int srpic_trailer(const struct sk_buff *skb, unsigned int offset,
			 unsigned int ip_len)
{
	unsigned int frame_len = skb->len - offset;

	if (ip_len > frame_len ||
	    (ip_len < frame_len && frame_len > ETH_ZLEN - ETH_HLEN))
		return -EINVAL;
	return frame_len - ip_len;
}

static enum srpic_class srpic_parse_ipv4(struct sk_buff *skb,
					 unsigned int offset,
					 struct srpic_key *key)
{
	struct iphdr _iph __uninitialized;
	const struct iphdr *iph;
	struct srpic_ip ip;

	iph = skb_header_pointer(skb, offset, sizeof(_iph), &_iph);
	if (!iph || iph->version != 4 || iph->ihl < 5 ||
	    iph->protocol != IPPROTO_TCP)
		return SRPIC_PASS;
	if (ip_is_fragment(iph))
		return SRPIC_BARRIER_ALL;

	memcpy(&key->word[1], &iph->addrs, sizeof(iph->addrs));

	ip.tcp_offset = offset + iph->ihl * 4;
	ip.tcp_len = ntohs(iph->tot_len) - iph->ihl * 4;
	ip.has_options = iph->ihl > 5;
	ip.trailer = srpic_trailer(skb, offset, ntohs(iph->tot_len));
	return srpic_parse_tcp(skb, &ip, key);
}

static enum srpic_class srpic_parse_ipv6(struct sk_buff *skb,
					 unsigned int offset,
					 struct srpic_key *key)
{
	struct ipv6hdr _iph __uninitialized;
	const struct ipv6hdr *iph;
	struct srpic_ip ip;

	iph = skb_header_pointer(skb, offset, sizeof(_iph), &_iph);
	if (!iph || iph->version != 6)
		return SRPIC_PASS;
	if (iph->nexthdr != IPPROTO_TCP)
		return ipv6_ext_hdr(iph->nexthdr) ? SRPIC_BARRIER_ALL :
						    SRPIC_PASS;

	key->word[0] |= SRPIC_KEY_IPV6;
	memcpy(&key->word[1], &iph->addrs, sizeof(iph->addrs));

	ip.tcp_offset = offset + sizeof(_iph);
	ip.tcp_len = ntohs(iph->payload_len);
	ip.has_options = false;
	ip.trailer = srpic_trailer(skb, offset, sizeof(_iph) + ip.tcp_len);
	return srpic_parse_tcp(skb, &ip, key);
}

/* The flow that a packet belongs to goes to key, if it is TCP and whole. */
enum srpic_class srpic_classify(struct sk_buff *skb, struct srpic_key *key)
{
	__be16 proto = skb->protocol;
	unsigned int offset = 0;

	key->dev = skb->dev;
	key->word[0] = srpic_skb_vlan(skb);
	if (!skb_vlan_tag_present(skb) && eth_type_vlan(proto)) {
		struct vlan_hdr _vh __uninitialized;
		const struct vlan_hdr *vh;

		vh = skb_header_pointer(skb, 0, sizeof(_vh), &_vh);
		if (!vh)
			return SRPIC_PASS;
		key->word[0] = srpic_vlan(proto, ntohs(vh->h_vlan_TCI));
		proto = vh->h_vlan_encapsulated_proto;
		offset = VLAN_HLEN;
	}

	switch (proto) {
	case htons(ETH_P_IP):
		return srpic_parse_ipv4(skb, offset, key);
	case htons(ETH_P_IPV6):
		return srpic_parse_ipv6(skb, offset, key);
	default:
		/* not IP, or below another tag: nothing of it is ever held */
		return SRPIC_PASS;
	}
}
