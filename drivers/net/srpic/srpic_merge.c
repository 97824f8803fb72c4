// SPDX-License-Identifier: GPL-2.0
/*
 * Merging, see srpic_merge.h. What GRO would keep apart is not merged: the rules
 * are those of gro_list_prepare(), inet_gro_receive(), ipv6_gro_receive(),
 * tcp_gro_receive() and skb_gro_receive(). What is rare is left to these.
 */

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mm.h>
#include <net/checksum.h>
#include <net/gro.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "srpic_merge.h"
#include "srpic_sort.h"

/* An aggregate is shorter, from IP on, so that its length is that in the header. */
#define SRPIC_MERGED_MAX	65536

/* By so much srpic_id_off() grows if the identifier grows by one. */
#define SRPIC_ID_STEP		0x10000

/**
 * struct srpic_run - packets that become one
 * @first: the first of them, which gets the data of the others
 * @last: the one that the next data go to: @first, or the last one in its list of
 *	fragments
 * @ip_hlen: length of the IP header, in each of them
 * @hlen: the same with that of TCP
 * @mss: how much data the first one has; the others have as much, and the last one
 *	may have less
 * @room: how much data more there may be
 * @end_seq: sequence number behind the last one
 * @truesize: memory that the data of the others bring along
 * @segs: how many there are
 * @id_step: by how much srpic_id_off() grows with each
 * @id_off: that of the next one
 * @ip_sum: srpic_ip_sum() of the first one
 */
struct srpic_run {
	struct sk_buff *first;
	struct sk_buff *last;
	unsigned int ip_hlen;
	unsigned int hlen;
	unsigned int mss;
	unsigned int room;
	u32 end_seq;
	unsigned int truesize;
	unsigned int segs;
	u32 id_step;
	u32 id_off;
	u32 ip_sum;
};

static unsigned int srpic_payload_len(const struct sk_buff *skb)
{
	return SRPIC_CB(skb)->end_seq - SRPIC_CB(skb)->seq;
}

/* The IPv4 header, or the start of that of IPv6. */
static struct iphdr *srpic_iph(const struct sk_buff *skb)
{
	return (struct iphdr *)skb->data;
}

/* Whether a packet has an IPv4 header that can be read. */
static bool srpic_has_iph(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) &&
	       skb_headlen(skb) >= sizeof(struct iphdr);
}

/* IPv4's identifier, above its flags and fragment offset. */
static u32 srpic_id_off(const struct iphdr *iph)
{
	return ntohl(*(const __be32 *)&iph->id);
}

/*
 * The sum of what may differ between the IPv4 headers of a run. If one of them has a
 * good checksum, so have those where this is the same, modulo 0xffff.
 */
static u32 srpic_ip_sum(const struct iphdr *iph)
{
	return (__force u32)iph->tot_len + (__force u32)iph->id +
	       (__force u32)iph->check;
}

static bool srpic_is_ip_sum(u32 sum, u32 first_sum)
{
	return sum == first_sum || !((sum + 3 * 0xffff - first_sum) % 0xffff);
}

static __be32 *srpic_tcp(const struct srpic_run *run, const struct sk_buff *skb)
{
	return (void *)skb->data + run->ip_hlen;
}

/*
 * Whether nothing keeps a packet with so much data from being merged, but what is
 * ahead of it and behind. The headers are linear.
 */
static __always_inline bool
srpic_is_plain(const struct srpic_run *run, const struct sk_buff *skb,
	       unsigned int len)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	return skb->len == run->hlen + len && skb->data_len <= len &&
	       !(shinfo->flags | shinfo->meta_len | shinfo->gso_size) &&
	       !shinfo->frag_list && skb->ip_summed != CHECKSUM_PARTIAL &&
	       !skb->slow_gro && !skb->encapsulation;
}

/* Whether the headers of a packet, ports and sequence aside, continue the run. */
static __always_inline bool
srpic_headers_continue(const struct srpic_run *run, const struct sk_buff *skb)
{
	const __be32 *tcp = srpic_tcp(run, skb);
	const __be32 *first_tcp = srpic_tcp(run, run->first);
	const struct iphdr *first_iph = srpic_iph(run->first);
	const struct iphdr *iph = srpic_iph(skb);

	if (run->ip_hlen == sizeof(*iph)) {
		if (iph->tos != first_iph->tos || iph->ttl != first_iph->ttl ||
		    srpic_id_off(iph) != run->id_off ||
		    !srpic_is_ip_sum(srpic_ip_sum(iph), run->ip_sum))
			return false;
	} else if (*(const __be32 *)iph != *(const __be32 *)first_iph ||
		   ((const struct ipv6hdr *)iph)->hop_limit !=
		   ((const struct ipv6hdr *)first_iph)->hop_limit) {
		return false;
	}

	/* ACK number, flags and window, urgent pointer, and the TSecr */
	return tcp[2] == first_tcp[2] &&
	       !((tcp[3] ^ first_tcp[3]) & ~TCP_FLAG_PSH) &&
	       !((tcp[4] ^ first_tcp[4]) & htonl(0xffff)) &&
	       (!SRPIC_CB(skb)->stamp || tcp[7] == first_tcp[7]);
}

