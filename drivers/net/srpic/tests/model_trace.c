// SPDX-License-Identifier: GPL-2.0
/*
 * Random traces for the reference model: first what the senders sent, then
 * what the network made of it.
 */

#include <linux/array_size.h>
#include <linux/minmax.h>

#include "model.h"
#include "../srpic_priv.h"

#define SENDERS_MAX	12
#define MANY_FLOWS	160		/* more than the table has room for */

/**
 * struct sender - a flow of a trace
 * @flow: its number
 * @next: sequence number to send next
 * @tsval: its clock
 * @len: payload of its packets
 */
struct sender {
	u16 flow;
	u32 next;
	u32 tsval;
	u16 len;
};

/**
 * struct generator - what a trace is made with
 * @rnd: source of all randomness
 * @pkt: the trace
 * @num: packets so far
 * @senders: number of flows
 * @sender: these
 * @many: MANY_FLOWS in turn, all with the numbers of the first sender
 * @bare: one packet of this many has no timestamp, 0: all have one
 * @again: one packet of this many repeats or overlaps another, 0: none
 * @lost: one of this many is lost
 * @forged: one of this many has a sequence number from far away
 * @leap: one of this many has a TSval from far away
 * @odd: one of this many is no data
 * @padded: one of this many is short and padded, if it can be
 * @unsummed: one of this many has no checksum verdict
 * @polls: one of this many is the last of its softirq
 */
struct generator {
	struct rnd_state *rnd;
	struct model_pkt *pkt;
	unsigned int num;
	unsigned int senders;
	struct sender sender[SENDERS_MAX];
	bool many;
	unsigned int bare;
	unsigned int again;
	unsigned int lost;
	unsigned int forged;
	unsigned int leap;
	unsigned int odd;
	unsigned int padded;
	unsigned int unsummed;
	unsigned int polls;
};

static u32 below(struct rnd_state *rnd, u32 limit)
{
	return prandom_u32_state(rnd) % limit;
}

static bool one_in(struct rnd_state *rnd, u32 n)
{
	return n && !below(rnd, n);
}

static unsigned int rate(struct rnd_state *rnd)
{
	static const u8 rates[] = { 0, 0, 0, 3, 8, 25 };

	return rates[below(rnd, ARRAY_SIZE(rates))];
}

/* A number that is random, or about to wrap. */
static u32 start(struct rnd_state *rnd)
{
	return one_in(rnd, 2) ? -below(rnd, 200) : prandom_u32_state(rnd);
}

static u16 payload(struct rnd_state *rnd)
{
	if (one_in(rnd, 16))
		return 1448 * (1 + below(rnd, 40));	/* an aggregate */
	return 1 + below(rnd, MODEL_LINEAR);
}

/* Flows that differ from the first one in few things, or in the ports. */
static void add_senders(struct generator *g)
{
	u16 flow = below(g->rnd, BIT(MODEL_FLOW_BITS));
	unsigned int i;

	for (i = 0; i < g->senders; i++) {
		struct sender *s = &g->sender[i];

		s->flow = flow;
		if (i)
			s->flow ^= BIT(below(g->rnd, MODEL_FLOW_BITS + 3));
		s->next = one_in(g->rnd, 2) ? g->sender[0].next :
					      start(g->rnd);
		s->tsval = start(g->rnd);
		s->len = payload(g->rnd);
	}
}

/* A distance at which the numbers cannot be compared any more, or just can. */
static u32 leap(struct rnd_state *rnd)
{
	u32 distance = BIT(30) * (1 + below(rnd, 3));

	return distance + below(rnd, 5) - 2;
}

/* An earlier packet of the flow, or NULL. */
static const struct model_pkt *earlier(struct generator *g, u16 flow)
{
	unsigned int i;

	for (i = 0; i < 8 && g->num; i++) {
		const struct model_pkt *pkt = &g->pkt[below(g->rnd, g->num)];

		if (pkt->flow == flow)
			return pkt;
	}
	return NULL;
}

static void set_seq(struct generator *g, struct sender *s,
		    struct model_pkt *pkt)
{
	const struct model_pkt *old = earlier(g, s->flow);
	struct rnd_state *rnd = g->rnd;

