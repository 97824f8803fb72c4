// SPDX-License-Identifier: GPL-2.0
/* The control loop of RR-TCP. Sections are those of the paper. */

#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "tcp_rr_loop.h"

#define OCTAVE_SHIFT		3	/* 8 bins an octave */
#define EXACT_SHIFT		ilog2(TCP_RR_EXACT)
#define EWMA_SHIFT		3	/* the newest weighs 1/8 */
#define LIMITED_TRANSMIT	1	/* k: windows beyond cwnd, section 2.3 */

#define CWND_MAX		BIT(20)	/* packets: products fit 64 bits */
#define TRIPS_MAX		BIT(16)	/* round trips, likewise */

static unsigned int bin_of(u32 length)
{
	unsigned int octave;

	if (length < TCP_RR_EXACT)
		return length;
	octave = ilog2(length);
	return TCP_RR_EXACT + ((octave - EXACT_SHIFT) << OCTAVE_SHIFT) +
	       ((length - BIT(octave)) >> (octave - OCTAVE_SHIFT));
}

/* The greatest length in a bin: whoever waits for so many waits for all of it */
static u32 longest_in(unsigned int bin)
{
	unsigned int octave, eighth;

	if (bin < TCP_RR_EXACT)
		return bin;
	octave = EXACT_SHIFT + ((bin - TCP_RR_EXACT) >> OCTAVE_SHIFT);
	eighth = (bin - TCP_RR_EXACT) & (BIT(OCTAVE_SHIFT) - 1);
	return BIT(octave) + ((eighth + 1) << (octave - OCTAVE_SHIFT)) - 1;
}

/**
 * tcp_rr_loop_init() - begin, with no sample
 * @loop: the loop
 * @percent: the FA ratio to begin with, 0 to 99
 * @cwnd: congestion window, in packets
 * @now_us: time; all of a loop's are of one clock that does not go back
 */
void tcp_rr_loop_init(struct tcp_rr_loop *loop, u32 percent, u32 cwnd,
		      u64 now_us)
{
	memset(loop, 0, sizeof(*loop));
	loop->ratio = min_t(u32, percent * TCP_RR_RATIO_STEP, TCP_RR_RATIO_MAX);
	loop->window = clamp_t(u32, cwnd, 1, CWND_MAX) << TCP_RR_PKT_SHIFT;
	loop->slice_began_us = now_us;
}

/* The oldest slice is forgotten and filled anew. */
static void next_slice(struct tcp_rr_loop *loop)
{
	unsigned int bin;
	u8 *oldest;

	loop->slice = (loop->slice + 1) % TCP_RR_SLICES;
	loop->slice_samples = 0;
	oldest = loop->count[loop->slice];
	for (bin = 0; bin < TCP_RR_BINS; bin++) {
		loop->total[bin] -= oldest[bin];
		loop->samples -= oldest[bin];
		oldest[bin] = 0;
	}
}

/**
 * tcp_rr_loop_age() - forget what is too old (section 4.1.2)
 * @loop: the loop
 * @now_us: time
 *
 * Return: whether samples were forgotten.
 */
bool tcp_rr_loop_age(struct tcp_rr_loop *loop, u64 now_us)
{
	u64 slices = div_u64(now_us - loop->slice_began_us, TCP_RR_SLICE_US);
	unsigned int n = min_t(u64, slices, TCP_RR_SLICES);
	u16 samples = loop->samples;

	loop->slice_began_us += slices * TCP_RR_SLICE_US;
	while (n--)
		next_slice(loop);
	return loop->samples != samples;
}

/**
 * tcp_rr_loop_sample() - a packet was late
 * @loop: the loop
 * @length: how many later packets were ahead of it (section 4.1.1)
 * @now_us: time
 */
void tcp_rr_loop_sample(struct tcp_rr_loop *loop, u32 length, u64 now_us)
{
	unsigned int bin = bin_of(min_t(u32, length, TCP_RR_LENGTH_MAX));

	tcp_rr_loop_age(loop, now_us);
	if (loop->slice_samples == TCP_RR_SLICE_SAMPLES) {
		next_slice(loop);
		loop->slice_began_us = now_us;
	}
	loop->count[loop->slice][bin]++;
	loop->total[bin]++;
	loop->slice_samples++;
	loop->samples++;
}

/**
 * tcp_rr_loop_threshold() - how many duplicate ACKs mean loss (section 4.2)
 * @loop: the loop
 * @max: what it may be at the most; below 3, that is 3
 *
 * Return: one more than as many late packets as the FA ratio says are late by, at
 * the most; 3 without samples.
 */
u32 tcp_rr_loop_threshold(const struct tcp_rr_loop *loop, u32 max)
{
	u32 wanted = loop->ratio * loop->samples, seen = 0;
	unsigned int bin = 0;

	while ((seen += loop->total[bin] * TCP_RR_RATIO_ONE) < wanted)
		bin++;
	return clamp_t(u32, longest_in(bin) + 1, TCP_RR_THRESHOLD_MIN,
		       max_t(u32, max, TCP_RR_THRESHOLD_MIN));
}

static u32 mean(u32 old, u32 new)
{
	return old + ((s32)(new - old) >> EWMA_SHIFT);
}

/**
 * tcp_rr_loop_window() - learn of the steady congestion window
 * @loop: the loop
 * @cwnd: in packets, once in a round trip
 */
void tcp_rr_loop_window(struct tcp_rr_loop *loop, u32 cwnd)
{
	cwnd = clamp_t(u32, cwnd, 1, CWND_MAX);
	loop->window = mean(loop->window, cwnd << TCP_RR_PKT_SHIFT);
}

