// SPDX-License-Identifier: GPL-2.0
/* Plays traces to the library, and has the model judge them. */

#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <net/busy_poll.h>

#include "model_play.h"
#include "../srpic_priv.h"

static_assert(SRPIC_SETS * SRPIC_WAYS == MODEL_TABLE);
static_assert(SRPIC_WAYS == MODEL_WAYS);

KUNIT_DEFINE_ACTION_WRAPPER(model_free, kvfree, const void *);

/* Takes all that comes up; skb->mark says which packet it is. */
static rx_handler_result_t model_capture(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct model_fixture *fix;
	struct model_run *run;
	u32 id = skb->mark;

	fix = container_of(rcu_dereference(skb->dev->rx_handler_data),
			   struct model_fixture, dev);
	run = &fix->run;
	if (id < run->trace->num) {
		if (srpic_model_is_altered(skb, fix->page,
					   &run->trace->pkt[id],
					   &fix->frame[id]))
			run->fault[id] |= MODEL_ALTERED;
		if (MODEL_SEES_WAY_OUT &&
		    skb_napi_id(skb) != fix->dev.napi.napi_id)
			run->fault[id] |= MODEL_ASTRAY;
	}
	/* one more than there can be is enough to tell */
	if (run->num <= run->trace->num) {
		run->id[run->num] = id;
		run->time[run->num++] = fix->dev.flushed ? MODEL_LATE :
							   fix->time;
	}
	napi_consume_skb(skb, 1);
	return RX_HANDLER_CONSUMED;
}

/* Packet i of the trace that is played; NULL if there is no memory. */
struct sk_buff *srpic_model_make(struct model_fixture *fix, unsigned int i)
{
	struct sk_buff *skb;

	skb = srpic_model_skb(&fix->dev.napi, fix->page, &fix->run.trace->pkt[i],
			      i, &fix->frame[i]);
	if (skb)
		skb->mark = i;
	else
		fix->no_memory = true;
	return skb;
}

/* The library reads the clock, unless it knows what time it is. */
static void model_set_clock(struct model_fixture *fix)
{
	fix->dev.sn.srpic->now = fix->epoch + fix->now;
}

/* When the timer fires; UINT_MAX if it does not. */
static unsigned int model_alarm(struct model_fixture *fix)
{
	struct hrtimer *timer = &fix->dev.sn.srpic->timer;

	if (!hrtimer_is_queued(timer))
		return UINT_MAX;
	return div_u64(ktime_to_ns(hrtimer_get_expires(timer)) - fix->epoch,
		       NSEC_PER_USEC);
}

/* Time passes behind a poll, and so the timer may have fired. */
static void model_pause(struct model_fixture *fix, const struct model_pkt *pkt)
{
	fix->now += pkt->pause * NSEC_PER_USEC;
	if (model_alarm(fix) * (u64)NSEC_PER_USEC <= fix->now)
		hrtimer_cancel(&fix->dev.sn.srpic->timer);
}

/* The budget is used up, and the core polls again. */
static void model_go_on(struct model_fixture *fix, const struct model_pkt *pkt)
{
	fix->time++;
	srpic_end(&fix->dev.sn, false);
	model_pause(fix, pkt);
	srpic_begin(&fix->dev.sn);
	model_set_clock(fix);
}

/* What is seen from outside when a softirq is over. */
static void model_look(struct model_fixture *fix, unsigned int last)
{
	u64 stats[SRPIC_STATS];

	srpic_fixture_stats(&fix->dev, stats);
	fix->run.held[last] = stats[SRPIC_PACKETS_HELD];
	fix->run.alarm[last] = model_alarm(fix);
}

/* What a driver's poll function does, until there is nothing left. */
static void model_poll(struct model_fixture *fix, unsigned int *next)
{
	const struct model_trace *trace = fix->run.trace;
	unsigned int i = *next;
	struct sk_buff *skb;
	bool last;

	fix->time = 2 * i;
	srpic_fixture_begin(&fix->dev);
	model_set_clock(fix);
	do {
		last = model_is_last(trace, i);
		fix->time = 2 * i;
		skb = srpic_model_make(fix, i);
		if (skb)
			srpic_receive(&fix->dev.sn, skb);
		if (!last && model_ends_poll(trace, i))
			model_go_on(fix, &trace->pkt[i]);
		i++;
	} while (!last);
	fix->time++;
	srpic_fixture_end(&fix->dev);
	model_look(fix, i - 1);
	model_pause(fix, &trace->pkt[i - 1]);
	*next = i;
}

