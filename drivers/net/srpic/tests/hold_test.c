// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what outlives a poll: packets that wait for those ahead of
 * them. Time is what a test says; it lies in the future, so that no timer fires.
 */

#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>

#include "fixture.h"
#include "rx_frame.h"

#define HOLD_USECS	100
#define LEN		20
#define MAX_IDS		64

struct hold_fixture {
	struct srpic_fixture dev;
	u64 epoch;			/* in ns */
	unsigned int received;
	u8 id[MAX_IDS];			/* place in the flow */
	u32 next;			/* sequence number, of some */
};

static rx_handler_result_t hold_capture(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct hold_fixture *fix;

	fix = container_of(rcu_dereference(skb->dev->rx_handler_data),
			   struct hold_fixture, dev);
	if (fix->received < MAX_IDS)
		fix->id[fix->received] = skb->mark;
	fix->received++;
	consume_skb(skb);
	return RX_HANDLER_CONSUMED;
}

static int hold_init(struct kunit *test)
{
	struct hold_fixture *fix;
	int err;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	if (!fix)
		return -ENOMEM;
	err = srpic_fixture_init(&fix->dev, hold_capture);
	if (err)
		return err;
	fix->epoch = ktime_get_ns() + 3600 * (u64)NSEC_PER_SEC;
	WRITE_ONCE(fix->dev.settings->hold_usecs, HOLD_USECS);
	test->priv = fix;
	return 0;
}

static void hold_exit(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	if (fix)
		srpic_fixture_exit(&fix->dev);
}

static void set_clock(struct hold_fixture *fix, unsigned int usecs)
{
	fix->dev.sn.srpic->now = fix->epoch + usecs * (u64)NSEC_PER_USEC;
}

static void begin_at(struct hold_fixture *fix, unsigned int usecs)
{
	srpic_fixture_begin(&fix->dev);
	set_clock(fix, usecs);
}

static void receive_frame(struct kunit *test, const struct frame *f, u8 id)
{
	struct hold_fixture *fix = test->priv;

	/* allocates: not in a softirq */
	local_bh_enable();
	srpic_receive(&fix->dev.sn, srpic_frame_skb(test, fix->dev.netdev, f,
						    id));
	local_bh_disable();
}

/* A packet that has this place in its flow. */
static void receive_as(struct kunit *test, u8 place, u16 port, u8 flags)
{
	const struct frame f = {
		.seq = 1000 + LEN * place, .len = LEN, .port = port,
		.flags = flags,
	};

	receive_frame(test, &f, place);
}

/* A poll at this time that completes: places, up to a negative one. */
static void poll_at(struct kunit *test, unsigned int usecs, const s8 *places)
{
	struct hold_fixture *fix = test->priv;

	begin_at(fix, usecs);
	for (; *places >= 0; places++)
		receive_as(test, *places, 0, 0);
	srpic_fixture_end(&fix->dev);
}

#define POLL(test, usecs, ...)	\
	poll_at(test, usecs, (const s8[]) { -1, ##__VA_ARGS__, -1 } + 1)

/* What has left since the last time. */
static void expect_left(struct kunit *test, const s8 *places)
{
	struct hold_fixture *fix = test->priv;
	unsigned int i;

	for (i = 0; places[i] >= 0; i++)
		if (i < fix->received)
			KUNIT_EXPECT_EQ(test, fix->id[i], places[i]);
	KUNIT_EXPECT_EQ(test, fix->received, i);
	fix->received = 0;
}

#define LEFT(test, ...)	\
	expect_left(test, (const s8[]) { -1, ##__VA_ARGS__, -1 } + 1)

static u64 stat(struct kunit *test, enum srpic_stat which)
{
	struct hold_fixture *fix = test->priv;
	u64 stats[SRPIC_STATS];

	srpic_fixture_stats(&fix->dev, stats);
	return stats[which];
}

/* When the timer fires, in us; -1 if it does not. */
static s64 timer_at(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	struct hrtimer *timer = &fix->dev.sn.srpic->timer;

	if (!hrtimer_is_queued(timer))
		return -1;
	return div_s64(ktime_to_ns(hrtimer_get_expires(timer)) - fix->epoch,
		       NSEC_PER_USEC);
}

static void early_waits_for_the_hole(struct kunit *test)
{
	POLL(test, 0, 0, 2, 3);
	LEFT(test, 0);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 2);
	POLL(test, 10, 5);
	LEFT(test);
	POLL(test, 50, 1);
	LEFT(test, 1, 2, 3);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_HOLE), 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_HELD_USECS_MAX), 50);
	POLL(test, 60, 4, 6);
	LEFT(test, 4, 5, 6);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 0);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_HOLE), 2);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_TAKEN), 7);
}

