// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path: which packets are suitable, which manager is theirs, and
 * when blocks are flushed.
 *
 *   srpic_receive() -> srpic_classify() -> SRPIC_TAKE ---> a manager's block
 *                                          SRPIC_BARRIER   |
 *                                          SRPIC_PASS      | a flush
 *                                          |               v
 *                                          +-----------> napi_gro_receive()
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "srpic_priv.h"

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

#define SRPIC_TCP_FLAGS		(TCP_RESERVED_BITS | TCP_FLAG_CWR | \
				 TCP_FLAG_ECE | TCP_FLAG_URG | TCP_FLAG_ACK | \
				 TCP_FLAG_RST | TCP_FLAG_SYN | TCP_FLAG_FIN)

/* The usual layout of the timestamp option: NOP, NOP, timestamp. */
#define SRPIC_TIMESTAMP_HEAD	htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) | \
				      (TCPOPT_TIMESTAMP << 8) | \
				      TCPOLEN_TIMESTAMP)
#define SRPIC_TIMESTAMP_DOFF	((sizeof(struct tcphdr) + \
				  TCPOLEN_TSTAMP_ALIGNED) / 4)

static void srpic_count(struct srpic *srpic, enum srpic_stat stat)
{
	u64_stats_update_begin(&srpic->syncp);
	u64_stats_inc(&srpic->count[stat]);
	u64_stats_update_end(&srpic->syncp);
}

/* Sends up all packets of a manager, in order, and empties its block. */
static void srpic_deliver(struct srpic *srpic, struct napi_struct *napi,
			  struct srpic_manager *manager, enum srpic_stat cause)
{
	struct sk_buff *skb, *next;
	LIST_HEAD(sorted);

	srpic_block_take(&manager->block, &sorted);
	srpic_count(srpic, cause);

	list_for_each_entry_safe(skb, next, &sorted, list) {
		skb_list_del_init(skb);
		napi_gro_receive(napi, skb);
	}
}

static void srpic_flush_manager(struct srpic *srpic, struct napi_struct *napi,
				struct srpic_manager *manager,
				enum srpic_stat cause)
{
	srpic_deliver(srpic, napi, manager, cause);
	srpic_table_close(manager);
}

static void srpic_flush_managers(struct srpic *srpic, struct napi_struct *napi,
				 enum srpic_stat cause)
{
	struct srpic_manager *manager, *next;

	list_for_each_entry_safe(manager, next, &srpic->table.used, node)
		srpic_flush_manager(srpic, napi, manager, cause);
	srpic->taken = 0;
}

/* Settings change between two full flushes only. */
static void srpic_read_settings(struct srpic *srpic)
{
	const struct srpic_net *sn = srpic_net(dev_net(srpic->dev->netdev));
	unsigned int pkts = READ_ONCE(sn->full_flush_pkts);

	if (!pkts)
		pkts = READ_ONCE(srpic->dev->ring_pkts);
	srpic->full_flush_pkts = pkts ?: SRPIC_FULL_FLUSH_PKTS_MAX;
	srpic->block_size = READ_ONCE(sn->block_size);
}

/* One round of the loop in Listing 1, for a suitable packet. */
static void srpic_take(struct srpic *srpic, struct napi_struct *napi,
		       struct sk_buff *skb, const struct srpic_key *key)
{
	struct srpic_table *table = &srpic->table;
	struct srpic_manager *manager;
	enum srpic_place place;

	if (!srpic->taken)
		srpic_read_settings(srpic);

	manager = srpic_table_find(table, key);
	if (!manager) {
		manager = srpic_table_pick(table, key);
		if (manager->block.pkts)
			srpic_flush_manager(srpic, napi, manager,
					    SRPIC_FLUSH_EVICT);
		srpic_table_open(table, manager, key);
	}

	place = srpic_block_add(&manager->block, skb);
	if (place == SRPIC_REFUSED_OVERLAP) {
		srpic_deliver(srpic, napi, manager, SRPIC_FLUSH_OVERLAP);
		place = srpic_block_add(&manager->block, skb);
	} else if (place == SRPIC_REFUSED_TIMESTAMP) {
		srpic_deliver(srpic, napi, manager, SRPIC_FLUSH_TIMESTAMP);
		place = srpic_block_add(&manager->block, skb);
	}
	if (place != SRPIC_CURR)
		srpic_count(srpic, SRPIC_PACKETS_OUT_OF_ORDER);
	srpic_count(srpic, SRPIC_PACKETS_TAKEN);

	if (manager->block.pkts >= srpic->block_size)
		srpic_flush_manager(srpic, napi, manager, SRPIC_FLUSH_BLOCK);
	if (++srpic->taken >= srpic->full_flush_pkts)
		srpic_flush_managers(srpic, napi, SRPIC_FLUSH_RING);
}

/*
 * Whether the sequence number can be trusted. Where the NIC gave no verdict,
 * the sum is made here and the verdict noted, so that GRO need not make it.
 */