/* What is held leaves: NAPI stops, or is polled if SRPIC is off now. */
static void model_finish(struct model_fixture *fix)
{
	fix->time = 2 * fix->run.trace->num;
	if (srpic_enabled(&fix->dev.sd)) {
		srpic_stop(&fix->dev.sn, napi_disable);
		napi_enable(&fix->dev.napi);
	} else {
		srpic_fixture_begin(&fix->dev);
		srpic_fixture_end(&fix->dev);
	}
	srpic_enable(&fix->dev.sd, true);
}

/* The settings, which the library reads when it holds nothing. */
static void model_set(struct model_fixture *fix,
		      const struct model_trace *trace)
{
	struct srpic_net *settings = fix->dev.settings;

	WRITE_ONCE(settings->block_size, trace->block_size);
	WRITE_ONCE(settings->full_flush_pkts, trace->limit);
	WRITE_ONCE(settings->hold_usecs, trace->hold_usecs);
	srpic_set_ring(&fix->dev.sd, trace->ring);
}

/* The hash of a table that is empty. */
static void model_set_hash(struct srpic_table *table, u64 hash)
{
	struct rnd_state rnd;
	unsigned int i;

	memset(table->multiplier, 0, sizeof(table->multiplier));
	if (!hash)
		return;
	prandom_seed_state(&rnd, hash);
	for (i = 0; i < ARRAY_SIZE(table->multiplier); i++) {
		table->multiplier[i] = (u64)prandom_u32_state(&rnd) << 32;
		table->multiplier[i] |= prandom_u32_state(&rnd) | 1;
	}
}

/* Nothing of this trace has left yet. */
void srpic_model_begin(struct model_fixture *fix,
		       const struct model_trace *trace)
{
	fix->no_memory = false;
	fix->now = 0;
	hrtimer_cancel(&fix->dev.sn.srpic->timer);
	fix->run.trace = trace;
	fix->run.num = 0;
	memset(fix->run.fault, 0, trace->num);
}

/*
 * Returns which invariants the library broke, as bits; means nothing if there
 * was no memory.
 */
unsigned long srpic_model_play(struct model_fixture *fix,
			       const struct model_trace *trace)
{
	struct srpic *srpic = fix->dev.sn.srpic;
	struct model_run *run = &fix->run;
	u64 before[SRPIC_STATS];
	unsigned int i = 0;

	model_set(fix, trace);
	model_set_hash(&srpic->table, trace->hash);
	/* the longest of this trace is wanted */
	srpic->held_usecs_max = 0;
	fix->dev.sd.retired[SRPIC_HELD_USECS_MAX] = 0;

	srpic_fixture_stats(&fix->dev, before);
	srpic_model_begin(fix, trace);
	while (i < trace->num) {
		model_poll(fix, &i);
		if (model_switches(trace, i - 1))
			srpic_enable(&fix->dev.sd,
				     !srpic_enabled(&fix->dev.sd));
	}
	model_finish(fix);

	srpic_fixture_stats(&fix->dev, run->count);
	for (i = 0; i < SRPIC_STATS; i++)
		run->count[i] -= before[i];
	fix->wrong = srpic_model_judge(&fix->model, run);
	return fix->wrong;
}

int srpic_model_init(struct kunit *test)
{
	struct model_fixture *fix;
	int err;

	fix = kvzalloc(sizeof(*fix), GFP_KERNEL);
	if (!fix)
		return -ENOMEM;
	err = kunit_add_action_or_reset(test, model_free, fix);
	if (err)
		return err;
	fix->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!fix->page)
		return -ENOMEM;
	err = srpic_fixture_init(&fix->dev, model_capture);
	if (err) {
		put_page(fix->page);
		return err;
	}
	fix->epoch = ktime_get_ns() + 3600 * (u64)NSEC_PER_SEC;
	test->priv = fix;
	return 0;
}

void srpic_model_exit(struct kunit *test)
{
	struct model_fixture *fix = test->priv;

	if (!fix)
		return;
	srpic_fixture_exit(&fix->dev);
	put_page(fix->page);
}

/* What is wrong with the trace that was judged last. */
void srpic_model_complain(struct kunit *test, unsigned long wrong)
{
	struct model_fixture *fix = test->priv;
	char text[128];
	unsigned int i;

	for_each_set_bit(i, &wrong, MODEL_INVARIANTS) {
		srpic_model_explain(&fix->model, i, text, sizeof(text));
		kunit_err(test, "%s\n", text);
	}
}
