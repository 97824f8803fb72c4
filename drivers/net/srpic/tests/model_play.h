/* SPDX-License-Identifier: GPL-2.0 */
/* Plays traces to the library, and has the model judge them. */
#ifndef _SRPIC_TESTS_MODEL_PLAY_H
#define _SRPIC_TESTS_MODEL_PLAY_H

#include "fixture.h"
#include "model.h"

/* Without an identifier in each packet, one way out looks like another. */
#define MODEL_SEES_WAY_OUT	IS_ENABLED(CONFIG_NET_RX_BUSY_POLL)

/**
 * struct model_fixture - a device, and the model
 * @dev: the device
 * @page: payload of aggregates
 * @epoch: begin of each trace, in ns: in the future, so that no timer fires
 * @now: in a trace, from then on
 * @time: for what leaves now
 * @no_memory: a packet of the last trace could not be made
 * @wrong: what the last trace broke
 * @follow: the invariant that a trace must break while it is made smaller
 * @run: what became of the last trace
 * @pkt: a random trace
 * @frame: what the packets of the last trace looked like
 * @model: the judge
 */
struct model_fixture {
	struct srpic_fixture dev;
	struct page *page;
	u64 epoch;
	u64 now;
	unsigned int time;
	bool no_memory;
	unsigned long wrong;
	unsigned long follow;
	struct model_run run;
	struct model_pkt pkt[MODEL_PKTS];
	struct model_frame frame[MODEL_PKTS];
	struct model model;
};

int srpic_model_init(struct kunit *test);
void srpic_model_exit(struct kunit *test);
struct sk_buff *srpic_model_make(struct model_fixture *fix, unsigned int i);
void srpic_model_begin(struct model_fixture *fix,
		       const struct model_trace *trace);
unsigned long srpic_model_play(struct model_fixture *fix,
			       const struct model_trace *trace);
void srpic_model_complain(struct kunit *test, unsigned long wrong);

#ifdef CONFIG_SRPIC_KUNIT_DEVEL
void srpic_model_report(struct kunit *test, struct model_trace *trace,
			const char *name);
#else
static inline void srpic_model_report(struct kunit *test,
				      struct model_trace *trace,
				      const char *name)
{
	struct model_fixture *fix = test->priv;

	srpic_model_complain(test, fix->wrong);
}
#endif

#endif /* _SRPIC_TESTS_MODEL_PLAY_H */
