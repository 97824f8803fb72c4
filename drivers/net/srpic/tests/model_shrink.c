// SPDX-License-Identifier: GPL-2.0
/* Makes a trace that fails as small as it can be, and prints it. */

#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <linux/sched.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "model_play.h"

/**
 * struct shrinking - what is made small
 * @trace: the trace
 * @pkt: what @trace->pkt points to
 * @fails: whether it still fails
 * @data: for @fails
 */
struct shrinking {
	struct model_trace *trace;
	struct model_pkt *pkt;
	model_fails_t *fails;
	void *data;
};

static bool still_fails(struct shrinking *s)
{
	cond_resched();
	return s->fails(s->data, s->trace);
}

/* Leaves out each packet that the failure does not need. */
static bool drop_packets(struct shrinking *s)
{
	struct model_trace *trace = s->trace;
	struct model_pkt *pkt = s->pkt;
	bool shorter = false;
	unsigned int i = 0;

	while (i < trace->num && trace->num > 1) {
		unsigned int rest = --trace->num - i;
		struct model_pkt dropped = pkt[i];

		memmove(&pkt[i], &pkt[i + 1], rest * sizeof(*pkt));
		if (still_fails(s)) {
			shorter = true;
			continue;
		}
		memmove(&pkt[i + 1], &pkt[i], rest * sizeof(*pkt));
		pkt[i++] = dropped;
		trace->num++;
	}
	return shorter;
}

static void try_trace(struct shrinking *s, struct model_trace plainer)
{
	struct model_trace old = *s->trace;

	*s->trace = plainer;
	if (!still_fails(s))
		*s->trace = old;
}

/* And what is special about the settings. */
static void make_trace_plain(struct shrinking *s)
{
	struct model_trace plainer;

	plainer = *s->trace;
	plainer.limit = 0;
	try_trace(s, plainer);

	plainer = *s->trace;
	plainer.ring = 0;
	try_trace(s, plainer);

	plainer = *s->trace;
	plainer.block_size = SRPIC_BLOCK_SIZE_DEFAULT;
	try_trace(s, plainer);

	plainer = *s->trace;
	plainer.hash = 1;
	try_trace(s, plainer);

	plainer = *s->trace;
	plainer.hold_usecs = 0;
	try_trace(s, plainer);
}

/* Flows that differ in the same things as before, one of them flow 0. */
static void rename_flows(struct shrinking *s, u16 flow)
{
	unsigned int i;

	for (i = 0; i < s->trace->num; i++)
		s->pkt[i].flow ^= flow;
}

static void try_pkt(struct shrinking *s, struct model_pkt *pkt,
		    struct model_pkt plainer)
{
	struct model_pkt old = *pkt;

	if (!memcmp(&old, &plainer, sizeof(old)))
		return;
	*pkt = plainer;
	if (!still_fails(s))
		*pkt = old;
}

/* And what is special about a packet. */
static void make_plain(struct shrinking *s, struct model_pkt *pkt)
{
	struct model_pkt plainer;
	unsigned int bit;

	plainer = *pkt;
	plainer.flow = 0;
	try_pkt(s, pkt, plainer);

	if (pkt->len) {
		plainer = *pkt;
		plainer.kind = MODEL_DATA;
		try_pkt(s, pkt, plainer);
	}
	for (bit = 0; bit < MODEL_HOWS; bit++) {
		plainer = *pkt;
		plainer.how &= ~BIT(bit);
		try_pkt(s, pkt, plainer);
	}
	plainer = *pkt;
	plainer.pause = 0;
	try_pkt(s, pkt, plainer);
	if (!(pkt->how & MODEL_STAMP))
		pkt->tsval = 0;
}

/* pkt is what trace->pkt points to. */
void srpic_model_shrink(struct model_trace *trace, struct model_pkt *pkt,
			model_fails_t *fails, void *data)
{
	struct shrinking s = {
		.trace = trace, .pkt = pkt, .fails = fails, .data = data,
	};
	unsigned int i;
	u16 flow;

	/* a plain trace may need fewer packets, and these be plainer */
	do {
		make_trace_plain(&s);
		while (drop_packets(&s))
			;
		flow = pkt[0].flow;
		rename_flows(&s, flow);
		if (!still_fails(&s))
			rename_flows(&s, flow);
		for (i = 0; i < trace->num; i++)
			make_plain(&s, &pkt[i]);
	} while (drop_packets(&s));
}