static void in_order_is_never_delayed(struct kunit *test)
{
	POLL(test, 0, 0, 1, 2);
	LEFT(test, 0, 1, 2);
	POLL(test, 10, 3);
	LEFT(test, 3);
	/* a hole that is filled in the same poll is none */
	POLL(test, 20, 5, 4, 6);
	LEFT(test, 4, 5, 6);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_POLL), 3);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_HOLE), 0);
	KUNIT_EXPECT_EQ(test, timer_at(test), -1);
	/* nor is what is in order ahead of those that wait */
	POLL(test, 30, 9, 7);
	LEFT(test, 7);
	POLL(test, 40, 8);
	LEFT(test, 8, 9);
}

static void deadline_is_kept(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	LEFT(test, 0);
	KUNIT_EXPECT_EQ(test, timer_at(test), HOLD_USECS);
	POLL(test, HOLD_USECS - 1);
	LEFT(test);
	POLL(test, HOLD_USECS);
	LEFT(test, 2);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_DEADLINE), 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 0);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_HELD_USECS_MAX), HOLD_USECS);
	KUNIT_EXPECT_EQ(test, fix->dev.sn.srpic->held_bytes, 0);
	/* what follows is in order, what was missing is late */
	POLL(test, 110, 3);
	LEFT(test, 3);
	POLL(test, 120, 1);
	LEFT(test, 1);
	POLL(test, 130, 4, 1);
	LEFT(test, 1, 4);
}

/* It is that of the packet that came first, whatever comes later. */
static void deadline_is_not_put_off(struct kunit *test)
{
	unsigned int usecs;

	POLL(test, 0, 0, 4);
	LEFT(test, 0);
	for (usecs = 20; usecs < HOLD_USECS; usecs += 20) {
		POLL(test, usecs, 4 + usecs / 10);
		LEFT(test);
		KUNIT_EXPECT_EQ(test, timer_at(test), HOLD_USECS);
	}
	/* an older one below it has left, this does not make it younger */
	POLL(test, 90, 2);
	POLL(test, 95, 1);
	LEFT(test, 1, 2);
	POLL(test, HOLD_USECS);
	LEFT(test, 4);
	KUNIT_EXPECT_EQ(test, timer_at(test), HOLD_USECS + 20);
	POLL(test, HOLD_USECS + 60);
	LEFT(test, 6, 8, 10);
	KUNIT_EXPECT_EQ(test, timer_at(test), HOLD_USECS + 80);
}

/* Those below it, whenever they came, and what goes on behind it. */
static void deadline_takes_what_is_below(struct kunit *test)
{
	POLL(test, 0, 0, 4);
	POLL(test, 50, 2, 5, 7);
	LEFT(test, 0);
	POLL(test, HOLD_USECS);
	LEFT(test, 2, 4, 5);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_DEADLINE), 1);
	POLL(test, HOLD_USECS + 10, 6, 3);
	LEFT(test, 3, 6, 7);
}

/* Three in a row are lost: the next one is not waited for, then it is. */
static void losses_are_not_waited_for(struct kunit *test)
{
	unsigned int i, usecs = 0;

	POLL(test, usecs, 0);
	for (i = 0; i < SRPIC_LOSSES_MAX; i++) {
		POLL(test, usecs, 2 * i + 2);
		usecs += HOLD_USECS;
		POLL(test, usecs);
	}
	LEFT(test, 0, 2, 4, 6);
	POLL(test, usecs, 9, 8);
	LEFT(test, 8, 9);
	POLL(test, usecs, 11);
	LEFT(test);
	POLL(test, ++usecs, 10);
	LEFT(test, 10, 11);
	/* it was none: all are waited for again */
	POLL(test, usecs, 13);
	LEFT(test);
	usecs += HOLD_USECS;
	POLL(test, usecs, 15);
	LEFT(test, 13);
}

