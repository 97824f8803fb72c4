// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that GRO may merge, and a judge of what they have become: segmented, as
 * if they were forwarded, they must be what they were.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <net/gso.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/page_pool/helpers.h>
#include <net/tcp.h>

#include "merge_frame.h"

/* A page has a head in its first half, and fragments in its second one. */
#define HALF		(PAGE_SIZE / 2)

static __sum16 merge_tcp_sum(const struct merge_frame *mf, const u8 *ip,
			     unsigned int len, __wsum sum)
{
	const struct ipv6hdr *ip6h = (const void *)ip;
	const struct iphdr *iph = (const void *)ip;

	return mf->f.what & IPV6 ?
	       tcp_v6_check(len, &ip6h->saddr, &ip6h->daddr, sum) :
	       tcp_v4_check(len, iph->saddr, iph->daddr, sum);
}

/* Writes the bytes of a frame. */
void srpic_merge_write(struct merge_fixture *fix, unsigned int i)
{
	const struct merge_frame *mf = &fix->frame[i];
	unsigned int ip_hlen = merge_ip_hlen(mf), hlen = merge_hlen(mf);
	unsigned int tcp_len = hlen - ip_hlen + mf->f.len;
	struct ethhdr *eth = (void *)fix->bytes[i];
	u8 *ip = (u8 *)(eth + 1);
	struct tcphdr *th = (void *)(ip + ip_hlen);
	struct iphdr *iph = (void *)ip;
	struct frame f = mf->f;

	memset(eth, 0, MERGE_HEADERS);
	f.what &= ~VLAN_IN_BAND;
	fix->len[i] = ETH_HLEN + srpic_frame_put(ip, &f);
	eth->h_source[ETH_ALEN - 1] = mf->mac;
	eth->h_proto = f.what & IPV6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	memcpy(ip + hlen, fix->noise + f.seq % MERGE_BYTES, f.len);
	if (!(f.what & BAD_HEADER))
		ip[mf->at] ^= mf->flip;
	if (!(f.what & IPV6)) {
		iph->id = htons(mf->id);
		ip_send_check(iph);
	}
	if (f.what & BAD_HEADER)
		ip[mf->at] ^= mf->flip;
	th->check = 0;
	th->check = merge_tcp_sum(mf, ip, tcp_len,
				  csum_partial(th, tcp_len, 0));
	if (f.what & BAD_CSUM)
		th->check = csum16_add(th->check, htons(1));
}

/* Returns the page of a frame, of which there are so many parts. */
static struct page *merge_page(struct merge_fixture *fix, unsigned int i,
			       unsigned int parts)
{
	struct page *page;

	if (fix->frame[i].skb & RECYCLE) {
		page = page_pool_dev_alloc_pages(fix->pool);
		if (page)
			page_pool_fragment_page(page, parts);
		return page;
	}
	page = alloc_page(GFP_KERNEL);
	if (page)
		page_ref_add(page, parts);
	fix->page[i] = page;
	return page;
}

/* Takes the last fragment out of an skb, into an skb of its own. */
static void merge_chain(struct sk_buff *skb)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	struct sk_buff *list = alloc_skb(0, GFP_KERNEL);
	const skb_frag_t *frag;

	if (!list)
		return;
	frag = &shinfo->frags[--shinfo->nr_frags];
	skb_add_rx_frag(list, 0, skb_frag_page(frag), skb_frag_off(frag),
			skb_frag_size(frag), skb_frag_size(frag));
	shinfo->frag_list = list;
}

/* What is not in the bytes. */
static struct sk_buff *merge_dress(const struct merge_frame *mf, const u8 *ip,
				   struct sk_buff *skb)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	unsigned int ip_hlen = merge_ip_hlen(mf);
	u16 tci = mf->f.what & VLAN_PRIORITY ? 0xe005 : 5;
	struct tcphdr *th;

	skb_set_hash(skb, mf->hash, PKT_HASH_TYPE_L4);
	if (mf->f.what & VLAN)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), tci);
	if (mf->f.what & SUM_CSUM) {
		skb->ip_summed = CHECKSUM_COMPLETE;
		skb->csum = csum_partial(ip, skb->len, 0);
	} else if (mf->f.what & HOST_CSUM) {
		th = (void *)(skb->data + ip_hlen);
		th->check = ~merge_tcp_sum(mf, ip, skb->len - ip_hlen, 0);
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = (u8 *)th - skb->head;
		skb->csum_offset = offsetof(struct tcphdr, check);
	} else if (!(mf->f.what & NO_CSUM)) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	}
	if (mf->skb & RECYCLE)
		skb_mark_for_recycle(skb);
	if (mf->skb & OTHER_CPU)
		skb->alloc_cpu = !raw_smp_processor_id();
	if (mf->skb & SHARED)
		shinfo->flags |= SKBFL_SHARED_FRAG;
	if (mf->skb & METADATA)
		skb_metadata_set(skb, 4);
	if (mf->skb & FROM_NIC) {
		shinfo->gso_size = mf->f.len / 2;
		shinfo->gso_segs = 2;
		shinfo->gso_type = SKB_GSO_TCPV4;
	}
	if (mf->skb & CHAINED)
		merge_chain(skb);
	skb->slow_gro = !!(mf->skb & SLOW);
	skb->encapsulation = !!(mf->skb & TUNNEL);
