/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RR-TCP, a sender that survives reordering: what TCP tells it, and asks it. All
 * is called with the socket locked. See Documentation/networking/tcp-rr.rst.
 */
#ifndef _NET_TCP_RR_H
#define _NET_TCP_RR_H

#include <linux/jump_label_ratelimit.h>
#include <net/tcp.h>

#ifdef CONFIG_TCP_RR

/* Some network namespace has tcp_rr or tcp_limited_transmit. */
extern struct static_key_false_deferred tcp_rr_wanted;

bool __tcp_rr_rules(const struct sock *sk);
void __tcp_rr_dsack(struct sock *sk, u32 start_seq, u32 end_seq);
void __tcp_rr_retransmit(struct sock *sk, const struct sk_buff *skb,
			 u64 sent_us);
void __tcp_rr_recovery(struct sock *sk);
void __tcp_rr_timeout(struct sock *sk);
void __tcp_rr_undo(struct sock *sk);
long __tcp_rr_ack(struct sock *sk);
u32 __tcp_rr_quota(const struct tcp_sock *tp, u32 quota);
void tcp_rr_free(struct sock *sk);

/**
 * tcp_rr_init() - a socket begins, maybe as a copy of the one that listens
 * @tp: the socket
 */
static inline void tcp_rr_init(struct tcp_sock *tp)
{
	tp->rr = NULL;
}

/**
 * tcp_rr_is_wanted() - may some connection have RR-TCP?
 *
 * For those who would have to find out what to tell it. All below that is inline
 * asks by itself.
 */
static inline bool tcp_rr_is_wanted(void)
{
	return static_branch_unlikely(&tcp_rr_wanted.key);
}

/**
 * tcp_rr_rules() - is it RR-TCP that says what tp->reordering is?
 * @sk: a socket
 */
static inline bool tcp_rr_rules(const struct sock *sk)
{
	return tcp_rr_is_wanted() && __tcp_rr_rules(sk);
}

/**
 * tcp_rr_delivered() - an skb is acknowledged for the first time
 * @sk: the socket
 * @sacked: its tag bits before
 * @start_seq: where what is acknowledged begins
 * @end_seq: and ends
 * @fack: the highest SACK before this ACK
 * @spurious: the timestamp says that this was sent before it was retransmitted
 */
void tcp_rr_delivered(struct sock *sk, u8 sacked, u32 start_seq, u32 end_seq,
		      u32 fack, bool spurious);

/**
 * tcp_rr_dsack() - the receiver says that it has got a range twice
 * @sk: the socket
 * @start_seq: where it begins
 * @end_seq: and ends; there is no more between than the longest window
 */
static inline void tcp_rr_dsack(struct sock *sk, u32 start_seq, u32 end_seq)
{
	if (tcp_rr_is_wanted())
		__tcp_rr_dsack(sk, start_seq, end_seq);
}

/**
 * tcp_rr_retransmit() - an skb was sent once more
 * @sk: the socket
 * @skb: it
 * @sent_us: when it had been sent before that; 0: not just once, or not asked for
 */
static inline void tcp_rr_retransmit(struct sock *sk, const struct sk_buff *skb,
				     u64 sent_us)
{
	if (tcp_rr_is_wanted())
		__tcp_rr_retransmit(sk, skb, sent_us);
}

/**
 * tcp_rr_recovery() - fast recovery begins
 * @sk: the socket
 */
static inline void tcp_rr_recovery(struct sock *sk)
{
	if (tcp_rr_is_wanted())
		__tcp_rr_recovery(sk);
}

/**
 * tcp_rr_timeout() - recovery by timeout begins, or begins once more
 * @sk: the socket, whose state is that before
 */
static inline void tcp_rr_timeout(struct sock *sk)
{
	if (tcp_rr_is_wanted())
		__tcp_rr_timeout(sk);
}

/**
 * tcp_rr_undo() - the last recovery was for nothing
 * @sk: the socket
 */
static inline void tcp_rr_undo(struct sock *sk)
{
	if (tcp_rr_is_wanted())
		__tcp_rr_undo(sk);
}

/**
 * tcp_rr_ack() - an ACK has been looked at, the window may have moved
 * @sk: the socket
 *
 * Return: an RTT in us of what was sent twice, by enhanced sampling, for the
 * smoothed RTT and the RTO alone; -1: none.
 */
static inline long tcp_rr_ack(struct sock *sk)
{
	return tcp_rr_is_wanted() ? __tcp_rr_ack(sk) : -1;
}

/**
 * tcp_rr_quota() - how much new data limited transmit allows
 * @tp: the socket
 * @quota: packets that the congestion window allows
 *
 * Return: packets, @quota at the most.
 */
static inline u32 tcp_rr_quota(const struct tcp_sock *tp, u32 quota)
{
	return tcp_rr_is_wanted() ? __tcp_rr_quota(tp, quota) : quota;
}

/**
 * tcp_rr_limits() - must the window not grow by ACKs of what is beyond a hole?
 * @sk: a socket
 *
 * The bound of limited transmit is of congestion windows: of one that grows with each
 * packet that is SACKed, as in slow start, it would be none.
 */
static inline bool tcp_rr_limits(const struct sock *sk)
{
	return tcp_rr_is_wanted() && tcp_in_slow_start(tcp_sk(sk)) &&
	       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_limited_transmit);
}

#else

static inline void tcp_rr_init(struct tcp_sock *tp)
{
}

static inline bool tcp_rr_is_wanted(void)
{
	return false;
}

static inline bool tcp_rr_rules(const struct sock *sk)
{
	return false;
}

static inline void tcp_rr_delivered(struct sock *sk, u8 sacked, u32 start_seq,
				    u32 end_seq, u32 fack, bool spurious)
{
}

static inline void tcp_rr_dsack(struct sock *sk, u32 start_seq, u32 end_seq)
{
}

static inline void tcp_rr_retransmit(struct sock *sk, const struct sk_buff *skb,
				     u64 sent_us)
{
}

static inline void tcp_rr_recovery(struct sock *sk)
{
}

static inline void tcp_rr_timeout(struct sock *sk)
{
}

static inline void tcp_rr_undo(struct sock *sk)
{
}

static inline long tcp_rr_ack(struct sock *sk)
{
	return -1;
}

static inline u32 tcp_rr_quota(const struct tcp_sock *tp, u32 quota)
{
	return quota;
}

static inline bool tcp_rr_limits(const struct sock *sk)
{
	return false;
}

static inline void tcp_rr_free(struct sock *sk)
{
}

#endif /* CONFIG_TCP_RR */
#endif /* _NET_TCP_RR_H */