/* Every other packet is lost, so many: how many are waited for? */
static unsigned int count_waits(struct kunit *test, unsigned int holes)
{
	struct hold_fixture *fix = test->priv;
	unsigned int i, waits = 0, usecs = 0;

	for (i = 0; i < holes; i++) {
		struct frame f = { .seq = fix->next, .len = LEN };

		fix->next += 2 * LEN;
		begin_at(fix, usecs);
		receive_frame(test, &f, 0);
		srpic_fixture_end(&fix->dev);
		if (!fix->received) {
			waits++;
			usecs += HOLD_USECS;
			POLL(test, usecs);
		}
		KUNIT_EXPECT_EQ(test, fix->received, 1);
		fix->received = 0;
	}
	return waits;
}

/* 3, then one behind 1, 3, 7, 15, 31 and 63 others, and so on. */
static void losses_are_tried_less_and_less(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0);
	LEFT(test, 0);
	fix->next = 1000 + 2 * LEN;
	KUNIT_EXPECT_EQ(test, count_waits(test, 3 + 2 + 4 + 8 + 16 + 32), 8);
	KUNIT_EXPECT_EQ(test, count_waits(test, 2 * 64), 2);
	/* not so those of another flow that gets the manager */
	srpic_table_open(&fix->dev.sn.srpic->table,
			 fix->dev.sn.srpic->table.last, fix->dev.netdev,
			 (struct srpic_flow) { .addrs = (u64[]) { 1 } });
	KUNIT_EXPECT_EQ(test, fix->dev.sn.srpic->table.last->skip, 0);
	KUNIT_EXPECT_EQ(test, fix->dev.sn.srpic->table.last->losses, 0);
}

/* There is always something that waits, and the next hole is open already. */
static void losses_may_overlap(struct kunit *test)
{
	unsigned int i;

	POLL(test, 0, 0, 2);
	for (i = 1; i <= SRPIC_LOSSES_MAX; i++) {
		POLL(test, 60 * i, 3 * i, 3 * i + 2);
		POLL(test, 40 + 60 * i);
	}
	/* so the last one is not waited for until 280 */
	LEFT(test, 0, 2, 3, 5, 6, 8, 9, 11);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 0);
}

/* One in time counts, although another one was not. */
static void filled_in_time_counts(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	unsigned int i;

	for (i = 0; i < 2 * SRPIC_LOSSES_MAX; i++) {
		POLL(test, 200 * i, 7 * i, 7 * i + 6);
		POLL(test, 200 * i + 50, 7 * i + 2);
		POLL(test, 200 * i + HOLD_USECS, 7 * i + 1);
	}
	KUNIT_EXPECT_EQ(test, fix->dev.sn.srpic->table.last->losses, 0);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_DEADLINE),
			2 * SRPIC_LOSSES_MAX);
}

static void deadline_is_that_of_those_who_still_wait(struct kunit *test)
{
	POLL(test, 0, 0, 2);
	POLL(test, 60, 4);
	LEFT(test, 0);
	POLL(test, 90, 1);
	LEFT(test, 1, 2);
	POLL(test, HOLD_USECS);
	LEFT(test);
	POLL(test, 60 + HOLD_USECS - 1);
	LEFT(test);
	POLL(test, 60 + HOLD_USECS);
	LEFT(test, 4);
}

/* A poll that does not complete keeps it, too. */
static void deadline_is_kept_while_the_budget_is_used_up(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	LEFT(test, 0);
	begin_at(fix, HOLD_USECS);
	srpic_end(&fix->dev.sn, false);
	LEFT(test, 2);
	srpic_fixture_end(&fix->dev);
}