#ifdef CONFIG_SKB_DECRYPTED
	skb->decrypted = !!(mf->skb & DECRYPTED);
#endif
	if (!(mf->f.what & VLAN_IN_BAND))
		return skb;
	skb_push(skb, ETH_HLEN);
	skb = vlan_insert_tag_set_proto(skb, htons(ETH_P_8021Q), tci);
	if (skb)
		skb_pull(skb, ETH_HLEN);
	return skb;
}

/* Makes an skb of a frame; skb->mark is its number. */
static struct sk_buff *merge_skb(struct merge_fixture *fix, unsigned int i)
{
	const struct merge_frame *mf = &fix->frame[i];
	unsigned int hlen = mf->f.what & PAGED ? 0 : merge_hlen(mf);
	unsigned int payload = fix->len[i] - ETH_HLEN - hlen, linear;
	unsigned int frags = 0, size, j, at;
	struct page *page = NULL;
	struct sk_buff *skb;

	linear = ETH_HLEN + hlen + min(payload, mf->linear);
	if (linear < fix->len[i])
		frags = min(fix->len[i] - linear, mf->frags ?: 1u);
	if (mf->head_frag + frags)
		page = merge_page(fix, i, mf->head_frag + frags);
	skb = mf->head_frag ? build_skb(page_address(page), HALF) :
	      alloc_skb(NET_SKB_PAD + max(linear, 192u), GFP_KERNEL);
	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
	skb_put_data(skb, fix->bytes[i], linear);
	skb_reset_mac_header(skb);
	__skb_pull(skb, ETH_HLEN);
	for (j = 0, at = linear; j < frags; j++, at += size) {
		size = j < frags - 1 ? (fix->len[i] - linear) / frags :
				       fix->len[i] - at;
		memcpy(page_address(page) + HALF + at - linear,
		       fix->bytes[i] + at, size);
		skb_add_rx_frag(skb, j, page, HALF + at - linear, size,
				SKB_DATA_ALIGN(size));
	}
	skb->dev = fix->dev.netdev;
	skb->mark = i;
	skb->protocol = ((struct ethhdr *)fix->bytes[i])->h_proto;
	skb_hwtstamps(skb)->hwtstamp = i + 1;
	return merge_dress(mf, fix->bytes[i] + ETH_HLEN, skb);
}

static void merge_note(struct merge_fixture *fix, const struct sk_buff *skb,
		       struct merge_piece *piece)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);
	const struct sk_buff *iter;

	if (piece->len) {
		fix->wrong = "two pieces with the same first frame";
		return;
	}
	piece->len = skb->len;
	piece->data_len = skb->data_len;
	piece->truesize = skb->truesize;
	piece->gso_type = shinfo->gso_type;
	piece->gso_size = shinfo->gso_size;
	piece->gso_segs = shinfo->gso_segs;
	piece->nr_frags = shinfo->nr_frags;
	skb_walk_frags(skb, iter) {
		piece->list_skbs++;
		piece->list_frags += skb_shinfo(iter)->nr_frags;
		piece->list_truesize += iter->truesize;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		piece->csum_start = skb_checksum_start_offset(skb);
		piece->csum_offset = skb->csum_offset;
	}
	/* who makes a sum depends on who looks at the packet */
	piece->ip_summed = skb->ip_summed ?: CHECKSUM_UNNECESSARY;
	if (skb_is_gso(skb))
		piece->transport = skb_transport_offset(skb);
	piece->stamp = skb_hwtstamps((struct sk_buff *)skb)->hwtstamp;
	skb_copy_bits(skb, -ETH_HLEN, piece->headers,
		      min(MERGE_HEADERS, ETH_HLEN + skb->len));
}

