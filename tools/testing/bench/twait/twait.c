// SPDX-License-Identifier: GPL-2.0
/*
 * twait: how long packets wait in the backlog of a TCP socket, and why.
 *
 * T_wait is that of W. Wu, M. Crawford: Potential performance bottleneck in Linux
 * TCP (2007), section 4: from tcp_add_backlog() to tcp_v4_do_rcv() or
 * tcp_v6_do_rcv(), 0 for a packet that did not wait. What was coalesced waited as
 * well, and is counted by its packets. Beside it, how long a task was off the CPU
 * while it owned the socket in tcp_recvmsg(), and why: a tick, or a task that woke,
 * gave the CPU to another fair one; a real-time task took it, and a fair one got it
 * behind that ("pick") or none did ("rt"); a quota was used up; or the task slept
 * ("fault"). One task reads from a socket.
 *
 * It is about sockets with one local port: twait.port=. /sys/kernel/debug/twait has
 * the figures, one in a line; what waits, or is off the CPU, counts with its time so
 * far. Whatever is written there clears them. "lost" counts what it could not follow:
 * figures are right if that is 0, but later kernels than 6.13 do not tell of each
 * probe that they leave out. It needs CONFIG_FPROBE, and no kernel of its own. Unlike
 * a kprobe's, the handler of an interrupt is not left out where it interrupts another
 * one.
 */

#include <linux/debugfs.h>
#include <linux/fprobe.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <net/inet_sock.h>

#define NR_WAITING	65536	/* a backlog of 32 MB is 23,000 packets */
#define NR_READERS	16
#define BINS_PER_OCTAVE	8
#define NR_BINS		(40 * BINS_PER_OCTAVE)

static ushort port = 5201;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "the local port of the sockets");

/* Table IV: below 1, 10, 100, 200 ms, 1 s; and the rest */
static const u64 class_ns[] = {
	NSEC_PER_MSEC, 10 * NSEC_PER_MSEC, 100 * NSEC_PER_MSEC,
	200 * NSEC_PER_MSEC, NSEC_PER_SEC, U64_MAX,
};

static const char * const class_names[] = {
	"1ms", "10ms", "100ms", "200ms", "1s", "more",
};

#define NR_CLASSES	ARRAY_SIZE(class_ns)

struct histogram {
	u64 class[NR_CLASSES];
	u64 bin[NR_BINS];		/* of microseconds */
	u64 max_ns;
};

/* A packet, or some that GRO made one of, in a backlog */
struct waiting {
	struct hlist_node node;
	const struct sk_buff *skb;	/* that it is part of */
	u64 since_ns;
	unsigned int packets;
};

enum why { WHY_TICK, WHY_WAKEUP, WHY_RT, WHY_PICK, WHY_QUOTA, WHY_FAULT, NR_WHY };

static const char * const why_names[] = {
	"tick", "wakeup", "rt", "pick", "quota", "fault",
};

/* A task within tcp_recvmsg() */
struct reader {
	const struct task_struct *task;
	const struct sock *sk;
	u64 left_ns;			/* 0: it runs, or does not own the socket */
	enum why why;
};

/* Later kernels have a quota end as a task returns to user space. */
#define QUOTA_IN_KERNEL	(IS_ENABLED(CONFIG_CFS_BANDWIDTH) && \
			 LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0))

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define probe_regs		pt_regs
#define argument		regs_get_kernel_argument
#define return_value		regs_return_value
#define AT_ONCE			.nr_maxactive = NR_READERS,
#else
#define probe_regs		ftrace_regs
#define argument		ftrace_regs_get_argument
#define return_value		ftrace_regs_get_return_value
#define AT_ONCE			/* any number */
#endif

static DEFINE_RAW_SPINLOCK(lock);	/* of all that follows */
static DEFINE_HASHTABLE(backlog, 12);
static struct waiting *all;
static HLIST_HEAD(unused);
static struct reader readers[NR_READERS];
static struct seen {
	struct histogram wait, off;	/* of packets; of times off the CPU */
	u64 why[NR_WHY], why_ns[NR_WHY];
	u64 backlogged, coalesced, dropped, lost;
} seen;

/* What happened on a CPU since it last switched */
static DEFINE_PER_CPU(const struct task_struct *, woken);
static DEFINE_PER_CPU(bool, throttled);

