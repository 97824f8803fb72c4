// SPDX-License-Identifier: GPL-2.0
/*
 * The control loop of RR-TCP, judged by a model that keeps every sample, finds a
 * percentile by counting, and adds up costs packet by packet, as the paper does.
 */

#include <kunit/test.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "tcp_rr_loop.h"

#define TRACES		100
#define STEPS		3000
#define S		USEC_PER_SEC

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random traces; 0: another one each time");

struct model_slice {
	u64 began_us;
	unsigned int n;
	u32 length[TCP_RR_SLICE_SAMPLES];
};

/* The newest slice is the last one. */
struct model {
	struct model_slice slices[TCP_RR_SLICES];
};

static void model_shift(struct model *model, u64 began_us)
{
	memmove(model->slices, model->slices + 1,
		sizeof(model->slices) - sizeof(model->slices[0]));
	memset(&model->slices[TCP_RR_SLICES - 1], 0, sizeof(model->slices[0]));
	model->slices[TCP_RR_SLICES - 1].began_us = began_us;
}

static void model_age(struct model *model, u64 now_us)
{
	struct model_slice *newest = &model->slices[TCP_RR_SLICES - 1];

	while (now_us - newest->began_us >= 10 * S)
		model_shift(model, newest->began_us + 10 * S);
}

static void model_sample(struct model *model, u32 length, u64 now_us)
{
	struct model_slice *newest = &model->slices[TCP_RR_SLICES - 1];

	model_age(model, now_us);
	if (newest->n == 125)
		model_shift(model, now_us);
	newest->length[newest->n++] = length;
}

/* The end of the bin: exact to 31, then eighths of an octave, to 1023 */
static u32 model_length(u32 length)
{
	u32 octave, end;

	if (length < 32)
		return length;
	if (length > 1023)
		return 1023;
	for (octave = 32; octave * 2 <= length; octave *= 2)
		;
	for (end = octave; end <= length; end += octave / 8)
		;
	return end - 1;
}

/* How many samples there are of each length; their number */
static u32 model_count(const struct model *model, u32 *of_length)
{
	const struct model_slice *slice = model->slices;
	unsigned int i, n = 0;

	memset(of_length, 0, 1024 * sizeof(*of_length));
	for (; slice < model->slices + TCP_RR_SLICES; slice++) {
		for (i = 0; i < slice->n; i++)
			of_length[model_length(slice->length[i])]++;
		n += slice->n;
	}
	return n;
}

/* One more than the least length that this share of all samples has at the most */
static u32 model_threshold(const struct model *model, u32 *of_length, u32 ratio,
			   u32 max)
{
	u32 all = model_count(model, of_length), length = 0;
	u32 so_far = of_length[0];

	while (so_far * 10000 < all * ratio)
		so_far += of_length[++length];
	length++;
	if (length > max)
		length = max;
	return length < 3 ? 3 : length;
}

/* Section 4.3.1, in packets: idle for T, then slow start to half the window */
static s64 model_timeout(s64 window, s64 trips)
{
	s64 cost = window * trips - 2 * window, cwnd;

	for (cwnd = 1; cwnd < window; cwnd *= 2)
		cost += window - cwnd;
	return cost < 1 ? 1 : cost;
}

/* Section 4.3.2, in half packets: half a window, and one packet more each trip */
static u64 model_false2(u64 window, u64 trips)
{
	u64 cost = 0, i;

	for (i = 0; i < trips && i < window / 2; i++)
		cost += window - 2 * i;
	return cost < 2 ? 2 : cost;
}

static void no_sample_is_a_threshold_of_three(struct kunit *test)
{
	struct tcp_rr_loop loop;

	tcp_rr_loop_init(&loop, 90, 10, 0);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 3);
	KUNIT_EXPECT_EQ(test, loop.ratio, 9000);
	KUNIT_EXPECT_EQ(test, loop.window, 10 * TCP_RR_PKT);
}

static void threshold_is_one_more_than_the_percentile(struct kunit *test)
{
	struct tcp_rr_loop loop;
	int i;

	tcp_rr_loop_init(&loop, 90, 10, 0);
	for (i = 0; i < 10; i++)
		tcp_rr_loop_sample(&loop, i < 9 ? 8 : 20, 0);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 9);
	tcp_rr_loop_sample(&loop, 20, 0);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 21);
}

static void threshold_keeps_its_bounds(struct kunit *test)
{
	struct tcp_rr_loop loop;

	tcp_rr_loop_init(&loop, 99, 10, 0);
	tcp_rr_loop_sample(&loop, 1, 0);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 3);
	tcp_rr_loop_sample(&loop, 100, 0);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 104);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 64), 64);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 0), 3);
	tcp_rr_loop_sample(&loop, U32_MAX, 0);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, U32_MAX), 1024);
}

static void samples_are_forgotten_in_80_s(struct kunit *test)
{
	struct tcp_rr_loop loop;

	tcp_rr_loop_init(&loop, 90, 10, 5 * S);
	tcp_rr_loop_sample(&loop, 30, 6 * S);
	KUNIT_EXPECT_FALSE(test, tcp_rr_loop_age(&loop, 85 * S - 1));
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 31);
	KUNIT_EXPECT_TRUE(test, tcp_rr_loop_age(&loop, 85 * S));
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 3);
}

