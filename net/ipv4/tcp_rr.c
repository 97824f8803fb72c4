// SPDX-License-Identifier: GPL-2.0
/*
 * RR-TCP: a sender that survives reordering. What it sees of a connection goes to
 * the control loop, what that says to tp->reordering, and TCP's own counting of
 * duplicate ACKs does the rest. Sections are those of the paper, see tcp_rr_loop.h.
 */

#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/tcp.h>
#include <net/tcp_rr.h>

#include "tcp_rr_loop.h"

enum tcp_rr_event {
	TCP_RR_LATE,		/* and never retransmitted */
	TCP_RR_TWICE,		/* both the original and the retransmission came */
	TCP_RR_FALSE,		/* fast retransmit */
	TCP_RR_TIMEOUT,
	TCP_RR_IDLE,
};

#define CREATE_TRACE_POINTS
#include <trace/events/tcp_rr.h>

/* net.ipv4.tcp_rr */
#define TCP_RR_FA	1	/* avoid false fast retransmits, section 4.2 */
#define TCP_RR_TA	2	/* and timeouts, section 4.3 */
#define TCP_RR_ES	4	/* enhanced sampling of RTTs, section 4.4 */

#define TCP_RR_RETRANSMITS	32	/* those that are remembered, */
#define TCP_RR_FAR		BIT(30)	/* bytes: until others have their numbers */

/* A range that was sent twice, until it is known whether that was needed */
struct tcp_rr_retransmit {
	u32	seq;
	u32	end_seq;
	u32	sent_us;	/* before; 0: not just once, no ACK tells an RTT */
	u32	resent_us;
	u32	acked_us;	/* first */
	u16	length;		/* how late it was then; 0: not late */
	bool	open;		/* it may count as false, once */
	bool	acked;
};

struct tcp_rr {
	struct tcp_rr_loop	loop;
	u64			recovery_us;	/* since it sent something; 0: not */
	u64			idle_us;	/* since when; 0: not idle */
	u32			generation;	/* of the setting, when this began */
	u32			recovery_una;	/* snd_una when it began */
	u32			idle_una;	/* what was there then: snd_una, */
	u32			idle_delivered;	/* delivered */
	u32			round_seq;	/* a round trip ends here */
	s32			rtt_us;		/* of ES, for the estimator; -1: none */
	u8			next;		/* of the ring */
	struct tcp_rr_retransmit ring[TCP_RR_RETRANSMITS];
};

static_assert(sizeof(struct tcp_rr) <= 2048);

DEFINE_STATIC_KEY_DEFERRED_FALSE(tcp_rr_wanted, HZ);

static u8 tcp_rr_mode(const struct sock *sk)
{
	/* Whoever sees it on sees its generation: tcp_rr_sysctl(). */
	return smp_load_acquire(&sock_net(sk)->ipv4.sysctl_tcp_rr);
}

/* The state of a connection; NULL: tcp_rr is off, or has told of nothing since */
static struct tcp_rr *tcp_rr_of(const struct sock *sk)
{
	struct tcp_rr *rr = tcp_sk(sk)->rr;

	if (!tcp_rr_mode(sk) || !rr ||
	    rr->generation != READ_ONCE(sock_net(sk)->ipv4.tcp_rr_generation))
		return NULL;
	return rr;
}

/* With RACK, duplicate ACKs are not what tells a loss: then this just observes. */
static bool tcp_rr_observes(const struct sock *sk)
{
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_recovery) &
	       TCP_RACK_LOSS_DETECTION;
}

/* Without samples, the threshold is TCP's own affair. */
bool __tcp_rr_rules(const struct sock *sk)
{
	const struct tcp_rr *rr = tcp_rr_of(sk);

	return rr && rr->loop.samples && !tcp_rr_observes(sk);
}

static void tcp_rr_set_threshold(struct sock *sk)
{
	u32 max = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_max_reordering);

	if (!tcp_rr_observes(sk))
		tcp_sk(sk)->reordering =
			tcp_rr_loop_threshold(&tcp_sk(sk)->rr->loop, max);
}

static void tcp_rr_learnt(struct sock *sk, enum tcp_rr_event event, u32 value)
{
	const struct tcp_rr *rr = tcp_sk(sk)->rr;

	if (rr->loop.samples)
		tcp_rr_set_threshold(sk);
	trace_tcp_rr(sk, &rr->loop, event, value);
}

