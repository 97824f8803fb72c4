// SPDX-License-Identifier: GPL-2.0
/* Frames for the reference model: what the generator describes, as bytes. */

#include <linux/bitfield.h>
#include <linux/gfp.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "model.h"

#define MSS	1448		/* of what an aggregate is made of */

static unsigned int vlan_of(const struct model_pkt *pkt)
{
	static const u16 vid[] = { 0, 5, 6, 5 };
	u16 priority = pkt->how & MODEL_PRIORITY ? 0xe000 : 0;

	return vid[FIELD_GET(MODEL_FLOW_VLAN, pkt->flow)] | priority;
}

static __be16 vlan_proto(const struct model_pkt *pkt)
{
	return (pkt->flow & MODEL_FLOW_VLAN) == MODEL_FLOW_VLAN ?
	       htons(ETH_P_8021AD) : htons(ETH_P_8021Q);
}

static __be16 ip_proto(const struct model_pkt *pkt)
{
	if (pkt->kind == MODEL_NO_IP)
		return htons(ETH_P_LOOPBACK);
	return pkt->flow & MODEL_FLOW_IPV6 ? htons(ETH_P_IPV6) :
					     htons(ETH_P_IP);
}

static bool in_band(const struct model_pkt *pkt)
{
	return pkt->kind == MODEL_TWO_TAGS ||
	       (pkt->how & MODEL_IN_BAND && vlan_of(pkt));
}

/* The tag that is in the packet's metadata, if any. */
static u16 tag_of(const struct model_pkt *pkt)
{
	if (pkt->kind == MODEL_TWO_TAGS)
		return 7;
	return in_band(pkt) ? 0 : vlan_of(pkt);
}

static unsigned int put_ipv4(u8 *p, const struct model_pkt *pkt,
			     unsigned int len)
{
	struct iphdr *iph = (void *)p;

	iph->version = 4;
	iph->ihl = pkt->kind == MODEL_IP_OPTION ? 6 : 5;
	if (pkt->kind == MODEL_IP_OPTION)
		memset(iph + 1, IPOPT_NOOP, 4);
	iph->tot_len = htons(iph->ihl * 4 + len);
	iph->frag_off = pkt->kind == MODEL_FRAGMENT ? htons(IP_MF) : 0;
	iph->protocol = pkt->kind == MODEL_UDP ? IPPROTO_UDP : IPPROTO_TCP;
	iph->saddr = htonl(0x0a000001 + !!(pkt->flow & MODEL_FLOW_SOURCE));
	iph->daddr = htonl(0x0a000101 + !!(pkt->flow & MODEL_FLOW_DESTINATION));
	ip_send_check(iph);
	return iph->ihl * 4;
}

static unsigned int put_ipv6(u8 *p, const struct model_pkt *pkt,
			     unsigned int len)
{
	struct ipv6hdr *iph = (void *)p;
	u8 next = pkt->kind == MODEL_UDP ? NEXTHDR_UDP : NEXTHDR_TCP;
	u8 extension = pkt->kind == MODEL_FRAGMENT ? NEXTHDR_FRAGMENT :
		       pkt->kind == MODEL_IP_OPTION ? NEXTHDR_HOP : 0;
	bool extended = pkt->kind == MODEL_FRAGMENT ||
			pkt->kind == MODEL_IP_OPTION;

	iph->version = 6;
	iph->nexthdr = extended ? extension : next;
	iph->saddr.s6_addr[15] = 1 + !!(pkt->flow & MODEL_FLOW_SOURCE);
	iph->daddr.s6_addr[15] = 3 + !!(pkt->flow & MODEL_FLOW_DESTINATION);
	if (extended)
		p[sizeof(*iph)] = next;
	iph->payload_len = htons(len + 8 * extended);
	return sizeof(*iph) + 8 * extended;
}

/* Returns the length of the header. */
static unsigned int put_tcp(u8 *p, const struct model_pkt *pkt)
{
	struct tcphdr *th = (void *)p;
	__be32 *option = (void *)(th + 1);

	th->source = htons(5201 + !!(pkt->flow & MODEL_FLOW_SOURCE_PORT));
	th->dest = htons(4000 + (pkt->flow & MODEL_FLOW_PORT) +
			 (pkt->flow >> MODEL_FLOW_BITS) * 2);
	th->seq = htonl(pkt->seq);
	th->fin = pkt->kind == MODEL_FIN;
	th->syn = pkt->kind == MODEL_SYN;
	th->rst = pkt->kind == MODEL_RST;
	th->urg = pkt->kind == MODEL_URG;
	th->ece = pkt->kind == MODEL_ECE;
	th->cwr = pkt->kind == MODEL_CWR;
	th->ack = pkt->kind != MODEL_NO_ACK;
	th->res1 = pkt->kind == MODEL_RESERVED;
	th->psh = !!(pkt->how & MODEL_PSH);
	if (pkt->how & MODEL_STAMP) {
		*option++ = htonl(0x0101080a);
		*option++ = htonl(pkt->tsval);
		option++;
	}
	if (pkt->kind == MODEL_SACK) {
		*option++ = htonl(0x0101050a);
		option += 2;
	}
	th->doff = ((u8 *)option - p) / 4;
	return (u8 *)option - p;
}