static void used_up_budget_flushes_nothing(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	unsigned int hold;

	for (hold = 0; hold <= HOLD_USECS; hold += HOLD_USECS) {
		WRITE_ONCE(fix->dev.settings->hold_usecs, hold);
		begin_at(fix, 0);
		receive_as(test, 2 + hold / 10, 0, 0);
		receive_as(test, 1 + hold / 10, 0, 0);
		srpic_end(&fix->dev.sn, false);
		LEFT(test);
		receive_as(test, 0 + hold / 10, 0, 0);
		srpic_fixture_end(&fix->dev);
		LEFT(test, 0 + hold / 10, 1 + hold / 10, 2 + hold / 10);
	}
}

static void flows_wait_by_themselves(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	begin_at(fix, 0);
	receive_as(test, 0, 1, 0);
	receive_as(test, 2, 1, 0);
	receive_as(test, 10, 2, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 0, 10);
	begin_at(fix, 50);
	receive_as(test, 12, 2, 0);
	receive_as(test, 11, 3, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 11);
	KUNIT_EXPECT_EQ(test, timer_at(test), HOLD_USECS);
	POLL(test, HOLD_USECS);
	LEFT(test, 2);
	KUNIT_EXPECT_EQ(test, timer_at(test), 50 + HOLD_USECS);
	POLL(test, 50 + HOLD_USECS);
	LEFT(test, 12);
}

static void barrier_ends_the_waiting(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2, 5);
	LEFT(test, 0);
	begin_at(fix, 10);
	receive_as(test, 3, 0, URG);
	LEFT(test, 2, 5, 3);
	/* nobody knows what comes next, but all below is late */
	receive_as(test, 4, 0, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 4);
	POLL(test, 20, 20, 1);
	LEFT(test, 1, 20);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_BARRIER), 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 0);
	/* from then on it is known */
	POLL(test, 30, 22);
	LEFT(test);
	POLL(test, 40, 21);
	LEFT(test, 21, 22);
}

/* Not for ever: it may be another connection. */
static void what_a_barrier_left_is_forgotten(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	struct srpic_table *table = &fix->dev.sn.srpic->table;

	POLL(test, 0, 9);
	begin_at(fix, 10);
	receive_as(test, 10, 0, RST);
	srpic_fixture_end(&fix->dev);
	table->last->known_at -= SRPIC_REMEMBER + 1;
	POLL(test, 20, 0, 2);
	LEFT(test, 9, 10, 0);
	POLL(test, 30, 1);
	LEFT(test, 1, 2);
}

static void pure_ack_changes_nothing_known(struct kunit *test)
{
	struct frame ack = { .seq = 1000 + LEN };
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0);
	begin_at(fix, 10);
	receive_frame(test, &ack, 50);
	receive_as(test, 2, 0, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 0, 50);
	POLL(test, 20, 1);
	LEFT(test, 1, 2);
}

/* But nothing that can leave. */
static void late_pure_ack_overtakes_what_waits(struct kunit *test)
{
	struct frame ack = { .seq = 1000 + LEN };
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	LEFT(test, 0);
	begin_at(fix, 10);
	receive_frame(test, &ack, 50);
	ack.seq -= LEN;
	ack.what = PADDED;
	receive_frame(test, &ack, 51);
	receive_as(test, 4, 0, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 50, 51);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 2);
	begin_at(fix, 20);
	receive_as(test, 1, 0, 0);
	receive_as(test, 0, 0, 0);
	receive_frame(test, &ack, 50);
	LEFT(test, 0, 1, 2, 50);
	srpic_fixture_end(&fix->dev);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_BARRIER), 1);
	/* this one was sent behind it */
	begin_at(fix, 30);
	ack.seq = 1000 + 4 * LEN + 1;
	receive_frame(test, &ack, 50);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 4, 50);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_BARRIER), 2);
	/* nobody can say from so far away */
	POLL(test, 40, 6);
	begin_at(fix, 50);
	ack.seq = 1000 + 6 * LEN - SRPIC_DISTANCE_MAX;
	receive_frame(test, &ack, 50);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 6, 50);
}