/* The state of a connection, from when it is needed; NULL: plain TCP */
static struct tcp_rr *tcp_rr_get(struct sock *sk)
{
	const struct netns_ipv4 *ipv4 = &sock_net(sk)->ipv4;
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_rr *rr = tcp_rr_of(sk);
	struct mem_cgroup *memcg;

	if (!tcp_rr_mode(sk) || !tcp_is_sack(tp))
		return NULL;
	if (rr)
		return rr;

	/*
	 * What a softirq has interrupted is not charged. (Who polls busily
	 * may be, for a socket that has no memcg.) No reserves: there is
	 * plain TCP.
	 */
	memcg = set_active_memcg(mem_cgroup_from_sk(sk));
	rr = kzalloc(sizeof(*rr), GFP_NOWAIT | __GFP_ACCOUNT);
	set_active_memcg(memcg);
	if (!rr)
		return NULL;

	kfree(tp->rr);		/* of an earlier generation */
	tp->rr = rr;
	tcp_rr_loop_init(&rr->loop, READ_ONCE(ipv4->sysctl_tcp_rr_fa_percent),
			 tcp_snd_cwnd(tp), tp->tcp_mstamp);
	rr->generation = READ_ONCE(ipv4->tcp_rr_generation);
	rr->round_seq = tp->snd_nxt;
	rr->rtt_us = -1;
	return rr;
}

/**
 * tcp_rr_free() - forget all, as after a connection
 * @sk: the socket
 */
void tcp_rr_free(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->rr)
		return;
	kfree(tp->rr);
	tp->rr = NULL;
	tp->reordering = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering);
}

/* How many packets were ahead of the one at seq, section 4.1.1; 0: none */
static u32 tcp_rr_length(const struct tcp_sock *tp, u32 seq, u32 fack)
{
	u32 mss = max(tp->mss_cache, 1U);

	if (!before(seq, fack))
		return 0;
	return clamp_t(u32, DIV_ROUND_UP(fack - seq, mss) - 1, 1,
		       TCP_RR_LENGTH_MAX);
}

static void tcp_rr_sample(struct sock *sk, enum tcp_rr_event event, u32 length)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_rr_loop_sample(&tp->rr->loop, length, tp->tcp_mstamp);
	tcp_rr_learnt(sk, event, length);
}

/* What was retransmitted is acknowledged for the first time. */
static void tcp_rr_first_ack(struct sock *sk, u32 start_seq, u32 end_seq,
			     u32 length, bool spurious)
{
	struct tcp_rr *rr = tcp_sk(sk)->rr;
	struct tcp_rr_retransmit *r;

	for (r = rr->ring; r < rr->ring + TCP_RR_RETRANSMITS; r++) {
		if (!r->open || r->acked || before(r->seq, start_seq) ||
		    !before(r->seq, end_seq))
			continue;
		r->acked = true;
		r->acked_us = tcp_sk(sk)->tcp_mstamp;
		r->length = length;
		if (!spurious)
			continue;
		/* A timestamp need not wait for the retransmission's DSACK. */
		r->open = false;
		if (length)
			tcp_rr_sample(sk, TCP_RR_TWICE, length);
	}
}

void tcp_rr_delivered(struct sock *sk, u8 sacked, u32 start_seq, u32 end_seq,
		      u32 fack, bool spurious)
{
	u32 length = tcp_rr_length(tcp_sk(sk), start_seq, fack);

	if (sacked & TCPCB_RETRANS) {
		if (tcp_rr_of(sk))
			tcp_rr_first_ack(sk, start_seq, end_seq, length,
					 spurious);
	} else if (length && tcp_rr_get(sk)) {
		tcp_rr_sample(sk, TCP_RR_LATE, length);
	}
}