/* Judges a frame that came up alone; returns which one it is. */
static unsigned int merge_judge_frame(struct merge_fixture *fix,
				      struct merge_result *result,
				      const struct sk_buff *skb)
{
	unsigned int i, len = skb->len, begin;
	const struct merge_frame *mf;
	struct tcphdr *th;
	u16 tci;

	if (len > MERGE_BYTES || skb_copy_bits(skb, 0, fix->buf, len)) {
		fix->wrong = "a frame is too long";
		return 0;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		begin = skb_checksum_start_offset(skb);
		*(__sum16 *)(fix->buf + begin + skb->csum_offset) =
			csum_fold(csum_partial(fix->buf + begin, len - begin, 0));
	}
	th = (void *)(fix->buf + ETH_HLEN + merge_ip_hlen(fix->frame));
	/* the next one, most often */
	for (i = result->frames; ; i++) {
		mf = &fix->frame[i % fix->num];
		if (htonl(mf->f.seq) == th->seq)
			break;
		if (i - result->frames == fix->num) {
			fix->wrong = "a sequence number is new";
			return 0;
		}
	}
	i %= fix->num;
	tci = !(mf->f.what & (VLAN | VLAN_IN_BAND)) ? 0 :
	      mf->f.what & VLAN_PRIORITY ? 0xe005 : 5;
	if (len != fix->len[i])
		fix->wrong = "a frame has another length";
	else if (memcmp(fix->buf, fix->bytes[i], len))
		fix->wrong = "a frame has other bytes";
	else if (tci != (skb_vlan_tag_present(skb) ? skb_vlan_tag_get(skb) : 0))
		fix->wrong = "a frame has another tag";
	if (result->seen[i])
		fix->wrong = "a frame came twice";
	result->seen[i] = true;
	if (i != result->frames)
		result->sorted = false;
	result->frames++;
	return i;
}

/* Judges what came up as one. */
static void merge_judge(struct merge_fixture *fix, struct merge_result *result,
			struct sk_buff *skb)
{
	const struct merge_frame *mf = &fix->frame[skb->mark];
	struct sk_buff *segs = skb, *seg, *next;
	unsigned int i = 0, first = skb->mark;
	bool whole;
	size_t len;

	merge_note(fix, skb, &result->piece[first]);
	/* what the NIC has merged is, if no more was */
	whole = !skb_is_gso(skb) ||
		(mf->skb & FROM_NIC && skb->len + ETH_HLEN == fix->len[first]);
	skb_push(skb, ETH_HLEN);
	if (!whole)
		segs = __skb_gso_segment(skb, fix->features, true);
	if (IS_ERR_OR_NULL(segs)) {
		fix->wrong = "what came up cannot be segmented";
		segs = NULL;
	}
	skb_list_walk_safe(segs, seg, next) {
		if (!fix->wrong)
			i = merge_judge_frame(fix, result, seg);
		if (!whole)
			consume_skb(seg);
	}
	len = strlen(result->order);
	scnprintf(result->order + len, sizeof(result->order) - len,
		  i == first ? "%s%u" : "%s%u-%u", len ? " " : "", first, i);
	consume_skb(skb);
}

/*
 * Receives the frames, and judges what comes up. Nothing is wrong if all come, as
 * they were, and all pages are left.
 */
void srpic_merge_play(struct merge_fixture *fix, enum merge_way way)
{
	struct merge_result *result = &fix->result[way];
	struct sk_buff *skb[MERGE_FRAMES];
	unsigned int i;

	for (i = 0; i < fix->num; i++) {
		skb[i] = merge_skb(fix, i);
		if (!skb[i])
			fix->wrong = "no memory";
	}
	if (fix->wrong)
		return;
	srpic_fixture_begin(&fix->dev);
	for (i = 0; i < fix->num; i++) {
		if (way == MERGING)
			srpic_receive(&fix->dev.sn, skb[fix->arrival[i]]);
		else
			napi_gro_receive(&fix->dev.napi, skb[i]);
	}
	srpic_fixture_end(&fix->dev);

	memset(result, 0, sizeof(*result));
	result->sorted = true;
	while ((skb[0] = __skb_dequeue(&fix->out)))
		merge_judge(fix, result, skb[0]);
	if (!fix->wrong && result->frames != fix->num)
		fix->wrong = "not all frames came up";
	for (i = 0; i < fix->num; i++) {
		if (!fix->page[i])
			continue;
		if (page_ref_count(fix->page[i]) != 1)
			fix->wrong = "a page is lost, or free too early";
		put_page(fix->page[i]);
		fix->page[i] = NULL;
	}
}