static bool ours(const struct sock *sk)
{
	return sk->sk_num == port && sk->sk_state != TCP_LISTEN;
}

static unsigned int packets_of(const struct sk_buff *skb)
{
	return max_t(unsigned int, 1, skb_shinfo(skb)->gso_segs);
}

static unsigned int bin_of(u64 us)
{
	unsigned int octave;

	if (us < BINS_PER_OCTAVE)
		return us;
	octave = fls64(us) - 4;		/* us >> octave is 8 to 15 */
	return min_t(unsigned int, NR_BINS - 1,
		     octave * BINS_PER_OCTAVE + (us >> octave));
}

/* Where a bin begins, in us */
static u64 bin_us(unsigned int bin)
{
	unsigned int octave;

	if (bin < 2 * BINS_PER_OCTAVE)
		return bin;
	octave = bin / BINS_PER_OCTAVE - 1;
	return (u64)(bin - octave * BINS_PER_OCTAVE) << octave;
}

/* CPUs may disagree on the time, by little. */
static void count(struct histogram *histogram, u64 since_ns, u64 now_ns, u64 times)
{
	u64 ns = max_t(s64, 0, now_ns - since_ns);
	unsigned int class = 0;

	while (ns >= class_ns[class])
		class++;
	histogram->class[class] += times;
	histogram->bin[bin_of(ns / NSEC_PER_USEC)] += times;
	histogram->max_ns = max(histogram->max_ns, ns);
}

/* A reader is, or was, off the CPU. */
static void count_off(struct seen *of, const struct reader *reader, u64 now_ns)
{
	count(&of->off, reader->left_ns, now_ns, 1);
	of->why[reader->why]++;
	of->why_ns[reader->why] += max_t(s64, 0, now_ns - reader->left_ns);
}

static void forget(struct waiting *waiting)
{
	hash_del(&waiting->node);
	hlist_add_head(&waiting->node, &unused);
}

/* A packet goes to the backlog: it, and what becomes of it. */
struct adding {
	const struct sock *sk;
	const struct sk_buff *skb;
	u64 now_ns;
	unsigned int packets;
};

static int add_begins(struct fprobe *probe, unsigned long ip, unsigned long ret_ip,
		      struct probe_regs *regs, void *data)
{
	struct adding *adding = data;

	adding->sk = (void *)argument(regs, 0);
	if (!ours(adding->sk))
		return 1;
	adding->skb = (void *)argument(regs, 1);
	adding->packets = packets_of(adding->skb);
	adding->now_ns = local_clock();
	return 0;
}

static void add_ends(struct fprobe *probe, unsigned long ip, unsigned long ret_ip,
		     struct probe_regs *regs, void *data)
{
	struct adding *adding = data;
	/* the lock of the socket is held unless it was dropped */
	bool dropped = (u8)return_value(regs);
	const struct sk_buff *tail;
	struct hlist_node *next;
	struct waiting *waiting;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	if (dropped) {
		seen.dropped += adding->packets;
		goto unlock;
	}
	tail = READ_ONCE(adding->sk->sk_backlog.tail);
	seen.backlogged += adding->packets;
	if (tail == adding->skb) {
		/* an skb of this name went another way */
		hash_for_each_possible_safe(backlog, waiting, next, node,
					    (unsigned long)tail)
			if (waiting->skb == tail) {
				seen.lost += waiting->packets;
				forget(waiting);
			}
	} else {
		seen.coalesced += adding->packets;
	}
	if (!tail || hlist_empty(&unused)) {
		seen.lost += adding->packets;
		goto unlock;
	}
	waiting = hlist_entry(unused.first, struct waiting, node);
	hlist_del(&waiting->node);
	waiting->skb = tail;
	waiting->since_ns = adding->now_ns;
	waiting->packets = adding->packets;
	hash_add(backlog, &waiting->node, (unsigned long)tail);
unlock:
	raw_spin_unlock_irqrestore(&lock, flags);
}

/* TCP processes a packet. */
static int received(struct fprobe *probe, unsigned long ip, unsigned long ret_ip,
		    struct probe_regs *regs, void *data)
{
	const struct sock *sk = (void *)argument(regs, 0);
	const struct sk_buff *skb = (void *)argument(regs, 1);
	struct waiting *waiting;
	struct hlist_node *next;
	unsigned long flags;
	bool waited = false;
	u64 now_ns;