static void samples_are_forgotten_after_1000(struct kunit *test)
{
	struct tcp_rr_loop loop;
	int i;

	tcp_rr_loop_init(&loop, 99, 10, 0);
	for (i = 0; i < 1000; i++)
		tcp_rr_loop_sample(&loop, i < 125 ? 30 : 5, i);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 31);
	tcp_rr_loop_sample(&loop, 5, 1000);
	KUNIT_EXPECT_EQ(test, loop.samples, 876);
	KUNIT_EXPECT_EQ(test, tcp_rr_loop_threshold(&loop, 300), 6);
}

static void random_samples_are_as_in_the_model(struct kunit *test)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct tcp_rr_loop *loop = kunit_kzalloc(test, sizeof(*loop),
						 GFP_KERNEL);
	u32 *of_length = kunit_kcalloc(test, 1024, sizeof(*of_length),
				       GFP_KERNEL);
	u32 random_seed = seed ?: get_random_u32();
	struct rnd_state rnd;
	int trace, step;

	KUNIT_ASSERT_NOT_NULL(test, model);
	KUNIT_ASSERT_NOT_NULL(test, loop);
	KUNIT_ASSERT_NOT_NULL(test, of_length);
	kunit_info(test, "seed %u", random_seed);
	prandom_seed_state(&rnd, random_seed);
	for (trace = 0; trace < TRACES; trace++) {
		/* a time that does not fit 32 bits; all orders of magnitude */
		u64 now_us = (u64)prandom_u32_state(&rnd) << 8;
		u32 pace = prandom_u32_state(&rnd) % 24;
		u32 longest = 1 + prandom_u32_state(&rnd) % 11;
		u32 percent = prandom_u32_state(&rnd) % 100;
		u32 max = prandom_u32_state(&rnd) % 1200;

		memset(model, 0, sizeof(*model));
		tcp_rr_loop_init(loop, percent, 10, now_us);
		model->slices[TCP_RR_SLICES - 1].began_us = now_us;
		for (step = 0; step < STEPS; step++) {
			u32 what = prandom_u32_state(&rnd);

			now_us += prandom_u32_state(&rnd) >> (32 - pace - 1);
			if (what % 64) {
				what = prandom_u32_state(&rnd) >> (32 - longest);
				tcp_rr_loop_sample(loop, what, now_us);
				model_sample(model, what, now_us);
			} else {
				tcp_rr_loop_age(loop, now_us);
				model_age(model, now_us);
			}
			if (step % 50)
				continue;
			KUNIT_ASSERT_EQ(test, loop->samples,
					model_count(model, of_length));
			KUNIT_ASSERT_EQ(test, tcp_rr_loop_threshold(loop, max),
					model_threshold(model, of_length,
							percent * 100, max));
		}
	}
}

static void costs_are_what_the_paper_adds_up(struct kunit *test)
{
	const u32 srtt_us = 70000;
	u32 window, trips;

	for (window = 1; window <= 4096; window *= 2) {
		u32 w = window * TCP_RR_PKT;

		for (trips = 1; trips <= 40; trips++) {
			KUNIT_EXPECT_EQ(test,
					tcp_rr_cost_timeout(w, trips * srtt_us,
							    srtt_us),
					TCP_RR_PKT *
					model_timeout(window, trips));
			KUNIT_EXPECT_EQ(test,
					tcp_rr_cost_false(w, trips * srtt_us,
							  srtt_us),
					TCP_RR_PKT / 2 *
					model_false2(window, trips));
			KUNIT_EXPECT_EQ(test,
					tcp_rr_cost_idle(w, trips * srtt_us,
							 trips, srtt_us),
					TCP_RR_PKT *
					max(trips * window - trips, 1U));
		}
	}
}

static void costs_between_whole_round_trips_are_between(struct kunit *test)
{
	const u32 srtt_us = 1 << 16, w = 50 * TCP_RR_PKT;
	u64 least, most, cost, before = 0;
	u32 false_us;

	for (false_us = srtt_us; false_us < 25 * srtt_us; false_us += 1021) {
		least = model_false2(50, false_us / srtt_us) * TCP_RR_PKT / 2;
		most = model_false2(50, false_us / srtt_us + 1) * TCP_RR_PKT / 2;
		cost = tcp_rr_cost_false(w, false_us, srtt_us);
		KUNIT_EXPECT_GE(test, cost, least);
		KUNIT_EXPECT_LE(test, cost, most);
		KUNIT_EXPECT_GE(test, cost, before);
		before = cost;
	}
	KUNIT_EXPECT_EQ(test, tcp_rr_cost_false(w, 0, srtt_us),
			tcp_rr_cost_false(w, srtt_us, srtt_us));
	/* log2 of 48 lies half way between those of 32 and 64 */
	KUNIT_EXPECT_EQ(test,
			tcp_rr_cost_timeout(48 * TCP_RR_PKT, srtt_us, srtt_us),
			TCP_RR_PKT * (48 * 7 / 2 + 1));
}