static bool srpic_csum_is_good(struct sk_buff *skb, const struct srpic_ip *ip,
			       const struct srpic_key *key)
{
	__wsum csum = skb->csum;

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
	csum = csum_add(csum, csum_partial(&key->word[1],
					   (key->words - 1) * sizeof(u64), 0));
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
	const struct tcphdr *th;
	struct tcphdr _th;
	int payload;

	th = skb_header_pointer(skb, ip->tcp_offset, sizeof(_th), &_th);
	if (!th)
		return SRPIC_BARRIER_ALL;

	key->word[0] |= (u64)ntohs(th->source) << 48 | (u64)ntohs(th->dest) << 32;

	payload = ip->tcp_len - th->doff * 4;
	if (ip->has_options || payload <= 0 || ip->trailer < 0 ||
	    (tcp_flag_word(th) & SRPIC_TCP_FLAGS) != TCP_FLAG_ACK)
		return SRPIC_BARRIER;

	cb->seq = ntohl(th->seq);
	cb->end_seq = cb->seq + payload;
	cb->tsval = 0;
	cb->has_tsval = th->doff == SRPIC_TIMESTAMP_DOFF;
	if (cb->has_tsval) {
		const __be32 *option;
		__be32 _option[2];

		option = skb_header_pointer(skb, ip->tcp_offset + sizeof(_th),
					    sizeof(_option), &_option);
		if (!option || option[0] != SRPIC_TIMESTAMP_HEAD)
			return SRPIC_BARRIER;
		cb->tsval = ntohl(option[1]);
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
	const struct iphdr *iph;
	struct srpic_ip ip;
	struct iphdr _iph;

	iph = skb_header_pointer(skb, offset, sizeof(_iph), &_iph);
	if (!iph || iph->version != 4 || iph->ihl < 5 ||
	    iph->protocol != IPPROTO_TCP)
		return SRPIC_PASS;
	if (ip_is_fragment(iph))
		return SRPIC_BARRIER_ALL;

	key->words = 2;
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
	const struct ipv6hdr *iph;
	struct ipv6hdr _iph;
	struct srpic_ip ip;

	iph = skb_header_pointer(skb, offset, sizeof(_iph), &_iph);
	if (!iph || iph->version != 6)
		return SRPIC_PASS;
	if (iph->nexthdr != IPPROTO_TCP)
		return ipv6_ext_hdr(iph->nexthdr) ? SRPIC_BARRIER_ALL :
						    SRPIC_PASS;

	key->words = 5;
	memcpy(&key->word[1], &iph->addrs, sizeof(iph->addrs));

	ip.tcp_offset = offset + sizeof(_iph);
	ip.tcp_len = ntohs(iph->payload_len);
	ip.has_options = false;
	ip.trailer = srpic_trailer(skb, offset, sizeof(_iph) + ip.tcp_len);
	return srpic_parse_tcp(skb, &ip, key);
}

/*
 * The VLAN in a key. A tag with identifier 0 says a priority only, and the
 * priority is no part of a flow.
 */
static u64 srpic_vlan(__be16 proto, u16 tci)
{
	u64 vid = tci & VLAN_VID_MASK;

	return vid && proto == htons(ETH_P_8021AD) ? vid | BIT(12) : vid;
}

/* The flow that a packet belongs to goes to key, if it is TCP and whole. */
static enum srpic_class srpic_classify(struct sk_buff *skb,
				       struct srpic_key *key)
{
	__be16 proto = skb->protocol;
	unsigned int offset = 0;

	key->dev = skb->dev;
	key->word[0] = 0;
	if (skb_vlan_tag_present(skb)) {
		key->word[0] = srpic_vlan(skb->vlan_proto,
					  skb_vlan_tag_get(skb));
	} else if (eth_type_vlan(proto)) {
		const struct vlan_hdr *vh;
		struct vlan_hdr _vh;

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

/**
 * __srpic_receive - receive a packet while SRPIC is on
 * @srpic: the context of this poll
 * @napi: the NAPI instance that is polled
 * @skb: the packet; consumed
 *
 * Drivers call srpic_receive().
 *
 * Context: the poll function of @napi.
 */
void __srpic_receive(struct srpic *srpic, struct napi_struct *napi,
		     struct sk_buff *skb)
{
	struct srpic_manager *manager;
	struct srpic_key key;

	switch (srpic_classify(skb, &key)) {
	case SRPIC_TAKE:
		srpic_take(srpic, napi, skb, &key);
		return;
	case SRPIC_BARRIER:
		manager = srpic_table_find(&srpic->table, &key);
		if (manager)
			srpic_flush_manager(srpic, napi, manager,
					    SRPIC_FLUSH_BARRIER);
		break;
	case SRPIC_BARRIER_ALL:
		srpic_flush_managers(srpic, napi, SRPIC_FLUSH_BARRIER);
		break;
	case SRPIC_PASS:
		break;
	}
	srpic_count(srpic, SRPIC_PACKETS_PASSED);
	napi_gro_receive(napi, skb);
}
EXPORT_SYMBOL_GPL(__srpic_receive);

/**
 * __srpic_flush - deliver all that is held
 * @srpic: the context of this poll
 * @napi: the NAPI instance that is polled
 *
 * Drivers call srpic_flush().
 *
 * Context: the poll function of @napi.
 */
void __srpic_flush(struct srpic *srpic, struct napi_struct *napi)
{
	/*
	 * After napi_complete_done() it would be somebody else's. That is seen
	 * here while nobody has it, not once it has been scheduled again.
	 */
	DEBUG_NET_WARN_ON_ONCE(!(READ_ONCE(napi->state) &
				 (NAPIF_STATE_SCHED | NAPIF_STATE_NPSVC)));

	srpic_flush_managers(srpic, napi, SRPIC_FLUSH_POLL);
}
EXPORT_SYMBOL_GPL(__srpic_flush);