/* Whether a packet with so much data continues a run. */
static __always_inline bool
srpic_continues(const struct srpic_run *run, const struct sk_buff *skb,
		unsigned int len)
{
	const struct sk_buff *first = run->first;

	return SRPIC_CB(skb)->seq == run->end_seq &&
	       SRPIC_CB(skb)->stamp == SRPIC_CB(first)->stamp &&
	       len <= run->mss && len <= run->room &&
	       skb->protocol == first->protocol &&
	       srpic_is_plain(run, skb, len) &&
	       skb_get_hash_raw(skb) == skb_get_hash_raw(first) &&
	       skb->vlan_all == first->vlan_all &&
	       skb->pp_recycle == first->pp_recycle &&
	       !skb_cmp_decrypted(skb, first) &&
	       !compare_ether_header(skb_mac_header(skb),
				     skb_mac_header(first)) &&
	       srpic_headers_continue(run, skb);
}

/*
 * Whether the IPv4 header of the first packet is one that GRO takes, and the next
 * one's identifier lets them be merged: it grows by one, or is the same.
 */
static bool srpic_begin_ipv4(struct srpic_run *run, const struct sk_buff *next)
{
	const struct iphdr *iph = srpic_iph(run->first);

	if (!srpic_has_iph(next))
		return false;
	run->id_off = srpic_id_off(srpic_iph(next));
	run->id_step = run->id_off - srpic_id_off(iph);
	run->ip_sum = srpic_ip_sum(iph);
	return (run->id_step == SRPIC_ID_STEP ||
		(!run->id_step && (iph->frag_off || !SRPIC_SAME_ID_NEEDS_DF))) &&
	       !(iph->frag_off & ~htons(IP_DF)) &&
	       !ip_fast_csum(iph, sizeof(*iph) / 4);
}

/*
 * Frees what is left of a packet whose head has become a fragment. That is what
 * napi_skb_free_stolen_head() is for, which modules cannot call. Without a head,
 * napi_consume_skb() does the same; but of a packet that another CPU made, later
 * kernels look at the head.
 */
static void srpic_free_without_head(struct sk_buff *skb)
{
	if (likely(skb->alloc_cpu == raw_smp_processor_id())) {
		skb->head = NULL;
		napi_consume_skb(skb, 1);
	} else {
		kfree_skb_partial(skb, true);
	}
}

/*
 * Moves the data of a packet, which are in fragments or can be one, to another, if
 * there is room.
 */
static __always_inline bool
srpic_move(struct srpic_run *run, struct sk_buff *skb, unsigned int len)
{
	struct skb_shared_info *from = skb_shinfo(skb);
	struct skb_shared_info *to = skb_shinfo(run->last);
	unsigned int linear = len - skb->data_len;
	skb_frag_t *frag = &to->frags[to->nr_frags];
	unsigned int truesize = skb->truesize, i;
	void *data = skb->data + run->hlen;
	struct page *page;

	if (to->nr_frags + from->nr_frags + !!linear > MAX_SKB_FRAGS ||
	    (linear && !skb->head_frag))
		return false;
	if (linear) {
		page = virt_to_head_page(skb->head);
		skb_frag_fill_page_desc(frag++, page,
					data - page_address(page), linear);
	}
	for (i = 0; i < from->nr_frags; i++)
		*frag++ = from->frags[i];
	to->nr_frags += !!linear + from->nr_frags;
	if (linear) {
		truesize -= SKB_DATA_ALIGN(sizeof(*skb));
		srpic_free_without_head(skb);
	} else {
		truesize -= SKB_TRUESIZE(skb_end_offset(skb));
		from->nr_frags = 0;
		napi_consume_skb(skb, 1);
	}
	run->truesize += truesize;
	if (run->last != run->first) {
		run->last->len += len;
		run->last->data_len += len;
		run->last->truesize += truesize;
	}
	return true;
}

/* Adds a packet to the list of fragments. */
static void srpic_chain(struct srpic_run *run, struct sk_buff *skb)
{
	skb_mark_not_on_list(skb);
	__skb_pull(skb, run->hlen);
	__skb_header_release(skb);
	if (run->last == run->first)
		skb_shinfo(run->first)->frag_list = skb;
	else
		run->last->next = skb;
	run->last = skb;
	run->truesize += skb->truesize;
}

