/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control loop of RR-TCP (Zhang, Karp, Floyd, Peterson, 2002): from how late
 * packets were, and what went wrong, to the number of duplicate ACKs that mean
 * loss. It knows no socket and no clock.
 */
#ifndef _TCP_RR_LOOP_H
#define _TCP_RR_LOOP_H

#include <linux/time64.h>
#include <linux/types.h>

#define TCP_RR_LENGTH_MAX	1023	/* packets: what is later counts as this */
#define TCP_RR_EXACT		32	/* lengths below have a bin each, */
#define TCP_RR_BINS		72	/* those above are 8 bins an octave */
#define TCP_RR_SLICES		8
#define TCP_RR_SLICE_US		(10 * USEC_PER_SEC)
#define TCP_RR_SLICE_SAMPLES	125

#define TCP_RR_RATIO_ONE	10000	/* of the unit that the FA ratio has */
#define TCP_RR_RATIO_STEP	100
#define TCP_RR_RATIO_MAX	9900

#define TCP_RR_THRESHOLD_MIN	3	/* duplicate ACKs, RFC 5681 */

#define TCP_RR_PKT_SHIFT	8	/* windows and costs are in 1/256 packets */
#define TCP_RR_PKT		BIT(TCP_RR_PKT_SHIFT)

/**
 * struct tcp_rr_loop - what a sender has learnt of its path
 * @slice_began_us: since when samples go to the slice that is filled
 * @window: the mean of the congestion window, W, in 1/256 packets
 * @false_us: the mean time to see a fast retransmit to be false, D; 0: none yet
 * @ratio: the share of late packets that are to be waited for, in 1/10000
 * @samples: those in all slices
 * @slice: the one that is filled; the next one is the oldest
 * @slice_samples: those in it
 * @total: samples of a bin in all slices
 * @count: samples of a bin in a slice
 */
struct tcp_rr_loop {
	u64	slice_began_us;
	u32	window;
	u32	false_us;
	u16	ratio;
	u16	samples;
	u8	slice;
	u8	slice_samples;
	u16	total[TCP_RR_BINS];
	u8	count[TCP_RR_SLICES][TCP_RR_BINS];
};

void tcp_rr_loop_init(struct tcp_rr_loop *loop, u32 percent, u32 cwnd,
		      u64 now_us);
bool tcp_rr_loop_age(struct tcp_rr_loop *loop, u64 now_us);
void tcp_rr_loop_sample(struct tcp_rr_loop *loop, u32 length, u64 now_us);
u32 tcp_rr_loop_threshold(const struct tcp_rr_loop *loop, u32 max);
void tcp_rr_loop_window(struct tcp_rr_loop *loop, u32 cwnd);

void tcp_rr_loop_false(struct tcp_rr_loop *loop, u32 duration_us);
void tcp_rr_loop_timeout(struct tcp_rr_loop *loop, u32 rto_us, u32 srtt_us);
void tcp_rr_loop_idle(struct tcp_rr_loop *loop, u32 idle_us, u32 dupacks,
		      u32 srtt_us);

u64 tcp_rr_cost_timeout(u32 window, u32 rto_us, u32 srtt_us);
u64 tcp_rr_cost_false(u32 window, u32 false_us, u32 srtt_us);
u64 tcp_rr_cost_idle(u32 window, u32 idle_us, u32 dupacks, u32 srtt_us);

#endif /* _TCP_RR_LOOP_H */