static void put_csum(struct tcphdr *th, unsigned int len, const void *ip,
		     const struct model_pkt *pkt)
{
	__wsum sum = csum_partial(th, len, 0);
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;

	if (pkt->flow & MODEL_FLOW_IPV6)
		th->check = csum_ipv6_magic(&ip6->saddr, &ip6->daddr, len,
					    IPPROTO_TCP, sum);
	else
		th->check = csum_tcpudp_magic(ip4->saddr, ip4->daddr, len,
					      IPPROTO_TCP, sum);
	if (pkt->kind == MODEL_BAD_CSUM)
		th->check = csum16_add(th->check, htons(1));
}

static bool is_aggregate(const struct model_pkt *pkt)
{
	return pkt->len > MODEL_LINEAR;
}

/* What the NIC says of the checksum, as ip_summed does. */
static u8 verdict(const struct model_pkt *pkt)
{
	if (is_aggregate(pkt))
		return CHECKSUM_UNNECESSARY;
	if (pkt->how & MODEL_UNSUMMED)
		return CHECKSUM_NONE;
	if (pkt->how & MODEL_SUMMED)
		return CHECKSUM_COMPLETE;
	return pkt->kind == MODEL_BAD_CSUM ? CHECKSUM_NONE :
					     CHECKSUM_UNNECESSARY;
}

/* Writes all but an aggregate's payload, and returns its length. */
static unsigned int put_frame(u8 *p, const struct model_pkt *pkt, u8 fill)
{
	unsigned int payload = is_aggregate(pkt) ? 0 : pkt->len;
	unsigned int ip_len, tcp_len;
	u8 *start = p, *ip;
	struct tcphdr *th;

	memset(p, 0, MODEL_FRAME - MODEL_LINEAR);
	if (in_band(pkt)) {
		struct vlan_hdr *vh = (void *)p;

		vh->h_vlan_TCI = htons(vlan_of(pkt));
		vh->h_vlan_encapsulated_proto = ip_proto(pkt);
		p += VLAN_HLEN;
	}

	ip = p;
	tcp_len = sizeof(*th);
	if (pkt->how & MODEL_STAMP)
		tcp_len += TCPOLEN_TSTAMP_ALIGNED;
	if (pkt->kind == MODEL_SACK)
		tcp_len += 12;
	ip_len = pkt->flow & MODEL_FLOW_IPV6 ?
		 put_ipv6(p, pkt, tcp_len + pkt->len) :
		 put_ipv4(p, pkt, tcp_len + pkt->len);
	p += ip_len;
	th = (void *)p;
	p += put_tcp(p, pkt);
	memset(p, fill, payload);
	p += payload;
	if (verdict(pkt) != CHECKSUM_UNNECESSARY)
		put_csum(th, tcp_len + payload, ip, pkt);

	if (model_is_padded(pkt)) {
		p = ip + ETH_ZLEN - ETH_HLEN;
	} else if (pkt->kind == MODEL_TRAILER) {
		memset(p, 0, 8);
		p += 8;
	} else if (pkt->kind == MODEL_CUT) {
		p--;
	}
	return p - start;
}

static void add_page(struct sk_buff *skb, struct page *page, unsigned int len)
{
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 0, len,
			PAGE_SIZE);
}

static unsigned int gso_type(const struct model_pkt *pkt)
{
	return pkt->flow & MODEL_FLOW_IPV6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4;
}

static void add_aggregate(struct sk_buff *skb, struct page *page,
			  const struct model_pkt *pkt)
{
	unsigned int len, rest;

	for (rest = pkt->len; rest; rest -= len) {
		len = min_t(unsigned int, rest, PAGE_SIZE);
		get_page(page);
		add_page(skb, page, len);
	}
	skb_shinfo(skb)->gso_size = MSS;
	skb_shinfo(skb)->gso_segs = DIV_ROUND_UP(pkt->len, MSS);
	skb_shinfo(skb)->gso_type = gso_type(pkt);
}

static bool put_data(struct sk_buff *skb, const struct model_pkt *pkt,
		     const u8 *frame, unsigned int len)
{
	struct page *page;

	if (!(pkt->how & MODEL_PAGED)) {
		skb_put_data(skb, frame, len);
		return true;
	}
	page = alloc_page(GFP_ATOMIC);
	if (!page)
		return false;
	memcpy(page_address(page), frame, len);
	add_page(skb, page, len);
	return true;
}

/* Makes a packet, and keeps what it looks like; NULL if there is no memory. */
struct sk_buff *srpic_model_skb(struct napi_struct *napi, struct page *payload,
				const struct model_pkt *pkt, u8 fill,
				struct model_frame *frame)
{
	struct sk_buff *skb;