/* Makes a packet of a run, in the way of inet_gro_complete() and the like. */
static void srpic_finish(const struct srpic_run *run, __be32 push)
{
	struct sk_buff *skb = run->first;
	unsigned int len = run->end_seq - SRPIC_CB(skb)->end_seq;
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	struct tcphdr *th = (void *)srpic_tcp(run, skb);
	unsigned int tcp_len;

	skb->len += len;
	skb->data_len += len;
	skb->truesize += run->truesize;
	tcp_len = skb->len - run->ip_hlen;

	if (run->ip_hlen == sizeof(struct iphdr)) {
		struct iphdr *iph = srpic_iph(skb);
		__be16 tot_len = htons(skb->len);

		csum_replace2(&iph->check, iph->tot_len, tot_len);
		iph->tot_len = tot_len;
		th->check = ~tcp_v4_check(tcp_len, iph->saddr, iph->daddr, 0);
		shinfo->gso_type = SKB_GSO_TCPV4;
		if (!run->id_step)
			shinfo->gso_type |= SKB_GSO_TCP_FIXEDID;
	} else {
		struct ipv6hdr *ip6h = (void *)skb->data;

		ip6h->payload_len = htons(tcp_len);
		th->check = ~tcp_v6_check(tcp_len, &ip6h->saddr, &ip6h->daddr, 0);
		shinfo->gso_type = SKB_GSO_TCPV6;
	}
	tcp_flag_word(th) |= push;
	shinfo->gso_size = run->mss;
	shinfo->gso_segs = run->segs;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = (unsigned char *)th - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
}

/*
 * Merges with a packet what follows it, linked by skb->next. Returns the first one
 * that has not become a part of it, or NULL.
 */
static struct sk_buff *srpic_merge(struct sk_buff *skb)
{
	struct srpic_run run = {
		.first = skb,
		.last = skb,
		.ip_hlen = sizeof(struct ipv6hdr),
		.mss = srpic_payload_len(skb),
		.end_seq = SRPIC_CB(skb)->end_seq,
		.segs = 1,
	};
	struct sk_buff *next = skb->next, *after;
	unsigned int len, max;
	__be32 push = 0;

	skb_mark_not_on_list(skb);
	if (!next)
		return NULL;
	if (srpic_has_iph(skb)) {
		if (!srpic_begin_ipv4(&run, next))
			return next;
		run.ip_hlen = sizeof(struct iphdr);
	} else if (skb->protocol != htons(ETH_P_IPV6)) {
		return next;
	}
	run.hlen = run.ip_hlen + sizeof(struct tcphdr) +
		   (SRPIC_CB(skb)->stamp ? TCPOLEN_TSTAMP_ALIGNED : 0);
	max = min(netif_get_gro_max_size(skb->dev, skb), SRPIC_MERGED_MAX);
	if (!srpic_is_plain(&run, skb, run.mss) || skb->len >= max ||
	    srpic_tcp(&run, skb)[3] & (TCP_FLAG_PSH | TCP_FLAG_FIN))
		return next;

	run.room = max - 1 - skb->len;
	do {
		len = srpic_payload_len(next);
		if (!srpic_continues(&run, next, len))
			break;
		push = srpic_tcp(&run, next)[3] & TCP_FLAG_PSH;
		after = next->next;
		if (!srpic_move(&run, next, len))
			srpic_chain(&run, next);
		next = after;
		run.end_seq += len;
		run.room -= len;
		run.segs++;
		run.id_off += run.id_step;
	} while (next && !push && len == run.mss);

	if (run.segs > 1)
		srpic_finish(&run, push);
	return next;
}

/**
 * srpic_receive_merged - hand packets to GRO, as few as they can be
 * @napi: the NAPI instance that is polled
 * @skb: the first one; they are of one flow, suitable, and linked by skb->next
 * @merged: whether packets of the flow were merged before
 *
 * GRO holds nothing when it gets a merged packet, and keeps none that it gets here
 * from then on: what it takes for another flow's, by hash, priority or flow label,
 * might else overtake a packet that it would have merged, and not kept. Nor does it
 * know whether identifiers grow in a merged packet. Before, it keeps none of these
 * packets that has another hash: when flushed, they leave in the order of hashes.
 *
 * In GRO's batches (net.core.gro_normal_batch), a merged packet counts as its
 * segments, unless GRO cannot keep it: then as one.
 *
 * Context: as for srpic_receive().
 *
 * Return: whether packets of the flow were merged by now.
 */
bool srpic_receive_merged(struct napi_struct *napi, struct sk_buff *skb,
			  bool merged)
{
	u32 hash = skb_get_hash_raw(skb);
	struct sk_buff *follows, *next;

	for (; skb; skb = next) {
		follows = skb->next;
		next = srpic_merge(skb);
		if (next != follows || skb_get_hash_raw(skb) != hash)
			napi_gro_flush(napi, false);
		merged |= next != follows;
		hash = skb_get_hash_raw(skb);
		napi_gro_receive(napi, skb);
		if (merged)
			napi_gro_flush(napi, false);
	}
	return merged;
}