/* log2, linear between the powers of two; both in 1/256 */
static u32 log2_of(u32 window)
{
	unsigned int octave = ilog2(window);

	return ((octave - TCP_RR_PKT_SHIFT) << TCP_RR_PKT_SHIFT) +
	       ((u64)(window - BIT(octave)) << TCP_RR_PKT_SHIFT >> octave);
}

/* In 1/256 */
static u64 round_trips(u32 time_us, u32 srtt_us)
{
	return min_t(u64, div_u64((u64)time_us << TCP_RR_PKT_SHIFT, srtt_us),
		     TRIPS_MAX << TCP_RR_PKT_SHIFT);
}

/**
 * tcp_rr_cost_timeout() - what a timeout costs beyond a fast retransmit
 * @window: in 1/256 packets, at least one packet
 * @rto_us: the timeout
 * @srtt_us: smoothed round-trip time, not 0
 *
 * W (T / R + log2 W - k - 2) + 1, section 4.3.1.
 *
 * Return: packets that could have been sent, in 1/256; one at the least.
 */
u64 tcp_rr_cost_timeout(u32 window, u32 rto_us, u32 srtt_us)
{
	s64 trips = round_trips(rto_us, srtt_us) + log2_of(window);

	trips -= (LIMITED_TRANSMIT + 2) << TCP_RR_PKT_SHIFT;
	if (trips <= 0)
		return TCP_RR_PKT;
	return ((window * (u64)trips) >> TCP_RR_PKT_SHIFT) + TCP_RR_PKT;
}

/**
 * tcp_rr_cost_false() - what a false fast retransmit costs
 * @window: in 1/256 packets
 * @false_us: how long it takes to see that it was false; 0: a round trip
 * @srtt_us: smoothed round-trip time, not 0
 *
 * k (W - k + 1) / 2 with k = D / R, half a window at the most, and linear between
 * two whole k: section 4.3.2.
 *
 * Return: packets that could have been sent, in 1/256; one at the least.
 */
u64 tcp_rr_cost_false(u32 window, u32 false_us, u32 srtt_us)
{
	u32 trips = false_us ? round_trips(false_us, srtt_us) : TCP_RR_PKT;
	u32 whole, rest;
	u64 cost;

	trips = min(trips, window / 2);
	whole = trips & ~(TCP_RR_PKT - 1);
	rest = trips - whole;
	cost = (u64)(whole >> TCP_RR_PKT_SHIFT) * (window - whole + TCP_RR_PKT);
	cost += ((u64)rest * (window - 2 * whole)) >> TCP_RR_PKT_SHIFT;
	return max_t(u64, cost / 2, TCP_RR_PKT);
}

/**
 * tcp_rr_cost_idle() - what it costs that limited transmit may send no more
 * @window: in 1/256 packets
 * @idle_us: how long
 * @dupacks: duplicate ACKs meanwhile
 * @srtt_us: smoothed round-trip time, not 0
 *
 * W I / R - d, section 4.3.3.
 *
 * Return: packets that could have been sent, in 1/256; one at the least.
 */
u64 tcp_rr_cost_idle(u32 window, u32 idle_us, u32 dupacks, u32 srtt_us)
{
	u64 cost = (window * round_trips(idle_us, srtt_us)) >> TCP_RR_PKT_SHIFT;
	u64 sent = (u64)dupacks << TCP_RR_PKT_SHIFT;

	return cost > sent + TCP_RR_PKT ? cost - sent : TCP_RR_PKT;
}

/* By a step for each time that it cost as much as a false fast retransmit */
static void lower_ratio(struct tcp_rr_loop *loop, u64 cost, u64 false_cost)
{
	u64 by = div64_u64(TCP_RR_RATIO_STEP * cost, false_cost);

	loop->ratio -= min_t(u64, by, loop->ratio);
}

/**
 * tcp_rr_loop_false() - a fast retransmit was false: be more patient (4.3.4)
 * @loop: the loop
 * @duration_us: from the retransmit until that was seen
 */
void tcp_rr_loop_false(struct tcp_rr_loop *loop, u32 duration_us)
{
	duration_us = clamp_t(u32, duration_us, 1, S32_MAX);
	loop->false_us = loop->false_us ? mean(loop->false_us, duration_us) :
					  duration_us;
	loop->ratio = min_t(u32, loop->ratio + TCP_RR_RATIO_STEP,
			    TCP_RR_RATIO_MAX);
}

/**
 * tcp_rr_loop_timeout() - there was a timeout: be less patient (4.3.4)
 * @loop: the loop
 * @rto_us: the timeout
 * @srtt_us: smoothed round-trip time, not 0
 */
void tcp_rr_loop_timeout(struct tcp_rr_loop *loop, u32 rto_us, u32 srtt_us)
{
	lower_ratio(loop, tcp_rr_cost_timeout(loop->window, rto_us, srtt_us),
		    tcp_rr_cost_false(loop->window, loop->false_us, srtt_us));
}

/**
 * tcp_rr_loop_idle() - limited transmit might send no more: be less patient, if
 *	that cost more than a false fast retransmit (4.3.4)
 * @loop: the loop
 * @idle_us: until an ACK moved the window, or a recovery began or was undone
 * @dupacks: duplicate ACKs meanwhile, also of what a window that grew let go
 * @srtt_us: smoothed round-trip time, not 0
 */
void tcp_rr_loop_idle(struct tcp_rr_loop *loop, u32 idle_us, u32 dupacks,
		      u32 srtt_us)
{
	u64 cost = tcp_rr_cost_idle(loop->window, idle_us, dupacks, srtt_us);
	u64 false_cost = tcp_rr_cost_false(loop->window, loop->false_us,
					   srtt_us);

	if (cost > false_cost)
		lower_ratio(loop, cost, false_cost);
}