	if (!ours(sk))
		return 0;
	raw_spin_lock_irqsave(&lock, flags);
	now_ns = local_clock();
	hash_for_each_possible_safe(backlog, waiting, next, node,
				    (unsigned long)skb)
		if (waiting->skb == skb) {
			count(&seen.wait, waiting->since_ns, now_ns,
			      waiting->packets);
			forget(waiting);
			waited = true;
		}
	if (!waited)
		count(&seen.wait, now_ns, now_ns, packets_of(skb));
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

/* A task reads. */
static int read_begins(struct fprobe *probe, unsigned long ip, unsigned long ret_ip,
		       struct probe_regs *regs, void *data)
{
	const struct sock *sk = (void *)argument(regs, 0);
	unsigned long flags;
	unsigned int i = 0;

	if (!ours(sk))
		return 1;
	raw_spin_lock_irqsave(&lock, flags);
	while (i < NR_READERS && readers[i].task)
		i++;
	if (i < NR_READERS)
		readers[i] = (struct reader){ .task = current, .sk = sk };
	else
		seen.lost++;
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static void read_ends(struct fprobe *probe, unsigned long ip, unsigned long ret_ip,
		      struct probe_regs *regs, void *data)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < NR_READERS; i++)
		if (readers[i].task == current)
			readers[i].task = NULL;
	raw_spin_unlock_irqrestore(&lock, flags);
}

static int __maybe_unused
throttles(struct fprobe *probe, unsigned long ip, unsigned long ret_ip,
	  struct probe_regs *regs, void *data)
{
	this_cpu_write(throttled, true);
	return 0;
}

static void wakes(void *data, struct task_struct *task)
{
	this_cpu_write(woken, task);
}

static enum why why_left(bool preempt, unsigned int prev_state,
			 struct task_struct *next)
{
	if (!preempt && prev_state)
		return WHY_FAULT;
	if (this_cpu_read(throttled))
		return WHY_QUOTA;
	if (next->prio < MAX_RT_PRIO)
		return WHY_RT;
	return this_cpu_read(woken) == next ? WHY_WAKEUP : WHY_TICK;
}

static void switches(void *data, bool preempt, struct task_struct *prev,
		     struct task_struct *next, unsigned int prev_state)
{
	enum why why = why_left(preempt, prev_state, next);
	struct reader *reader;
	unsigned long flags;
	u64 now_ns;

