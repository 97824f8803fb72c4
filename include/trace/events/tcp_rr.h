/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_rr

#if !defined(_TRACE_TCP_RR_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TCP_RR_H

#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/tracepoint.h>
#include <net/ipv6.h>
#include <trace/events/net_probe_common.h>

TRACE_DEFINE_ENUM(TCP_RR_LATE);
TRACE_DEFINE_ENUM(TCP_RR_TWICE);
TRACE_DEFINE_ENUM(TCP_RR_FALSE);
TRACE_DEFINE_ENUM(TCP_RR_TIMEOUT);
TRACE_DEFINE_ENUM(TCP_RR_IDLE);

/*
 * Something was learnt. What value is depends on the event: of late and twice,
 * the packets that were ahead; of the others, us: from a false fast retransmit
 * until that was seen, of a timeout, without anything to send.
 */
TRACE_EVENT(tcp_rr,
	    TP_PROTO(const struct sock *sk, const struct tcp_rr_loop *loop,
		     enum tcp_rr_event event, u32 value),

	    TP_ARGS(sk, loop, event, value),

	    TP_STRUCT__entry(__field(enum tcp_rr_event, event)
			     __field(u32, value)
			     __field(u32, reordering)
			     __field(u32, window)
			     __field(u32, false_us)
			     __field(u16, ratio)
			     __field(u16, samples)
			     __field(u16, family)
			     __field(u16, sport)
			     __field(u16, dport)
			     __array(u8, saddr, 4)
			     __array(u8, daddr, 4)
			     __array(u8, saddr_v6, 16)
			     __array(u8, daddr_v6, 16)),

	    TP_fast_assign(const struct inet_sock *inet = inet_sk(sk);
			const __be32 saddr = inet->inet_saddr;
			const __be32 daddr = inet->inet_daddr;

			__entry->event = event;
			__entry->value = value;
			__entry->reordering = tcp_sk(sk)->reordering;
			__entry->window = loop->window >> TCP_RR_PKT_SHIFT;
			__entry->false_us = loop->false_us;
			__entry->ratio = loop->ratio;
			__entry->samples = loop->samples;
			__entry->family = sk->sk_family;
			__entry->sport = ntohs(inet->inet_sport);
			__entry->dport = ntohs(inet->inet_dport);
			memcpy(__entry->saddr, &saddr, 4);
			memcpy(__entry->daddr, &daddr, 4);
			TP_STORE_ADDRS(__entry, saddr, daddr,
				       inet6_sk(sk)->saddr, sk->sk_v6_daddr);),

	    TP_printk("family=%s sport=%u dport=%u saddr=%pI4 daddr=%pI4 saddrv6=%pI6c daddrv6=%pI6c event=%s value=%u reordering=%u ratio=%u samples=%u window=%u false_us=%u",
		      __print_symbolic(__entry->family,
				       { AF_INET, "AF_INET" },
				       { AF_INET6, "AF_INET6" }),
		      __entry->sport, __entry->dport,
		      __entry->saddr, __entry->daddr,
		      __entry->saddr_v6, __entry->daddr_v6,
		      __print_symbolic(__entry->event,
				       { TCP_RR_LATE, "late" },
				       { TCP_RR_TWICE, "twice" },
				       { TCP_RR_FALSE, "false" },
				       { TCP_RR_TIMEOUT, "timeout" },
				       { TCP_RR_IDLE, "idle" }),
		      __entry->value, __entry->reordering, __entry->ratio,
		      __entry->samples, __entry->window, __entry->false_us)
);

#endif /* _TRACE_TCP_RR_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