	pkt->len = one_in(rnd, 4) ? payload(rnd) : s->len;
	if (old && one_in(rnd, g->again)) {
		pkt->seq = old->seq;
		pkt->len = old->len ?: pkt->len;
		if (one_in(rnd, 3))
			pkt->seq += below(rnd, 2 * pkt->len) - pkt->len;
		s->tsval += below(rnd, 60);
	} else if (old && one_in(rnd, g->forged)) {
		pkt->seq = old->seq + leap(rnd);
		if (one_in(rnd, 2))
			pkt->seq += old->len;
	} else {
		pkt->seq = s->next;
	}
}

static void set_kind(struct generator *g, struct model_pkt *pkt)
{
	if (one_in(g->rnd, g->odd))
		pkt->kind = 1 + below(g->rnd, MODEL_KINDS - 1);
	if (pkt->kind == MODEL_PURE_ACK)
		pkt->len = 0;
	else if ((pkt->kind == MODEL_SYN || pkt->kind == MODEL_FIN) &&
		 one_in(g->rnd, 2))
		pkt->len = 0;
	else if (pkt->kind != MODEL_DATA)
		pkt->len = 1 + pkt->len % MODEL_LINEAR;
}

static void pad(struct generator *g, struct model_pkt *pkt)
{
	if (!one_in(g->rnd, g->padded))
		return;
	pkt->how |= MODEL_PADDED;
	if (pkt->kind == MODEL_DATA)
		pkt->len = 1 + pkt->len % (MODEL_SHORT - 1);
	/* with a verdict in half of the cases: then it is suitable */
	if (one_in(g->rnd, 2))
		pkt->how &= ~(MODEL_UNSUMMED | MODEL_SUMMED);
}

static void send(struct generator *g)
{
	struct sender *s = &g->sender[below(g->rnd, g->senders)];
	struct model_pkt *pkt = &g->pkt[g->num];
	u32 bits = prandom_u32_state(g->rnd);

	if (g->many)
		s->flow = g->num % MANY_FLOWS * 5;
	*pkt = (struct model_pkt) { .flow = s->flow };
	if (one_in(g->rnd, g->lost))
		s->next += s->len;
	set_seq(g, s, pkt);
	set_kind(g, pkt);

	s->tsval += one_in(g->rnd, 8);
	if (!one_in(g->rnd, g->bare)) {
		pkt->how = MODEL_STAMP;
		pkt->tsval = s->tsval;
		if (one_in(g->rnd, g->leap))
			pkt->tsval += leap(g->rnd);
	}
	/* each of these in one packet of four */
	bits &= bits >> 16;
	pkt->how |= bits & (MODEL_PSH | MODEL_IN_BAND | MODEL_PRIORITY |
			    MODEL_SUMMED);
	if (one_in(g->rnd, g->unsummed))
		pkt->how |= MODEL_UNSUMMED;
	if (one_in(g->rnd, 16))
		pkt->how |= MODEL_PAGED;
	pad(g, pkt);
	if (pkt->seq == s->next)
		s->next += pkt->len;
	g->num++;
}

static void reorder(struct generator *g)
{
	unsigned int i, way = below(g->rnd, 5);

	for (i = 0; i < g->num; i++) {
		unsigned int rest = g->num - i;
		unsigned int other = i;

		switch (way) {
		case 1:			/* neighbours */
			other = i + below(g->rnd, min(rest, 4));
			break;
		case 2:			/* all */
			other = i + below(g->rnd, rest);
			break;
		case 3:			/* the last first */
			if (i < g->num / 2)
				other = g->num - 1 - i;
			break;
		case 4:			/* one comes last */
			if (i && rest < g->num / 2)
				other = i - 1;
			break;
		}
		swap(g->pkt[i], g->pkt[other]);
	}
}

/* Often so long that a deadline has just come, or has not. */
static u8 pause(struct rnd_state *rnd, unsigned int hold_usecs)
{
	u8 usecs = hold_usecs / 4 * below(rnd, one_in(rnd, 2) ? 2 : 6);

	return usecs && one_in(rnd, 4) ? usecs - 1 : usecs;
}