	this_cpu_write(throttled, false);
	this_cpu_write(woken, NULL);
	raw_spin_lock_irqsave(&lock, flags);
	now_ns = local_clock();
	for (reader = readers; reader < readers + NR_READERS; reader++) {
		if (!reader->task)
			continue;
		if (reader->task == prev && reader->sk->sk_lock.owned) {
			reader->left_ns = now_ns;
			reader->why = why;
		} else if (reader->task == next && reader->left_ns) {
			count_off(&seen, reader, now_ns);
			reader->left_ns = 0;
		} else if (reader->left_ns && reader->why == WHY_RT &&
			   task_cpu(reader->task) == smp_processor_id() &&
			   next->prio >= MAX_RT_PRIO && !is_idle_task(next)) {
			reader->why = WHY_PICK;
		}
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

static struct {
	const char *symbol;
	struct fprobe probe;
} probes[] = {
	{ "tcp_add_backlog", { AT_ONCE .entry_handler = add_begins,
			       .exit_handler = add_ends,
			       .entry_data_size = sizeof(struct adding) } },
	{ "tcp_recvmsg", { AT_ONCE .entry_handler = read_begins,
			   .exit_handler = read_ends } },
	{ "tcp_v4_do_rcv", { .entry_handler = received } },
	{ "tcp_v6_do_rcv", { .entry_handler = received } },
#if QUOTA_IN_KERNEL
	{ "throttle_cfs_rq", { .entry_handler = throttles } },
#endif
};

/* Probes that were hit and not run, since the figures were cleared. */
static unsigned long missed_before;

static unsigned long missed(void)
{
	unsigned long times = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		times += probes[i].probe.nmissed;
	return times;
}

static void show(struct seq_file *file, const char *name,
		 const struct histogram *histogram)
{
	u64 sum = 0, part = 0;
	unsigned int i;

	for (i = 0; i < NR_CLASSES; i++) {
		seq_printf(file, "%s_%s %llu\n", name, class_names[i],
			   histogram->class[i]);
		sum += histogram->class[i];
	}
	for (i = 0; i < NR_BINS - 1; i++) {
		part += histogram->bin[i];
		if (part * 100 >= sum * 99)
			break;
	}
	/* what 99 % are below */
	seq_printf(file, "%s_p99_us %llu\n%s_max_us %llu\n", name,
		   sum ? bin_us(i + 1) : 0, name, histogram->max_ns / NSEC_PER_USEC);
}

static int twait_show(struct seq_file *file, void *unused_data)
{
	static struct seen so_far;
	struct waiting *waiting;
	unsigned long flags;
	unsigned int i;
	u64 now_ns;

	raw_spin_lock_irqsave(&lock, flags);
	now_ns = local_clock();
	so_far = seen;
	hash_for_each(backlog, i, waiting, node)
		count(&so_far.wait, waiting->since_ns, now_ns, waiting->packets);
	for (i = 0; i < NR_READERS; i++)
		if (readers[i].task && readers[i].left_ns)
			count_off(&so_far, &readers[i], now_ns);
	show(file, "wait", &so_far.wait);
	show(file, "off", &so_far.off);
	for (i = 0; i < NR_WHY; i++)
		seq_printf(file, "off_%s %llu\noff_%s_us %llu\n", why_names[i],
			   so_far.why[i], why_names[i],
			   so_far.why_ns[i] / NSEC_PER_USEC);
	seq_printf(file, "backlogged %llu\ncoalesced %llu\ndropped %llu\nlost %llu\n",
		   so_far.backlogged, so_far.coalesced, so_far.dropped,
		   so_far.lost + missed() - missed_before);
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static int twait_open(struct inode *inode, struct file *file)
{
	return single_open(file, twait_show, NULL);
}

static ssize_t twait_write(struct file *file, const char __user *text, size_t len,
			   loff_t *pos)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	memset(&seen, 0, sizeof(seen));
	missed_before = missed();
	raw_spin_unlock_irqrestore(&lock, flags);
	return len;
}

static const struct file_operations twait_fops = {
	.owner		= THIS_MODULE,
	.open		= twait_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= twait_write,
	.release	= single_release,
};

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} traced[] = {
	{ "sched_wakeup", wakes },
	{ "sched_switch", switches },
};

static struct dentry *figures;
static int nr_probes, nr_traced;

static void find(struct tracepoint *tracepoint, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(traced); i++)
		if (!strcmp(traced[i].name, tracepoint->name))
			traced[i].tracepoint = tracepoint;
}

static void twait_exit(void)
{
	debugfs_remove(figures);
	while (nr_traced--)
		tracepoint_probe_unregister(traced[nr_traced].tracepoint,
					    traced[nr_traced].probe, NULL);
	tracepoint_synchronize_unregister();
	while (nr_probes--)
		unregister_fprobe(&probes[nr_probes].probe);
	vfree(all);
}

static int __init twait_init(void)
{
	unsigned int i;
	int ret;

	all = vcalloc(NR_WAITING, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < NR_WAITING; i++)
		hlist_add_head(&all[i].node, &unused);

	for_each_kernel_tracepoint(find, NULL);
	for (; nr_traced < ARRAY_SIZE(traced); nr_traced++) {
		ret = !traced[nr_traced].tracepoint ? -ENOENT :
		      tracepoint_probe_register(traced[nr_traced].tracepoint,
						traced[nr_traced].probe, NULL);
		if (ret)
			goto fail;
	}
	for (; nr_probes < ARRAY_SIZE(probes); nr_probes++) {
		ret = register_fprobe_syms(&probes[nr_probes].probe,
					   &probes[nr_probes].symbol, 1);
		if (ret)
			goto fail;
	}
	figures = debugfs_create_file("twait", 0600, NULL, NULL, &twait_fops);
	return 0;
fail:
	twait_exit();
	return ret;
}

module_init(twait_init);
module_exit(twait_exit);
MODULE_DESCRIPTION("How long TCP packets wait for a receiver that is off the CPU");
MODULE_LICENSE("GPL");