	frame->len = put_frame(frame->data, pkt, fill);
	skb = napi_alloc_skb(napi, MODEL_FRAME);
	if (!skb)
		return NULL;
	if (!put_data(skb, pkt, frame->data, frame->len)) {
		kfree_skb(skb);
		return NULL;
	}
	if (is_aggregate(pkt))
		add_aggregate(skb, payload, pkt);

	skb->protocol = in_band(pkt) ? vlan_proto(pkt) : ip_proto(pkt);
	skb_reset_mac_header(skb);
	if (tag_of(pkt))
		__vlan_hwaccel_put_tag(skb, vlan_proto(pkt), tag_of(pkt));
	skb->ip_summed = verdict(pkt);
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_partial(frame->data, frame->len, 0);

	skb_set_hash(skb, fill + 1, PKT_HASH_TYPE_L4);
	skb_record_rx_queue(skb, 0);
	skb->tstamp = ns_to_ktime(fill + 1);
	frame->skb = skb;
	frame->was = *skb;
	return skb;
}

/* What nobody has a reason to write to, nor to copy the packet. */
static bool is_metadata_wrong(const struct sk_buff *skb,
			      const struct model_frame *frame)
{
	const struct sk_buff *was = &frame->was;

	return skb != frame->skb || skb->truesize != was->truesize ||
	       skb->hash != was->hash || skb->l4_hash != was->l4_hash ||
	       skb->queue_mapping != was->queue_mapping ||
	       skb->tstamp != was->tstamp;
}

/* A verdict must be kept; it may be made only of a sum that is good. */
static bool is_verdict_wrong(const struct sk_buff *skb,
			     const struct model_pkt *pkt,
			     const void *frame, unsigned int len)
{
	u8 was = verdict(pkt);
	__wsum difference;

	if (skb->csum_level)
		return true;
	if (was == CHECKSUM_NONE && pkt->kind != MODEL_BAD_CSUM) {
		/* GRO must not have to make the sum again */
		if (model_is_suitable(pkt))
			return skb->ip_summed != CHECKSUM_UNNECESSARY;
		return skb->ip_summed != CHECKSUM_UNNECESSARY &&
		       skb->ip_summed != CHECKSUM_NONE;
	}
	if (was == CHECKSUM_COMPLETE) {
		/* 0 has two forms */
		difference = csum_sub(skb->csum, csum_partial(frame, len, 0));
		if ((__force u16)csum_fold(difference) % 0xffff)
			return true;
	}
	return skb->ip_summed != was;
}

static bool is_tag_wrong(const struct sk_buff *skb, const struct model_pkt *pkt,
			 bool untagged)
{
	u16 tag = untagged ? vlan_of(pkt) : tag_of(pkt);

	if (skb->protocol != (in_band(pkt) && !untagged ? vlan_proto(pkt) :
							   ip_proto(pkt)))
		return true;
	if (!tag)
		return skb_vlan_tag_present(skb);
	return skb->vlan_proto != vlan_proto(pkt) ||
	       !skb_vlan_tag_present(skb) || skb_vlan_tag_get(skb) != tag;
}

/* The payload's pages come last, all but the last one of them whole. */
static bool is_aggregate_wrong(const struct sk_buff *skb,
			       const struct page *payload,
			       const struct model_pkt *pkt)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int i, len, rest = pkt->len;

	if (!is_aggregate(pkt))
		return info->gso_size || info->gso_segs || info->gso_type;
	if (info->gso_size != MSS ||
	    info->gso_segs != DIV_ROUND_UP(pkt->len, MSS) ||
	    info->gso_type != gso_type(pkt) ||
	    info->nr_frags < DIV_ROUND_UP(pkt->len, PAGE_SIZE))
		return true;

	i = info->nr_frags - DIV_ROUND_UP(pkt->len, PAGE_SIZE);
	for (; rest; i++, rest -= len) {
		len = min_t(unsigned int, rest, PAGE_SIZE);
		if (skb_frag_page(&info->frags[i]) != payload ||
		    skb_frag_off(&info->frags[i]) ||
		    skb_frag_size(&info->frags[i]) != len)
			return true;
	}
	return false;
}

/*
 * Whether the packet is not what srpic_model_skb() made. The core itself takes
 * off a tag in band, before a handler sees the frame.
 */
bool srpic_model_is_altered(const struct sk_buff *skb,
			    const struct page *payload,
			    const struct model_pkt *pkt,
			    const struct model_frame *frame)
{
	bool untagged = in_band(pkt) && pkt->kind != MODEL_TWO_TAGS;
	unsigned int off = untagged ? VLAN_HLEN : 0;
	const u8 *wanted = frame->data + off;
	unsigned int len = frame->len - off;
	const void *data;
	u8 buf[MODEL_FRAME];

	if (skb->len != len + (is_aggregate(pkt) ? pkt->len : 0) ||
	    is_metadata_wrong(skb, frame) ||
	    is_verdict_wrong(skb, pkt, wanted, len) ||
	    is_tag_wrong(skb, pkt, untagged) ||
	    is_aggregate_wrong(skb, payload, pkt))
		return true;
	data = skb_header_pointer(skb, 0, len, buf);
	return !data || memcmp(data, wanted, len);
}