static void only_a_usual_pure_ack_is_late(struct kunit *test)
{
	struct frame odd[] = {
		{ .what = SACK }, { .flags = ECE }, { .flags = CWR },
		{ .flags = URG }, { .what = RESERVED }, { .no_ack = true },
	};
	struct hold_fixture *fix = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		begin_at(fix, 10 * i);
		receive_as(test, 3 * i, 0, 0);
		receive_as(test, 3 * i + 2, 0, 0);
		odd[i].seq = 1000 + LEN * (3 * i + 1);
		receive_frame(test, &odd[i], 50);
		LEFT(test, 3 * i, 3 * i + 2, 50);
		srpic_fixture_end(&fix->dev);
	}
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_BARRIER), i);
}

/* That of a handshake; the numbers wrap behind it. */
static void late_pure_ack_ends_no_waiting_behind_its_syn(struct kunit *test)
{
	struct frame f = { .seq = -LEN - 1, .flags = SYN };
	struct hold_fixture *fix = test->priv;

	begin_at(fix, 0);
	receive_frame(test, &f, 50);
	f = (struct frame) { .seq = 0, .len = LEN };
	receive_frame(test, &f, 1);
	srpic_fixture_end(&fix->dev);
	begin_at(fix, 10);
	f = (struct frame) { .seq = -LEN };
	receive_frame(test, &f, 51);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 50, 51);
	begin_at(fix, 20);
	f.len = LEN;
	receive_frame(test, &f, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 0, 1);
}

static void late_pure_ack_is_a_barrier_without_hold(struct kunit *test)
{
	const struct frame ack = { .seq = 1000 + LEN };
	struct hold_fixture *fix = test->priv;

	WRITE_ONCE(fix->dev.settings->hold_usecs, 0);
	begin_at(fix, 0);
	receive_as(test, 0, 0, 0);
	receive_as(test, 2, 0, 0);
	receive_frame(test, &ack, 50);
	LEFT(test, 0, 2, 50);
	srpic_fixture_end(&fix->dev);
}

/* Or TCP would drop that: PAWS. */
static void late_pure_ack_overtakes_nothing_older(struct kunit *test)
{
	struct frame data = { .seq = 1000, .len = LEN, .what = STAMP };
	struct frame ack = { .seq = 1000 + LEN, .what = STAMP };
	struct hold_fixture *fix = test->priv;

	data.tsval = 5;
	begin_at(fix, 0);
	receive_frame(test, &data, 0);
	data.seq += 2 * LEN;
	receive_frame(test, &data, 2);
	srpic_fixture_end(&fix->dev);
	begin_at(fix, 10);
	ack.tsval = 5;
	receive_frame(test, &ack, 50);
	LEFT(test, 0, 50);
	ack.tsval = 6;
	receive_frame(test, &ack, 51);
	LEFT(test, 2, 51);
	data.seq += LEN;
	receive_frame(test, &data, 3);
	ack.seq = data.seq;
	receive_frame(test, &ack, 52);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 3, 52);
	/* the one has a timestamp, and the other has not */
	begin_at(fix, 20);
	data.seq += 2 * LEN;
	receive_frame(test, &data, 5);
	ack.what = 0;
	receive_frame(test, &ack, 53);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 5, 53);
}

static void fin_waits_as_well(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	begin_at(fix, 10);
	receive_as(test, 3, 0, FIN);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 0);
	POLL(test, 20, 1);
	LEFT(test, 1, 2, 3);
	/* it is a byte, which this overlaps */
	POLL(test, 30, 4);
	LEFT(test, 4);
	begin_at(fix, 40);
	receive_as(test, 5, 0, FIN);
	receive_as(test, 6, 0, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 5, 6);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_OVERLAP), 1);
}

static void flow_begins_behind_its_syn(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	struct frame syn = { .seq = 999, .flags = SYN };

	begin_at(fix, 0);
	receive_frame(test, &syn, 50);
	receive_as(test, 1, 0, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 50);
	POLL(test, 10, 0);
	LEFT(test, 0, 1);
	/* another connection */
	POLL(test, 20, 3);
	begin_at(fix, 30);
	syn.seq += 8 * LEN;
	receive_frame(test, &syn, 50);
	receive_as(test, 9, 0, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 3, 50);
	POLL(test, 40, 8);
	LEFT(test, 8, 9);
	/* once more, late: what is in order waits for nothing */
	begin_at(fix, 50);
	receive_frame(test, &syn, 50);
	receive_as(test, 10, 0, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 50, 10);
}

