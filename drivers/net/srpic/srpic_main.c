// SPDX-License-Identifier: GPL-2.0
/*
 * What drivers do with SRPIC outside their poll functions: a device, its NAPI
 * instances, on and off.
 */

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "srpic_priv.h"

/*
 * Does not care who else polls: either this poll is for a packet that has waited
 * for too long, or srpic_end() starts the timer anew.
 */
static enum hrtimer_restart srpic_timeout(struct hrtimer *timer)
{
	napi_schedule(container_of(timer, struct srpic, timer)->napi);
	return HRTIMER_NORESTART;
}

/*
 * Has the NAPI instance scheduled at this time, in ns; not at all at U64_MAX. The
 * timer may be about to fire, or firing on another CPU: as the instance is still
 * owned here, it will be polled again then.
 */
void srpic_set_timer(struct srpic *srpic, u64 deadline)
{
	struct hrtimer *timer = &srpic->timer;

	if (deadline == U64_MAX) {
		if (hrtimer_is_queued(timer))
			hrtimer_try_to_cancel(timer);
	} else if (!hrtimer_is_queued(timer) ||
		   ktime_to_ns(hrtimer_get_expires(timer)) != deadline) {
		hrtimer_start(timer, ns_to_ktime(deadline),
			      HRTIMER_MODE_ABS_PINNED);
	}
}

/* On the device's node, not that of the CPU that switches SRPIC on. */
struct srpic *srpic_create(const struct srpic_napi *sn)
{
	struct device *parent = sn->sd->netdev->dev.parent;
	struct srpic *srpic;

	srpic = kvzalloc_node(sizeof(*srpic), GFP_KERNEL,
			      parent ? dev_to_node(parent) :
				       NUMA_NO_NODE);
	if (!srpic)
		return NULL;

	srpic->napi = sn->napi;
	srpic->sd = sn->sd;
	srpic_table_init(&srpic->table);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(&srpic->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
	srpic->timer.function = srpic_timeout;
#else
	hrtimer_setup(&srpic->timer, srpic_timeout, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED);
#endif
	u64_stats_init(&srpic->syncp);
	return srpic;
}

void srpic_destroy(struct srpic *srpic)
{
	if (!srpic)
		return;
	WARN_ON_ONCE(srpic->table.num_active);
	hrtimer_cancel(&srpic->timer);
	kvfree(srpic);
}

/**
 * srpic_init - prepare a device for SRPIC, which is off
 * @sd: embedded in the driver's private data
 * @netdev: the device, whose network namespace has the settings
 *
 * Must be called before the device is registered, and before the first
 * srpic_add_napi(). Takes no resources, so there is no counterpart; may be
 * called again while no NAPI instance is added.
 *
 * Context: process context.
 */
void srpic_init(struct srpic_dev *sd, struct net_device *netdev)
{
	sd->netdev = netdev;
	sd->ring_pkts = 0;
	sd->enabled = false;
	mutex_init(&sd->lock);
	INIT_LIST_HEAD(&sd->napis);
	memset(sd->retired, 0, sizeof(sd->retired));
}
EXPORT_SYMBOL_GPL(srpic_init);

static bool srpic_prepare(struct srpic_napi *sn)
{
	if (!sn->srpic)
		sn->srpic = srpic_create(sn);
	return sn->srpic;
}

static void srpic_activate(struct srpic_napi *sn, bool on)
{
	/* pairs with the address dependency on srpic_begin()'s READ_ONCE() */
	smp_store_release(&sn->active, on ? sn->srpic : NULL);
}

/**
 * srpic_enable - switch SRPIC on or off
 * @sd: the device
 * @on: the new state; if it is the old one, nothing is done
 *
 * Takes effect with the next poll of each NAPI instance; a poll under way
 * ends as it began. Memory is taken when SRPIC is first switched on and kept
 * until the NAPI instance goes.
 *
 * Context: process context; may sleep.
 * Return: 0, or -ENOMEM and nothing has changed.
 */
int srpic_enable(struct srpic_dev *sd, bool on)
{
	struct srpic_napi *sn;
	int err = 0;

	mutex_lock(&sd->lock);
	if (on == sd->enabled)
		goto unlock;
	list_for_each_entry(sn, &sd->napis, node) {
		if (on && !srpic_prepare(sn)) {
			err = -ENOMEM;
			goto unlock;
		}
	}
	list_for_each_entry(sn, &sd->napis, node)
		srpic_activate(sn, on);
	WRITE_ONCE(sd->enabled, on);
unlock:
	mutex_unlock(&sd->lock);
	return err;
}
EXPORT_SYMBOL_GPL(srpic_enable);

/**
 * srpic_stop - disable a NAPI instance, and have it deliver what it holds
 * @sn: the NAPI instance
 * @disable: napi_disable() or napi_disable_locked()
 *
 * In place of @disable. Polls that end from now on hold nothing, and one more
 * is asked for: the one under way may have ended just now.
 *
 * Context: as of @disable: process context; may sleep.
 */
void srpic_stop(struct srpic_napi *sn,
		void (*disable)(struct napi_struct *napi))
{
	atomic_inc(&sn->stopping);
	/* a poll that does not see this, and holds packets, had the context */
	smp_mb__after_atomic();
	if (READ_ONCE(sn->srpic)) {
		local_bh_disable();
		napi_schedule(sn->napi);
		local_bh_enable();
	}
	disable(sn->napi);
	if (sn->srpic)
		hrtimer_cancel(&sn->srpic->timer);
	atomic_dec(&sn->stopping);
}
EXPORT_SYMBOL_GPL(srpic_stop);

/**
 * srpic_add_napi - add a NAPI instance to a device
 * @sd: the device
 * @sn: embedded in the driver's NAPI vector, zeroed; one that was added already
 *	stays as it is
 * @napi: the NAPI instance itself, by which packets will leave
 *
 * If SRPIC is on, the instance sorts from its first poll. Should there be no
 * memory for that, it receives without sorting; switching SRPIC off and on
 * tries again.
 *
 * Context: process context, the NAPI instance is disabled; may sleep.
 */
void srpic_add_napi(struct srpic_dev *sd, struct srpic_napi *sn,
		    struct napi_struct *napi)
{
	mutex_lock(&sd->lock);
	if (sn->sd)
		goto unlock;
	sn->napi = napi;
	sn->sd = sd;
	list_add_tail(&sn->node, &sd->napis);
	if (sd->enabled) {
		srpic_prepare(sn);
		srpic_activate(sn, true);
	}
unlock:
	mutex_unlock(&sd->lock);
}
EXPORT_SYMBOL_GPL(srpic_add_napi);

/**
 * srpic_del_napi - remove a NAPI instance from its device
 * @sn: the NAPI instance; one that was never added is ignored
 *
 * Its counts stay with the device.
 *
 * Context: process context, the NAPI instance is disabled; may sleep.
 */
void srpic_del_napi(struct srpic_napi *sn)
{
	struct srpic_dev *sd = sn->sd;

	if (!sd)
		return;

	mutex_lock(&sd->lock);
	list_del(&sn->node);
	if (sn->srpic)
		srpic_stats_add(sn->srpic, sd->retired);
	mutex_unlock(&sd->lock);

	srpic_destroy(sn->srpic);
	memset(sn, 0, sizeof(*sn));
}
EXPORT_SYMBOL_GPL(srpic_del_napi);

static int __init srpic_module_init(void)
{
	return srpic_sysctl_init();
}

static void __exit srpic_module_exit(void)
{
	srpic_sysctl_exit();
}

module_init(srpic_module_init);
module_exit(srpic_module_exit);
