/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the reference model is told of a run, by the generator and the fixture
 * beside it. The judge, tests/model.c, tests/model_blocks.c and
 * tests/model_hold.c, shares with the library nothing but the names of its
 * counters.
 */
#ifndef _SRPIC_TESTS_MODEL_H
#define _SRPIC_TESTS_MODEL_H

#include <linux/bits.h>
#include <linux/prandom.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "../srpic_priv.h"

struct kunit;

#define MODEL_PKTS	320		/* in a trace, at most */
#define MODEL_BLOCK	128		/* packets in a block, at most */
#define MODEL_TABLE	128		/* flows that can be held */
#define MODEL_WAYS	4		/* flows that can be held for one hash */
#define MODEL_LINEAR	64		/* longest payload that is no aggregate */
#define MODEL_SHORT	6		/* payload for which no padding is needed */
#define MODEL_FRAME	256		/* longest frame without an aggregate's payload */
#define MODEL_TEXT	320		/* longest line about a packet */

/* The number of a flow says what its headers are. */
#define MODEL_FLOW_PORT		BIT(0)
#define MODEL_FLOW_VLAN		(BIT(1) | BIT(2))
#define MODEL_FLOW_SOURCE_PORT	BIT(3)
#define MODEL_FLOW_SOURCE	BIT(4)
#define MODEL_FLOW_DESTINATION	BIT(5)
#define MODEL_FLOW_IPV6		BIT(6)
#define MODEL_FLOW_BITS		7	/* above: more destination ports */
#define MODEL_FLOWS		1024

/* What decides between which two hosts, on which link, a packet travels. */
#define MODEL_FLOW_HOSTS	(MODEL_FLOW_VLAN | MODEL_FLOW_SOURCE | \
				 MODEL_FLOW_DESTINATION | MODEL_FLOW_IPV6)

enum model_kind {
	MODEL_DATA,			/* can be sorted */
	MODEL_FIN,			/* likewise; all below cannot */
	MODEL_SYN,
	MODEL_RST,
	MODEL_URG,
	MODEL_ECE,
	MODEL_CWR,
	MODEL_NO_ACK,
	MODEL_PURE_ACK,
	MODEL_SACK,
	MODEL_RESERVED,
	MODEL_BAD_CSUM,
	MODEL_TRAILER,			/* the frame is longer than the packet */
	MODEL_CUT,			/* the frame is shorter: IP drops it */
	MODEL_IP_OPTION,
	MODEL_FRAGMENT,
	MODEL_UDP,			/* no TCP from here on */
	MODEL_TWO_TAGS,
	MODEL_NO_IP,
	MODEL_KINDS
};

/* What else there is to a packet. */
#define MODEL_STAMP	BIT(0)		/* TSval */
#define MODEL_LAST	BIT(1)		/* of its poll */
#define MODEL_PSH	BIT(2)
#define MODEL_IN_BAND	BIT(3)		/* the NIC left the VLAN tag in */
#define MODEL_PRIORITY	BIT(4)		/* a tag with another priority */
#define MODEL_UNSUMMED	BIT(5)		/* the NIC gave no checksum verdict */
#define MODEL_PAGED	BIT(6)		/* no header is linear */
#define MODEL_PADDED	BIT(7)		/* to the least length of a frame */
#define MODEL_SUMMED	BIT(8)		/* ... but the sum, if not UNSUMMED */
#define MODEL_SWITCH	BIT(9)		/* on or off, behind its poll */
#define MODEL_BUDGET	BIT(10)		/* uses up that of its poll, which goes on */
#define MODEL_HOWS	11

struct model_pkt {
	u32 seq;
	u32 tsval;
	u16 len;
	u16 flow;
	u16 how;
	u8 kind;
	u8 pause;			/* in us, behind its poll */
};

/**
 * struct model_trace - what a context receives
 * @name: for the log
 * @block_size: net.srpic.block_size
 * @limit: net.srpic.full_flush_pkts
 * @ring: descriptors in the receive ring
 * @hash: seed of the table's hash; 0: all flows fall into one set
 * @hold_usecs: net.srpic.hold_usecs
 * @num: number of packets
 * @pkt: in order of arrival; the softirq ends behind the last one in any case,
 *	and then NAPI stops, unless SRPIC was switched off
 */
struct model_trace {
	const char *name;
	unsigned int block_size;
	unsigned int limit;
	unsigned int ring;
	u64 hash;
	unsigned int hold_usecs;
	unsigned int num;
	const struct model_pkt *pkt;
};

/*
 * Time in a run: a packet that leaves while packet i is received, or as a poll
 * begins with i, leaves at 2 i; one that leaves as i's poll ends, at 2 i + 1;
 * what is left when all have been received, at twice their number.
 */