void __tcp_rr_retransmit(struct sock *sk, const struct sk_buff *skb,
			 u64 sent_us)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_rr *rr = tcp_rr_get(sk);
	struct tcp_rr_retransmit *r, *same = NULL;
	u32 end_seq = cb->end_seq;

	if (!rr)
		return;
	/* A timeout sends the first packet of many, and the others follow. */
	for (r = rr->ring; r < rr->ring + TCP_RR_RETRANSMITS; r++) {
		if (!r->open)
			continue;
		if (r->seq == cb->seq)
			same = r;
		else if (before(r->seq, cb->seq) && after(r->end_seq, cb->seq))
			r->end_seq = cb->seq;
	}
	if (!same) {
		same = &rr->ring[rr->next];
		rr->next = (rr->next + 1) % TCP_RR_RETRANSMITS;
	} else if (after(same->end_seq, end_seq)) {
		end_seq = same->end_seq;
	}
	*same = (struct tcp_rr_retransmit) {
		.seq = cb->seq,
		.end_seq = end_seq,
		.sent_us = sent_us,
		.resent_us = tcp_sk(sk)->tcp_mstamp,
		.open = true,
	};
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery && !rr->recovery_us)
		rr->recovery_us = tcp_sk(sk)->tcp_mstamp;
}

/*
 * The first ACK goes with what was sent first, the second one, this, with what was
 * sent next, and the mean of both counts: were it the other way round, that would
 * be the same (sections 4.1.1 and 4.4). If one was lost, that is so of the length
 * alone.
 */
static void tcp_rr_twice(struct sock *sk, struct tcp_rr_retransmit *r, u32 fack)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 length = tcp_rr_length(tp, r->seq, fack);
	/* A packet may have been told to leave later than it did. */
	s32 first_us = r->acked_us - r->sent_us;
	s32 second_us = (u32)tp->tcp_mstamp - r->resent_us;

	r->open = false;
	if ((tcp_rr_mode(sk) & TCP_RR_ES) && r->acked && r->sent_us &&
	    tp->packets_out && first_us >= 0 && second_us >= 0)
		tp->rr->rtt_us = min_t(s32, first_us / 2 + second_us / 2,
				       TCP_RTO_MAX / HZ * USEC_PER_SEC);
	if (r->acked)
		length = (r->length + length) / 2;
	if (length)
		tcp_rr_sample(sk, TCP_RR_TWICE, length);
}

/* A DSACK may be of a part of what was retransmitted, or of more. */
void __tcp_rr_dsack(struct sock *sk, u32 start_seq, u32 end_seq)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_rr *rr = tcp_rr_of(sk);
	struct tcp_rr_retransmit *r;
	u32 fack;

	if (!rr)
		return;
	fack = tcp_highest_sack_seq(tp);
	if (before(fack, tp->snd_una))
		fack = tp->snd_una;
	for (r = rr->ring; r < rr->ring + TCP_RR_RETRANSMITS; r++) {
		if (!r->open)
			continue;
		if ((!before(r->seq, start_seq) && !after(r->end_seq, end_seq)) ||
		    (!before(start_seq, r->seq) && !after(end_seq, r->end_seq)))
			tcp_rr_twice(sk, r, fack);
	}
}

/* Limited transmit had nothing left to send, and now it is over. */
static void tcp_rr_idle_ends(struct sock *sk, struct tcp_rr *rr)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 dupacks = tp->delivered - rr->idle_delivered;
	u32 srtt_us = tp->srtt_us >> 3;
	u32 idle_us;

	idle_us = min_t(u64, tp->tcp_mstamp - rr->idle_us, U32_MAX);
	rr->idle_us = 0;
	if (!srtt_us)
		return;
	if (dupacks && tp->snd_una != rr->idle_una)
		dupacks--;		/* what was late itself */
	if (tcp_rr_mode(sk) & TCP_RR_TA)
		tcp_rr_loop_idle(&rr->loop, idle_us, dupacks, srtt_us);
	tcp_rr_learnt(sk, TCP_RR_IDLE, idle_us);
}

void __tcp_rr_recovery(struct sock *sk)
{
	struct tcp_rr *rr = tcp_rr_get(sk);

	if (!rr)
		return;
	if (rr->idle_us)
		tcp_rr_idle_ends(sk, rr);
	rr->recovery_us = 0;
	rr->recovery_una = tcp_sk(sk)->snd_una;
}

/*
 * The receiver has thrown away what it had, or the retransmission was lost, or late by
 * an RTO: patience with the original is not to blame.
 */
static bool tcp_rr_lost_twice(const struct sock *sk)
{
	const struct sk_buff *skb = tcp_rtx_queue_head(sk);

	return skb && TCP_SKB_CB(skb)->sacked &
		      (TCPCB_SACKED_ACKED | TCPCB_SACKED_RETRANS);
}

