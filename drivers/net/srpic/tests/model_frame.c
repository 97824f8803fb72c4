// SPDX-License-Identifier: GPL-2.0
/* Frames for the reference model: what the generator describes, as bytes. */

#include <linux/bitfield.h>
#include <linux/gfp.h>
#include <linux/if_vlan.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/checksum.h>

#include "model.h"
#include "rx_frame.h"

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

static bool is_aggregate(const struct model_pkt *pkt)
{
	return pkt->len > MODEL_LINEAR;
}

/* What the NIC says of the checksum, as ip_summed does. */
static u8 verdict(const struct model_pkt *pkt)
{
	if (is_aggregate(pkt))
		return CHECKSUM_UNNECESSARY;
	if (model_is_unsummed(pkt))
		return CHECKSUM_NONE;
	if (pkt->how & MODEL_SUMMED)
		return CHECKSUM_COMPLETE;
	return pkt->kind == MODEL_BAD_CSUM ? CHECKSUM_NONE :
					     CHECKSUM_UNNECESSARY;
}

/* The sequence number of what is not sorted matters to nobody: it has forms. */
static struct frame describe(const struct model_pkt *pkt, u8 fill)
{
	static const u32 whats[MODEL_KINDS] = {
		[MODEL_SACK] = SACK, [MODEL_RESERVED] = RESERVED,
		[MODEL_BAD_CSUM] = BAD_CSUM, [MODEL_TRAILER] = TRAILER,
		[MODEL_CUT] = CUT, [MODEL_IP_OPTION] = IP_OPTION,
		[MODEL_FRAGMENT] = FRAGMENT, [MODEL_UDP] = UDP,
		[MODEL_NO_IP] = NO_IP,
	};
	static const u8 flags[MODEL_KINDS] = {
		[MODEL_FIN] = FIN, [MODEL_SYN] = SYN, [MODEL_RST] = RST,
		[MODEL_URG] = URG, [MODEL_ECE] = ECE, [MODEL_CWR] = CWR,
	};
	u16 flow = pkt->flow;

	return (struct frame) {
		.seq = pkt->seq,
		.len = pkt->len,
		.what = whats[pkt->kind] |
			(flow & MODEL_FLOW_IPV6 ? IPV6 : 0) |
			(flow & MODEL_FLOW_SOURCE ? OTHER_ADDRESS : 0) |
			(flow & MODEL_FLOW_DESTINATION ? OTHER_DEST : 0) |
			(flow & MODEL_FLOW_SOURCE_PORT ? OTHER_SOURCE : 0) |
			(pkt->how & MODEL_STAMP ? STAMP : 0) |
			(in_band(pkt) ? VLAN_IN_BAND : 0) |
			(is_aggregate(pkt) ? AGGREGATE : 0) |
			(model_is_padded(pkt) ? PADDED : 0),
		.flags = flags[pkt->kind] | (pkt->how & MODEL_PSH ? PSH : 0),
		.no_ack = pkt->kind == MODEL_NO_ACK,
		.tsval = pkt->tsval,
		.port = 4000 + (flow & MODEL_FLOW_PORT) +
			(flow >> MODEL_FLOW_BITS) * 2,
		.vlan = vlan_of(pkt),
		.fill = fill,
		.form = pkt->seq,
	};
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
	struct frame f = describe(pkt, fill);
	struct sk_buff *skb;

	memset(frame->data, 0, MODEL_FRAME);
	frame->len = srpic_frame_put(frame->data, &f);
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

/* A verdict must be kept, and none is made without GRO. */
static bool is_verdict_wrong(const struct sk_buff *skb,
			     const struct model_pkt *pkt,
			     const void *frame, unsigned int len)
{
	__wsum difference;

	if (skb->csum_level || skb->ip_summed != verdict(pkt))
		return true;
	if (skb->ip_summed != CHECKSUM_COMPLETE)
		return false;
	/* 0 has two forms */
	difference = csum_sub(skb->csum, csum_partial(frame, len, 0));
	return (__force u16)csum_fold(difference) % 0xffff;
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