#define MODEL_LATE	(UINT_MAX - 1)	/* after the flush */
#define MODEL_NONE	UINT_MAX	/* never; or no block */

#define MODEL_ALTERED	BIT(0)
#define MODEL_ASTRAY	BIT(1)		/* left another way */

/**
 * struct model_run - what became of a trace
 * @trace: what went in
 * @num: number of packets that came out
 * @id: which, in the order in which they left
 * @time: when, likewise
 * @fault: MODEL_ALTERED and MODEL_ASTRAY, by the number of the packet
 * @held: what the gauge said behind a softirq, by the number of its last packet
 * @alarm: when the timer was to fire then, in us; UINT_MAX: never
 * @count: how far the counters went up
 */
struct model_run {
	const struct model_trace *trace;
	unsigned int num;
	u16 id[MODEL_PKTS + 1];	/* one too many shows */
	unsigned int time[MODEL_PKTS + 1];
	u8 fault[MODEL_PKTS];
	u64 held[MODEL_PKTS];
	unsigned int alarm[MODEL_PKTS];
	u64 count[SRPIC_STATS];
};

enum model_invariant {
	MODEL_PERMUTATION,
	MODEL_UNALTERED,
	MODEL_SORTED,
	MODEL_NO_NEW_REORDERING,
	MODEL_PAWS,
	MODEL_ONE_WAY_OUT,
	MODEL_EMPTY_IN_TIME,
	MODEL_WAITS_FOR_A_HOLE,
	MODEL_BOUNDED,
	MODEL_FLUSHED_FOR_A_CAUSE,
	MODEL_COUNTED,
	MODEL_INVARIANTS
};

/**
 * struct model_frame - what a packet looked like
 * @skb: the packet
 * @was: what was in it
 * @len: bytes in @data
 * @data: all but the payload of an aggregate
 */
struct model_frame {
	const struct sk_buff *skb;
	struct sk_buff was;
	unsigned int len;
	u8 data[MODEL_FRAME];
};

/**
 * struct model_block - packets of one flow that should leave together, or, with
 *	hold, that did
 * @flow: the flow
 * @first: its first packet
 * @last: its last packet
 * @pkts: how many there are
 * @left: when it should leave, or did
 */
struct model_block {
	u16 flow;
	u16 first;
	u16 last;
	u16 pkts;
	unsigned int left;
};

/**
 * struct model - the model's view of a run
 * @run: the run
 * @place: where in the order of leaving a packet was, by its number
 * @left: when it left
 * @came: when its poll was, in us
 * @block_of: index of the block that it should be in
 * @blocks: number of blocks
 * @block: these
 * @flows: number of flows up to a packet, with hold
 * @one_or_two: how many of the blocks may be one with another
 * @seen: the last packet at which a flow was counted
 * @count: what the counters should say
 * @overlap_or_stamp: blocks with both these causes, and not in @count
 * @ring_or_evict: likewise
 * @longest: longest block so far, of all runs
 * @most_flows: most flows held at a time so far, of all runs
 * @culprit: up to two packets for each invariant that was found broken
 */
struct model {
	const struct model_run *run;
	unsigned int place[MODEL_PKTS];
	unsigned int left[MODEL_PKTS];
	unsigned int came[MODEL_PKTS];
	unsigned int block_of[MODEL_PKTS];
	unsigned int blocks;
	struct model_block block[MODEL_PKTS];
	unsigned int flows[MODEL_PKTS];
	unsigned int one_or_two;
	u16 seen[MODEL_FLOWS];
	u64 count[SRPIC_COUNTERS];
	unsigned int overlap_or_stamp;
	unsigned int ring_or_evict;
	unsigned int longest;
	unsigned int most_flows;
	int culprit[MODEL_INVARIANTS][2];
};

/* How far a is above b: both count modulo 2^32. */
static inline s64 model_above(u32 a, u32 b)
{
	return (s32)(a - b);
}

static inline bool model_is_last(const struct model_trace *trace,
				 unsigned int i)
{
	return trace->pkt[i].how & MODEL_LAST || i == trace->num - 1;
}

static inline bool model_ends_poll(const struct model_trace *trace,
				   unsigned int i)
{
	return model_is_last(trace, i) || trace->pkt[i].how & MODEL_BUDGET;
}

static inline bool model_switches(const struct model_trace *trace,
				  unsigned int i)
{
	return model_is_last(trace, i) && trace->pkt[i].how & MODEL_SWITCH;
}

static inline unsigned int model_limit(const struct model_trace *trace)
{
	return trace->limit ?: trace->ring ?: UINT_MAX;
}