/* Where polls end, and what happens then. */
static void set_polls(struct generator *g, struct model_trace *trace)
{
	unsigned int switches = one_in(g->rnd, 16) ? 2 : 0;
	struct rnd_state *rnd = g->rnd;
	unsigned int i;

	for (i = 0; i < g->num; i++) {
		struct model_pkt *pkt = &g->pkt[i];

		/* sorted with hold only */
		if (pkt->kind == MODEL_FIN && !trace->hold_usecs)
			pkt->kind = MODEL_RST;
		if (one_in(rnd, 8))
			pkt->how |= MODEL_BUDGET;
		if (one_in(rnd, g->polls))
			pkt->how |= MODEL_LAST;
		if (pkt->how & MODEL_LAST && one_in(rnd, switches))
			pkt->how |= MODEL_SWITCH;
		if (pkt->how & (MODEL_LAST | MODEL_BUDGET))
			pkt->pause = pause(rnd, trace->hold_usecs);
	}
}

/* One after the other, so that a seed gives one trace with any compiler. */
static void set_rates(struct generator *g)
{
	static const u8 bare[] = { 0, 0, 0, 1, 1, 8 };

	g->bare = bare[below(g->rnd, ARRAY_SIZE(bare))];
	g->again = rate(g->rnd);
	g->lost = rate(g->rnd);
	g->forged = rate(g->rnd);
	g->leap = rate(g->rnd);
	g->odd = rate(g->rnd);
	g->padded = rate(g->rnd);
	g->unsummed = rate(g->rnd);
	g->polls = rate(g->rnd);
}

/* Nothing that flushes, but what is given. */
static void set_clean(struct generator *g)
{
	/* timestamps in all packets or in none */
	if (g->bare > 1)
		g->bare = 0;
	g->again = 0;
	g->forged = 0;
	g->leap = 0;
	g->odd = 0;
	g->padded = 0;
	g->unsummed = 0;
	g->polls = 0;
}

/* Those that can fill the longest block, or the table; returns the length. */
static unsigned int set_long(struct generator *g, enum model_shape shape,
			     struct model_trace *trace)
{
	struct rnd_state *rnd = g->rnd;

	trace->block_size = MODEL_BLOCK - below(rnd, 2);
	g->senders = 1;
	g->many = one_in(rnd, 2);
	if (shape != MODEL_RANDOM) {
		trace->block_size = MODEL_BLOCK;
		trace->limit = 0;
		trace->ring = 256;
		trace->hold_usecs = 0;
		g->many = shape == MODEL_MANY_FLOWS;
	}
	trace->hash |= g->many;
	if (shape != MODEL_RANDOM)
		return MODEL_PKTS;
	return MODEL_BLOCK +
	       below(rnd, MODEL_PKTS - MODEL_BLOCK + 1);
}

/*
 * Makes a trace; pkt has room for MODEL_PKTS. A shape is what chance alone
 * might leave out of a short run.
 */
void srpic_model_trace(struct rnd_state *rnd, enum model_shape shape,
		       struct model_trace *trace, struct model_pkt *pkt)
{
	struct generator g = { .rnd = rnd, .pkt = pkt };
	bool is_long = one_in(rnd, 200) || shape != MODEL_RANDOM;
	unsigned int num;

	set_rates(&g);
	g.senders = 1 + below(rnd, 3);
	num = 4 + below(rnd, one_in(rnd, 4) ? 37 : 12);
	trace->block_size = SRPIC_BLOCK_SIZE_DEFAULT;
	if (one_in(rnd, 2))
		trace->block_size = 1 + below(rnd, BIT(below(rnd, 8)));
	if (one_in(rnd, 8))
		g.senders = 4 + below(rnd, SENDERS_MAX - 3);

	trace->limit = one_in(rnd, 8) ? 1 + below(rnd, num) : 0;
	trace->ring = one_in(rnd, 8) ? 1 + below(rnd, num) : 256;
	trace->hash = one_in(rnd, 2) ? prandom_u32_state(rnd) : 0;
	trace->hold_usecs = one_in(rnd, 3) ? 4 * (1 + below(rnd, 25)) : 0;

	if (is_long)
		num = set_long(&g, shape, trace);
	if (shape != MODEL_RANDOM ||
	    ((is_long || trace->hold_usecs) && one_in(rnd, 2)))
		set_clean(&g);
	if (trace->hold_usecs && !g.polls)
		g.polls = 3;

	add_senders(&g);
	while (g.num < num)
		send(&g);
	reorder(&g);
	set_polls(&g, trace);

	trace->num = num;
	trace->pkt = pkt;
}