/* Nor is one forgotten that is remembered, or one taken that does not match. */
static void syn_puts_out_no_flow(struct kunit *test)
{
	struct frame syn = { .seq = 999, .flags = SYN }, bad = syn;
	struct hold_fixture *fix = test->priv;
	struct srpic_table *table = &fix->dev.sn.srpic->table;
	unsigned int port;

	memset(table->multiplier, 0, sizeof(table->multiplier));
	begin_at(fix, 0);
	bad.what = NO_CSUM | BAD_CSUM;
	receive_frame(test, &bad, 50);
	KUNIT_EXPECT_EQ(test, table->num_used, 0);
	for (port = 1; port <= SRPIC_WAYS; port++) {
		receive_as(test, 0, port, 0);
		receive_as(test, 2, port, 0);
	}
	syn.port = port;
	receive_frame(test, &syn, 51);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 50, 51, 0, 0, 0, 0);
	for (port = 1; port <= SRPIC_WAYS; port++) {
		begin_at(fix, 10);
		receive_as(test, 1, port, 0);
		srpic_fixture_end(&fix->dev);
		LEFT(test, 1, 2);
	}
	begin_at(fix, 20);
	receive_frame(test, &syn, 51);
	receive_as(test, 4, 1, 0);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 51);
}

static void busy_poll_waits_for_nothing(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	/* the last poll of a busy one, on 6.12: no bit says it */
	begin_at(fix, 0);
	receive_as(test, 0, 1, 0);
	receive_as(test, 2, 1, 0);
	WRITE_ONCE(fix->dev.napi.list_owner, -1);
	srpic_end(&fix->dev.sn, false);
	LEFT(test, 0, 2);
	srpic_fixture_end(&fix->dev);

	begin_at(fix, 0);
	receive_as(test, 0, 0, 0);
	receive_as(test, 2, 0, 0);
	set_bit(NAPI_STATE_PREFER_BUSY_POLL, &fix->dev.napi.state);
	srpic_end(&fix->dev.sn, false);
	clear_bit(NAPI_STATE_PREFER_BUSY_POLL, &fix->dev.napi.state);
	LEFT(test, 0, 2);
	srpic_fixture_end(&fix->dev);
	KUNIT_EXPECT_EQ(test, timer_at(test), -1);
}

static void stopping_strands_nothing(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	LEFT(test, 0);
	srpic_stop(&fix->dev.sn, napi_disable);
	LEFT(test, 2);
	KUNIT_EXPECT_EQ(test, timer_at(test), -1);
	napi_enable(&fix->dev.napi);
	POLL(test, 20, 3, 5);
	LEFT(test, 3);
	KUNIT_EXPECT_EQ(test, timer_at(test), 20 + HOLD_USECS);
}

static void switching_off_strands_nothing(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	LEFT(test, 0);
	KUNIT_EXPECT_EQ(test, srpic_enable(&fix->dev.sd, false), 0);
	srpic_fixture_begin(&fix->dev);
	LEFT(test, 2);
	receive_as(test, 4, 0, 0);
	LEFT(test, 4);
	srpic_fixture_end(&fix->dev);
}

static void setting_of_0_ends_the_waiting(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	LEFT(test, 0);
	WRITE_ONCE(fix->dev.settings->hold_usecs, 0);
	POLL(test, 10, 4);
	LEFT(test, 2, 4);
	POLL(test, 20, 7);
	LEFT(test, 7);
}

static void shorter_hold_is_kept_as_well(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	WRITE_ONCE(fix->dev.settings->hold_usecs, 50);
	POLL(test, 10, 4);
	LEFT(test, 0);
	KUNIT_EXPECT_EQ(test, timer_at(test), 50);
	POLL(test, 50);
	LEFT(test, 2);
	POLL(test, 60);
	LEFT(test, 4);
	KUNIT_EXPECT_EQ(test, timer_at(test), -1);
}