static const char *kind_name(unsigned int kind)
{
	/* as in enum model_kind */
	static const char * const names[] = {
		"MODEL_DATA", "MODEL_FIN", "MODEL_SYN", "MODEL_RST",
		"MODEL_URG", "MODEL_ECE", "MODEL_CWR", "MODEL_NO_ACK",
		"MODEL_PURE_ACK", "MODEL_SACK", "MODEL_RESERVED",
		"MODEL_BAD_CSUM", "MODEL_TRAILER", "MODEL_CUT",
		"MODEL_IP_OPTION", "MODEL_FRAGMENT", "MODEL_UDP",
		"MODEL_TWO_TAGS", "MODEL_NO_IP",
	};

	BUILD_BUG_ON(ARRAY_SIZE(names) != MODEL_KINDS);
	return names[kind];
}

static const char *how_names(u16 how, char *buf, size_t size)
{
	static const char * const names[] = {
		"MODEL_STAMP", "MODEL_LAST", "MODEL_PSH", "MODEL_IN_BAND",
		"MODEL_PRIORITY", "MODEL_UNSUMMED", "MODEL_PAGED",
		"MODEL_PADDED", "MODEL_SUMMED", "MODEL_SWITCH",
		"MODEL_BUDGET",
	};
	unsigned int i, len = 0;

	BUILD_BUG_ON(ARRAY_SIZE(names) != MODEL_HOWS);

	strscpy(buf, "0", size);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (how & BIT(i))
			len += scnprintf(buf + len, size - len, "%s%s",
					 len ? " | " : "", names[i]);
	return buf;
}

void srpic_model_print_pkt(const struct model_pkt *pkt, char *buf, size_t len)
{
	char how[224];

	snprintf(buf, len,
		 "{ .seq = %#x, .len = %u, .flow = %u, .kind = %s, .how = %s, .tsval = %#x, .pause = %u }",
		 pkt->seq, pkt->len, pkt->flow, kind_name(pkt->kind),
		 how_names(pkt->how, how, sizeof(how)), pkt->tsval, pkt->pause);
}

/* As it can be pasted into model_cases[], without what KUnit puts ahead. */
void srpic_model_print(struct kunit *test, const struct model_trace *trace,
		       const char *name)
{
	char text[MODEL_TEXT];
	unsigned int i;

	kunit_err(test, "}, { .name = \"%s\",\n", name);
	kunit_err(test, ".block_size = %u, .limit = %u, .ring = %u,\n",
		  trace->block_size, trace->limit, trace->ring);
	kunit_err(test, ".hash = %#llx, .hold_usecs = %u, TRACE(\n",
		  trace->hash, trace->hold_usecs);
	for (i = 0; i < trace->num; i++) {
		srpic_model_print_pkt(&trace->pkt[i], text, sizeof(text));
		kunit_err(test, "%s%s\n", text,
			  i < trace->num - 1 ? "," : "),");
	}
}

static bool model_fails(void *data, const struct model_trace *trace)
{
	struct model_fixture *fix = data;
	unsigned long wrong;

	/* a context of its own: the last one may be in any state */
	srpic_del_napi(&fix->dev.sn);
	srpic_add_napi(&fix->dev.sd, &fix->dev.sn, &fix->dev.napi);
	if (!fix->dev.sn.active)
		return false;
	wrong = srpic_model_play(fix, trace);
	return !fix->no_memory && wrong & fix->follow;
}

/*
 * Makes the trace that was played last smaller. The first invariant that was
 * broken is the one to follow: the others may be broken just because of it.
 */
void srpic_model_report(struct kunit *test, struct model_trace *trace,
			const char *name)
{
	struct model_fixture *fix = test->priv;

	fix->follow = BIT(__ffs(fix->wrong));
	kunit_err(test, "%s, %u packets:\n", name, trace->num);
	srpic_model_complain(test, fix->wrong);
	if (!model_fails(fix, trace)) {
		kunit_err(test, "not in a fresh context, so not shortened\n");
		srpic_model_print(test, trace, name);
		return;
	}
	srpic_model_shrink(trace, fix->pkt, model_fails, fix);

	if (!model_fails(fix, trace))
		kunit_err(test, "fails no more:\n");
	kunit_err(test, "shortened to %u packets:\n", trace->num);
	srpic_model_complain(test, fix->wrong);
	srpic_model_print(test, trace, name);
}