static void no_cost_is_below_a_packet_or_overflows(struct kunit *test)
{
	static const u32 windows[] = { TCP_RR_PKT, 3 * TCP_RR_PKT, 1 << 28 };
	static const u32 times_us[] = { 0, 1, 1000, S32_MAX, U32_MAX };
	int w, t, r;

	for (w = 0; w < ARRAY_SIZE(windows); w++) {
		for (t = 0; t < ARRAY_SIZE(times_us); t++) {
			for (r = 1; r < ARRAY_SIZE(times_us); r++) {
				u64 costs[] = {
					tcp_rr_cost_timeout(windows[w],
							    times_us[t],
							    times_us[r]),
					tcp_rr_cost_false(windows[w],
							  times_us[t],
							  times_us[r]),
					tcp_rr_cost_idle(windows[w],
							 times_us[t], 7,
							 times_us[r]),
				};
				int i;

				for (i = 0; i < ARRAY_SIZE(costs); i++) {
					KUNIT_EXPECT_GE(test, costs[i],
							TCP_RR_PKT);
					KUNIT_EXPECT_LT(test, costs[i],
							1ULL << 56);
				}
			}
		}
	}
}

static void ratio_moves_by_what_was_lost(struct kunit *test)
{
	const u32 srtt_us = 100000;
	struct tcp_rr_loop loop;

	tcp_rr_loop_init(&loop, 90, 64, 0);
	tcp_rr_loop_false(&loop, 2 * srtt_us);
	KUNIT_EXPECT_EQ(test, loop.ratio, 9100);
	KUNIT_EXPECT_EQ(test, loop.false_us, 2 * srtt_us);
	tcp_rr_loop_timeout(&loop, 10 * srtt_us, srtt_us);
	KUNIT_EXPECT_EQ(test, loop.ratio,
			9100 - 200 * model_timeout(64, 10) /
			(s64)model_false2(64, 2));
	loop.ratio = 5000;
	/* 63 packets cost as much as being false does: no more */
	tcp_rr_loop_idle(&loop, srtt_us, 64 - 63, srtt_us);
	KUNIT_EXPECT_EQ(test, loop.ratio, 5000);
	tcp_rr_loop_idle(&loop, srtt_us, 0, srtt_us);
	KUNIT_EXPECT_EQ(test, loop.ratio, 5000 - 100 * 64 / 63);
}

static void ratio_keeps_its_bounds(struct kunit *test)
{
	struct tcp_rr_loop loop;
	int i;

	tcp_rr_loop_init(&loop, 99, 10, 0);
	KUNIT_EXPECT_EQ(test, loop.ratio, 9900);
	tcp_rr_loop_false(&loop, 1);
	KUNIT_EXPECT_EQ(test, loop.ratio, 9900);
	for (i = 0; i < 20; i++)
		tcp_rr_loop_timeout(&loop, U32_MAX, 1);
	KUNIT_EXPECT_EQ(test, loop.ratio, 0);
	tcp_rr_loop_false(&loop, U32_MAX);
	KUNIT_EXPECT_EQ(test, loop.ratio, 100);
}

static void means_come_near(struct kunit *test)
{
	struct tcp_rr_loop loop;
	int i;

	tcp_rr_loop_init(&loop, 90, 16, 0);
	tcp_rr_loop_window(&loop, 24);
	KUNIT_EXPECT_EQ(test, loop.window, 17 * TCP_RR_PKT);
	tcp_rr_loop_window(&loop, 9);
	KUNIT_EXPECT_EQ(test, loop.window, 16 * TCP_RR_PKT);
	for (i = 0; i < 100; i++)
		tcp_rr_loop_window(&loop, 0);
	KUNIT_EXPECT_EQ(test, loop.window, TCP_RR_PKT);
	tcp_rr_loop_false(&loop, 8000);
	tcp_rr_loop_false(&loop, 16000);
	KUNIT_EXPECT_EQ(test, loop.false_us, 9000);
}

static struct kunit_case tcp_rr_cases[] = {
	KUNIT_CASE(no_sample_is_a_threshold_of_three),
	KUNIT_CASE(threshold_is_one_more_than_the_percentile),
	KUNIT_CASE(threshold_keeps_its_bounds),
	KUNIT_CASE(samples_are_forgotten_in_80_s),
	KUNIT_CASE(samples_are_forgotten_after_1000),
	KUNIT_CASE(random_samples_are_as_in_the_model),
	KUNIT_CASE(costs_are_what_the_paper_adds_up),
	KUNIT_CASE(costs_between_whole_round_trips_are_between),
	KUNIT_CASE(no_cost_is_below_a_packet_or_overflows),
	KUNIT_CASE(ratio_moves_by_what_was_lost),
	KUNIT_CASE(ratio_keeps_its_bounds),
	KUNIT_CASE(means_come_near),
	{}
};

static struct kunit_suite tcp_rr_suite = {
	.name = "tcp_rr",
	.test_cases = tcp_rr_cases,
};

kunit_test_suite(tcp_rr_suite);