/* Whether there is padding: only data can be short enough, in IPv4. */
static inline bool model_is_padded(const struct model_pkt *pkt)
{
	return pkt->kind == MODEL_DATA && pkt->how & MODEL_PADDED &&
	       !(pkt->how & MODEL_STAMP) && !(pkt->flow & MODEL_FLOW_IPV6) &&
	       pkt->len < MODEL_SHORT;
}

/* Whether nobody summed it: an aggregate always has a verdict. */
static inline bool model_is_unsummed(const struct model_pkt *pkt)
{
	return pkt->how & MODEL_UNSUMMED && pkt->len <= MODEL_LINEAR;
}

/*
 * Whether it can be sorted: nobody makes a sum while GRO is off, as it is here,
 * and one that the NIC made does not say what the padding adds.
 */
static inline bool model_is_suitable(const struct model_pkt *pkt)
{
	return pkt->kind <= MODEL_FIN && !model_is_unsummed(pkt) &&
	       !(model_is_padded(pkt) && pkt->how & MODEL_SUMMED);
}

/* How many sequence numbers it takes. */
static inline u32 model_span(const struct model_pkt *pkt)
{
	return pkt->len + (pkt->kind == MODEL_FIN);
}

/* Which flows a packet may be of. */
enum model_scope {
	MODEL_SCOPE_NONE,		/* no TCP */
	MODEL_SCOPE_FLOW,
	MODEL_SCOPE_HOSTS,		/* any of these: ports are not looked for */
};

static inline enum model_scope model_scope(const struct model_pkt *pkt)
{
	if (pkt->kind >= MODEL_UDP || pkt->kind == MODEL_CUT)
		return MODEL_SCOPE_NONE;
	if (pkt->kind == MODEL_FRAGMENT || pkt->kind == MODEL_IP_OPTION ||
	    pkt->kind == MODEL_TRAILER)
		return MODEL_SCOPE_HOSTS;
	return MODEL_SCOPE_FLOW;
}

/* Whether the two are between the same hosts. */
static inline bool model_is_same_pair(u16 flow, u16 other)
{
	return !((flow ^ other) & MODEL_FLOW_HOSTS);
}

/* Whether the two may be of one connection. */
static inline bool model_is_related(const struct model_pkt *a,
				    const struct model_pkt *b)
{
	enum model_scope scope_a = model_scope(a), scope_b = model_scope(b);

	if (scope_a == MODEL_SCOPE_NONE || scope_b == MODEL_SCOPE_NONE)
		return false;
	if (scope_a == MODEL_SCOPE_HOSTS || scope_b == MODEL_SCOPE_HOSTS)
		return model_is_same_pair(a->flow, b->flow);
	return a->flow == b->flow;
}

/* Names the culprits; false, to be returned. */
static inline bool model_broken(struct model *model,
				enum model_invariant invariant, int a, int b)
{
	model->culprit[invariant][0] = a;
	model->culprit[invariant][1] = b;
	return false;
}

/* tests/model.c */
unsigned long srpic_model_judge(struct model *model,
				const struct model_run *run);
void srpic_model_explain(const struct model *model,
			 enum model_invariant invariant, char *buf, size_t len);

/* tests/model_blocks.c */
void srpic_model_find_blocks(struct model *model);

/* tests/model_hold.c: of traces with hold */
void srpic_model_see_blocks(struct model *model);
bool srpic_model_keeps_deadlines(struct model *model);
bool srpic_model_waits(struct model *model);
bool srpic_model_hold_counted(struct model *model);

/* tests/model_trace.c */
enum model_shape {
	MODEL_RANDOM,
	MODEL_LONGEST_BLOCK,		/* in one flow, if the library can */
	MODEL_MANY_FLOWS,
	MODEL_SHAPES
};

void srpic_model_trace(struct rnd_state *rnd, enum model_shape shape,
		       struct model_trace *trace, struct model_pkt *pkt);

/* tests/model_frame.c */
struct sk_buff *srpic_model_skb(struct napi_struct *napi, struct page *payload,
				const struct model_pkt *pkt, u8 fill,
				struct model_frame *frame);
bool srpic_model_is_altered(const struct sk_buff *skb,
			    const struct page *payload,
			    const struct model_pkt *pkt,
			    const struct model_frame *frame);

/* tests/model_shrink.c */
typedef bool model_fails_t(void *data, const struct model_trace *trace);
void srpic_model_shrink(struct model_trace *trace, struct model_pkt *pkt,
			model_fails_t *fails, void *data);
void srpic_model_print(struct kunit *test, const struct model_trace *trace,
		       const char *name);
void srpic_model_print_pkt(const struct model_pkt *pkt, char *buf, size_t len);

#endif /* _SRPIC_TESTS_MODEL_H */