static void idle_flow_is_forgotten(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	struct srpic_table *table = &fix->dev.sn.srpic->table;

	POLL(test, 0, 0, 1);
	table->last->known_at -= SRPIC_REMEMBER - 1;
	POLL(test, 10, 3);
	LEFT(test, 0, 1);
	POLL(test, 20, 2);
	LEFT(test, 2, 3);
	table->last->known_at -= SRPIC_REMEMBER + 1;
	POLL(test, 30, 8);
	LEFT(test, 8);
}

/* The end of the second one is known, whatever of it is not new. */
static void half_new_is_not_early(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	struct frame f = { .seq = 1000 + LEN / 2, .len = 2 * LEN + LEN / 2 };
	unsigned int held;

	for (held = 0; held < 2; held++) {
		POLL(test, 10 * held, 0);
		if (held)
			POLL(test, 15, 3);
		LEFT(test, 0);
		srpic_fixture_begin(&fix->dev);
		receive_frame(test, &f, 1);
		srpic_fixture_end(&fix->dev);
		if (held) {
			LEFT(test, 3, 1);
			break;
		}
		LEFT(test, 1);
		POLL(test, 5, 3);
		LEFT(test, 3);
		srpic_stop(&fix->dev.sn, napi_disable);
		napi_enable(&fix->dev.napi);
	}
}

/* A forged one: nobody would know the way back. */
static void huge_hole_is_no_hole(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	struct frame f = { .seq = 1000 + SZ_128M, .len = LEN };

	POLL(test, 0, 0);
	begin_at(fix, 10);
	receive_frame(test, &f, 9);
	srpic_fixture_end(&fix->dev);
	POLL(test, 10 + HOLD_USECS);
	LEFT(test, 0, 9);
	POLL(test, 120, 1, 3);
	LEFT(test, 1);
}

/* Nor do others wait behind it: what comes next would overtake them. */
static void nothing_waits_behind_a_huge_hole(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	struct frame f = { .seq = 1000 + SZ_128M, .len = LEN };

	POLL(test, 0, 0);
	begin_at(fix, 10);
	receive_frame(test, &f, 7);
	srpic_fixture_end(&fix->dev);
	begin_at(fix, 50);
	f.seq += 2 * LEN;
	receive_frame(test, &f, 8);
	srpic_fixture_end(&fix->dev);
	begin_at(fix, 10 + HOLD_USECS);
	srpic_end(&fix->dev.sn, false);
	f.seq += 2 * LEN;
	receive_frame(test, &f, 9);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 0, 7, 8, 9);
}

static void what_is_held_is_said(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 1);
	srpic_stop(&fix->dev.sn, napi_disable);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 0);
	napi_enable(&fix->dev.napi);
}

/* It leaves when the softirq is over, which is later than its hole is filled. */
static void waiting_counts_when_it_leaves(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	POLL(test, 0, 0, 2);
	LEFT(test, 0);
	begin_at(fix, 10);
	receive_as(test, 1, 0, 0);
	srpic_end(&fix->dev.sn, false);
	LEFT(test);
	set_clock(fix, 20);
	srpic_fixture_end(&fix->dev);
	LEFT(test, 1, 2);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_HOLE), 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_HELD_USECS_MAX), 20);
}

/* Not that of the one behind the next hole, whose deadline takes it along. */
static void longest_wait_is_that_of_the_first(struct kunit *test)
{
	POLL(test, 0, 0, 2);
	POLL(test, 10, 4);
	LEFT(test, 0);
	POLL(test, 10 + HOLD_USECS, 1);
	LEFT(test, 1, 2, 4);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_DEADLINE), 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_HELD_USECS_MAX),
			10 + HOLD_USECS);
}

/* In a block of any size: only what is in order makes it full. */
static void waiting_is_not_bounded_by_the_block(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;

	WRITE_ONCE(fix->dev.settings->block_size, 2);
	WRITE_ONCE(fix->dev.settings->full_flush_pkts, 3);
	POLL(test, 0, 0, 2, 3, 4, 5, 7);
	LEFT(test, 0);
	POLL(test, 10, 1);
	LEFT(test, 1, 2, 3, 4, 5);
	POLL(test, 20, 6);
	LEFT(test, 6, 7);
}