/*
 * A receiver without a window says nothing of the path; and with fewer duplicate ACKs
 * than the least threshold, that is not to blame.
 */
void __tcp_rr_timeout(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 srtt_us = tp->srtt_us >> 3;
	struct tcp_rr *rr = tcp_rr_get(sk);
	u32 rto_us;

	if (!rr)
		return;
	rr->idle_us = 0;
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss || !srtt_us ||
	    !tp->snd_wnd || tp->sacked_out < TCP_RR_THRESHOLD_MIN ||
	    tcp_rr_lost_twice(sk))
		return;
	rto_us = jiffies_to_usecs(inet_csk(sk)->icsk_rto);
	if (tcp_rr_mode(sk) & TCP_RR_TA)
		tcp_rr_loop_timeout(&rr->loop, rto_us, srtt_us);
	tcp_rr_learnt(sk, TCP_RR_TIMEOUT, rto_us);
}

void __tcp_rr_undo(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_rr *rr = tcp_rr_of(sk);
	u64 since_us;
	u32 duration_us;

	if (!rr)
		return;
	/* there may be room again */
	if (rr->idle_us)
		tcp_rr_idle_ends(sk, rr);
	since_us = rr->recovery_us;
	rr->recovery_us = 0;
	/*
	 * It may be that of a recovery that was kept from sending anything again;
	 * or a timeout's own; or F-RTO's, which says nothing of what was before
	 * (no more does a timestamp then, for simplicity).
	 */
	if (!since_us || rr->recovery_una != tp->undo_marker ||
	    (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss && tp->frto &&
	     tp->undo_retrans))
		return;

	duration_us = min_t(u64, tp->tcp_mstamp - since_us, U32_MAX);
	if (tcp_rr_mode(sk) & TCP_RR_TA)
		tcp_rr_loop_false(&rr->loop, duration_us);
	tcp_rr_learnt(sk, TCP_RR_FALSE, duration_us);
}

/* A round trip is over. Returns whether samples were forgotten. */
static bool tcp_rr_round(struct sock *sk, struct tcp_rr *rr)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_rr_retransmit *r;

	rr->round_seq = tp->snd_nxt;
	if (inet_csk(sk)->icsk_ca_state <= TCP_CA_Disorder)
		tcp_rr_loop_window(&rr->loop, tcp_snd_cwnd(tp));
	for (r = rr->ring; r < rr->ring + TCP_RR_RETRANSMITS; r++)
		if (before(r->end_seq, tp->snd_una - TCP_RR_FAR))
			r->open = false;
	return tcp_rr_loop_age(&rr->loop, tp->tcp_mstamp);
}

long __tcp_rr_ack(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_rr *rr = tcp_rr_of(sk);
	long rtt_us;

	if (!rr)
		return -1;
	if (rr->idle_us && rr->idle_una != tp->snd_una)
		tcp_rr_idle_ends(sk, rr);
	if (!before(tp->snd_una, rr->round_seq)) {
		bool aged = tcp_rr_round(sk, rr);

		/* what sysctls say may have changed as well */
		if (aged || rr->loop.samples)
			tcp_rr_set_threshold(sk);
	}
	rtt_us = tcp_rr_observes(sk) ? -1 : rr->rtt_us;
	rr->rtt_us = -1;
	return rtt_us;
}

/* Section 2.3; a recovery that has begun is no limited transmit. */
u32 __tcp_rr_quota(const struct tcp_sock *tp, u32 quota)
{
	const struct sock *sk = (const struct sock *)tp;
	u32 windows = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_limited_transmit);
	struct tcp_rr *rr = tcp_rr_of(sk);
	u64 most;

	if (!windows || !tp->sacked_out ||
	    inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return quota;
	most = (u64)tcp_snd_cwnd(tp) * (windows + 1);
	if (tp->packets_out < most)
		return min_t(u64, quota, most - tp->packets_out);
	if (rr && !rr->idle_us) {
		rr->idle_us = tp->tcp_mstamp;
		rr->idle_una = tp->snd_una;
		rr->idle_delivered = tp->delivered;
	}
	return 0;
}

static DEFINE_MUTEX(tcp_rr_sysctl_mutex);

