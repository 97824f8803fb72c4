/* SPDX-License-Identifier: GPL-2.0 */
/* Frames that GRO may merge, and a judge of what they have become. */
#ifndef _SRPIC_TESTS_MERGE_FRAME_H
#define _SRPIC_TESTS_MERGE_FRAME_H

#include <linux/if_ether.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>
#include <net/tcp.h>

#include "fixture.h"
#include "rx_frame.h"

#define MERGE_FRAMES	64			/* of one poll */
#define MERGE_BYTES	1536			/* of a frame */
#define MERGE_HEADERS	(ETH_HLEN + 72)		/* no more are merged */
#define MERGE_ALL	U16_MAX			/* all is linear */

/* What is special about the skb of a frame. */
enum {
	RECYCLE		= BIT(0),	/* pages of a page pool */
	OTHER_CPU	= BIT(1),	/* made by one */
	SHARED		= BIT(2),	/* fragments may change at any time */
	METADATA	= BIT(3),	/* of XDP */
	FROM_NIC	= BIT(4),	/* two packets, merged by the NIC */
	CHAINED		= BIT(5),	/* a list of fragments */
	SLOW		= BIT(6),	/* slow_gro */
	TUNNEL		= BIT(7),	/* encapsulation */
	DECRYPTED	= BIT(8),
};

/**
 * struct merge_frame - a frame, and the skb that it comes in
 * @f: what other tests can say of it; its payload depends on the sequence number
 * @id: identifier of IPv4
 * @at: where, from the IP header on, a byte is another one
 * @flip: which bits of that byte are
 * @mac: the last byte of the source's address
 * @hash: that of the flow
 * @head_frag: whether the head is a page fragment
 * @linear: how much payload is linear, at most
 * @frags: in how many fragments the rest is, 0: 1
 * @skb: what else there is
 */
struct merge_frame {
	struct frame f;
	u16 id;
	u8 at;
	u8 flip;
	u8 mac;
	u32 hash;
	bool head_frag;
	u16 linear;
	u8 frags;
	u32 skb;
};

/* What came up as one. */
struct merge_piece {
	u32 len;
	u32 data_len;
	u32 truesize;
	u32 gso_type;
	u16 gso_size;
	u16 gso_segs;
	u16 csum_start;
	u16 csum_offset;
	u8 ip_summed;
	u8 nr_frags;
	u8 list_skbs;
	u8 list_frags;
	u32 list_truesize;
	u32 transport;
	ktime_t stamp;
	u8 headers[MERGE_HEADERS];
};

enum merge_way {
	GRO_ALONE,
	MERGING,
	WAYS
};

/**
 * struct merge_result - what came up
 * @order: of the frames, those of a piece as "first-last"
 * @frames: how many there were
 * @seen: of a frame, whether it came
 * @sorted: whether each was behind the one before it
 * @piece: the pieces, each where its first frame is
 */
struct merge_result {
	char order[6 * MERGE_FRAMES];
	unsigned int frames;
	bool seen[MERGE_FRAMES];
	bool sorted;
	struct merge_piece piece[MERGE_FRAMES];
};

/**
 * struct merge_fixture - a device, and the frames of a poll that it has
 * @dev: the device
 * @pool: pages of RECYCLE
 * @features: of the device that what came up is segmented for
 * @polls: how many there have been, if the frames are random
 * @num: how many frames there are
 * @frame: the frames
 * @len: their lengths
 * @bytes: what is in them
 * @page: their pages, on each of which a reference is held
 * @arrival: the order in which SRPIC gets them
 * @out: what came up
 * @result: the same, judged
 * @wrong: what is wrong with it
 * @noise: where payload is taken from
 * @buf: a frame that came up
 */
struct merge_fixture {
	struct srpic_fixture dev;
	struct page_pool *pool;
	netdev_features_t features;
	unsigned int polls;
	unsigned int num;
	struct merge_frame frame[MERGE_FRAMES];
	unsigned int len[MERGE_FRAMES];
	u8 bytes[MERGE_FRAMES][MERGE_BYTES] __aligned(4);
	struct page *page[MERGE_FRAMES];
	u8 arrival[MERGE_FRAMES];
	struct sk_buff_head out;
	struct merge_result result[WAYS];
	const char *wrong;
	u8 noise[2 * MERGE_BYTES];
	u8 buf[MERGE_BYTES] __aligned(4);
};

static inline unsigned int merge_ip_hlen(const struct merge_frame *mf)
{
	return mf->f.what & IPV6 ? sizeof(struct ipv6hdr) :
				   sizeof(struct iphdr);
}

static inline unsigned int merge_hlen(const struct merge_frame *mf)
{
	return merge_ip_hlen(mf) + sizeof(struct tcphdr) +
	       (mf->f.what & STAMP ? TCPOLEN_TSTAMP_ALIGNED : 0);
}

void srpic_merge_write(struct merge_fixture *fix, unsigned int i);
void srpic_merge_play(struct merge_fixture *fix, enum merge_way way);

#endif /* _SRPIC_TESTS_MERGE_FRAME_H */