/* The flow that has most of it leaves, not that which comes too late. */
static void too_much_does_not_wait(struct kunit *test)
{
	struct hold_fixture *fix = test->priv;
	struct frame f = { .len = LEN, .port = 2 };
	unsigned int i;

	begin_at(fix, 0);
	receive_as(test, 0, 1, 0);
	receive_as(test, 2, 1, 0);
	for (i = 0; i < SRPIC_HELD_PKTS_MAX; i++) {
		f.seq = 2 * LEN * i;
		receive_frame(test, &f, 9);
	}
	KUNIT_EXPECT_EQ(test, fix->received, 0);
	receive_as(test, 4, 1, 0);
	KUNIT_EXPECT_EQ(test, fix->received, SRPIC_HELD_PKTS_MAX);
	srpic_fixture_end(&fix->dev);
	KUNIT_EXPECT_EQ(test, fix->received, SRPIC_HELD_PKTS_MAX + 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_FLUSH_EVICT), 1);
	KUNIT_EXPECT_EQ(test, stat(test, SRPIC_PACKETS_HELD), 2);
}

static struct kunit_case hold_test_cases[] = {
	KUNIT_CASE(early_waits_for_the_hole),
	KUNIT_CASE(in_order_is_never_delayed),
	KUNIT_CASE(deadline_is_kept),
	KUNIT_CASE(deadline_is_not_put_off),
	KUNIT_CASE(deadline_takes_what_is_below),
	KUNIT_CASE(losses_are_not_waited_for),
	KUNIT_CASE(losses_are_tried_less_and_less),
	KUNIT_CASE(losses_may_overlap),
	KUNIT_CASE(filled_in_time_counts),
	KUNIT_CASE(deadline_is_that_of_those_who_still_wait),
	KUNIT_CASE(deadline_is_kept_while_the_budget_is_used_up),
	KUNIT_CASE(used_up_budget_flushes_nothing),
	KUNIT_CASE(flows_wait_by_themselves),
	KUNIT_CASE(barrier_ends_the_waiting),
	KUNIT_CASE(what_a_barrier_left_is_forgotten),
	KUNIT_CASE(pure_ack_changes_nothing_known),
	KUNIT_CASE(late_pure_ack_overtakes_what_waits),
	KUNIT_CASE(only_a_usual_pure_ack_is_late),
	KUNIT_CASE(late_pure_ack_ends_no_waiting_behind_its_syn),
	KUNIT_CASE(late_pure_ack_is_a_barrier_without_hold),
	KUNIT_CASE(late_pure_ack_overtakes_nothing_older),
	KUNIT_CASE(fin_waits_as_well),
	KUNIT_CASE(flow_begins_behind_its_syn),
	KUNIT_CASE(syn_puts_out_no_flow),
	KUNIT_CASE(busy_poll_waits_for_nothing),
	KUNIT_CASE(stopping_strands_nothing),
	KUNIT_CASE(switching_off_strands_nothing),
	KUNIT_CASE(setting_of_0_ends_the_waiting),
	KUNIT_CASE(shorter_hold_is_kept_as_well),
	KUNIT_CASE(idle_flow_is_forgotten),
	KUNIT_CASE(half_new_is_not_early),
	KUNIT_CASE(huge_hole_is_no_hole),
	KUNIT_CASE(nothing_waits_behind_a_huge_hole),
	KUNIT_CASE(what_is_held_is_said),
	KUNIT_CASE(waiting_counts_when_it_leaves),
	KUNIT_CASE(longest_wait_is_that_of_the_first),
	KUNIT_CASE(waiting_is_not_bounded_by_the_block),
	KUNIT_CASE(too_much_does_not_wait),
	{ }
};

static struct kunit_suite hold_test_suite = {
	.name = "srpic_hold",
	.init = hold_init,
	.exit = hold_exit,
	.test_cases = hold_test_cases,
};

kunit_test_suite(hold_test_suite);