/* Lets go of the key late: who may set this need not have text patched at will. */
static void tcp_rr_want(struct net *net, bool wanted)
{
	if (wanted == net->ipv4.tcp_rr_wanted)
		return;
	net->ipv4.tcp_rr_wanted = wanted;
	if (wanted)
		static_branch_deferred_inc(&tcp_rr_wanted);
	else
		static_branch_slow_dec_deferred(&tcp_rr_wanted);
}

static int tcp_rr_sysctl(const struct ctl_table *table, int write, void *buffer,
			 size_t *len, loff_t *pos)
{
	struct net *net = table->extra2;
	struct ctl_table copy = *table;
	u8 value = READ_ONCE(*(u8 *)table->data);
	int ret;

	copy.data = &value;
	copy.extra2 = NULL;
	ret = proc_dou8vec_minmax(&copy, write, buffer, len, pos);
	if (ret || !write)
		return ret;
	/* FA and TA exclude each other, and ES alone has nothing to sample. */
	if (table->data == &net->ipv4.sysctl_tcp_rr && value &&
	    (value > (TCP_RR_TA | TCP_RR_ES) ||
	     !is_power_of_2(value & (TCP_RR_FA | TCP_RR_TA))))
		return -EINVAL;

	mutex_lock(&tcp_rr_sysctl_mutex);
	if (table->data == &net->ipv4.sysctl_tcp_rr && value &&
	    !net->ipv4.sysctl_tcp_rr)
		WRITE_ONCE(net->ipv4.tcp_rr_generation,
			   net->ipv4.tcp_rr_generation + 1);
	/* State that was not kept up to date does not come back: tcp_rr_mode(). */
	smp_store_release((u8 *)table->data, value);
	tcp_rr_want(net, net->ipv4.sysctl_tcp_rr ||
		    net->ipv4.sysctl_tcp_limited_transmit);
	mutex_unlock(&tcp_rr_sysctl_mutex);
	return 0;
}

static int fa_percent_max = 99;

/* of the first namespace */
static const struct ctl_table tcp_rr_sysctls[] = {
	{
		.procname	= "tcp_rr",
		.data		= &init_net.ipv4.sysctl_tcp_rr,
		.maxlen		= sizeof(u8),
		.mode		= 0644,
		.proc_handler	= tcp_rr_sysctl,
	},
	{
		.procname	= "tcp_rr_fa_percent",
		.data		= &init_net.ipv4.sysctl_tcp_rr_fa_percent,
		.maxlen		= sizeof(u8),
		.mode		= 0644,
		.proc_handler	= proc_dou8vec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &fa_percent_max,
	},
	{
		.procname	= "tcp_limited_transmit",
		.data		= &init_net.ipv4.sysctl_tcp_limited_transmit,
		.maxlen		= sizeof(u8),
		.mode		= 0644,
		.proc_handler	= tcp_rr_sysctl,
	},
};

static int __net_init tcp_rr_net_init(struct net *net)
{
	struct ctl_table *table;
	unsigned int i;

	net->ipv4.sysctl_tcp_rr_fa_percent = 90;

	table = kmemdup(tcp_rr_sysctls, sizeof(tcp_rr_sysctls), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(tcp_rr_sysctls); i++) {
		table[i].data += (void *)net - (void *)&init_net;
		if (table[i].proc_handler == tcp_rr_sysctl)
			table[i].extra2 = net;
	}
	net->ipv4.tcp_rr_hdr = register_net_sysctl_sz(net, "net/ipv4", table,
						      ARRAY_SIZE(tcp_rr_sysctls));
	if (!net->ipv4.tcp_rr_hdr) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

/* A socket of the kernel may live longer, and then finds the settings as they are. */
static void __net_exit tcp_rr_net_exit(struct net *net)
{
	const struct ctl_table *table = net->ipv4.tcp_rr_hdr->ctl_table_arg;

	unregister_net_sysctl_table(net->ipv4.tcp_rr_hdr);
	tcp_rr_want(net, false);
	kfree(table);
}

static struct pernet_operations tcp_rr_net_ops = {
	.init = tcp_rr_net_init,
	.exit = tcp_rr_net_exit,
};

static int __init tcp_rr_register(void)
{
	return register_pernet_subsys(&tcp_rr_net_ops);
}
fs_initcall(tcp_rr_register);
