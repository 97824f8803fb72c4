// SPDX-License-Identifier: GPL-2.0
/* A device without hardware, for tests of the receive path. */

#include <linux/bottom_half.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/hotdata.h>

#include "fixture.h"

/* Of a device that has received nothing. */
static int fixture_poll(struct napi_struct *napi, int budget)
{
	struct srpic_fixture *fix;

	fix = container_of(napi, struct srpic_fixture, napi);
	fix->flushed = false;
	srpic_begin(&fix->sn);
	srpic_end(&fix->sn, true);
	fix->flushed = true;
	napi_complete_done(napi, 0);
	return 0;
}

static const struct net_device_ops fixture_netdev_ops = { };

static int add_netdev(struct srpic_fixture *fix, rx_handler_func_t *capture)
{
	int err;

	fix->netdev = alloc_etherdev(0);
	if (!fix->netdev)
		return -ENOMEM;
	fix->netdev->netdev_ops = &fixture_netdev_ops;
	eth_hw_addr_random(fix->netdev);

	rtnl_lock();
	err = register_netdevice(fix->netdev);
	if (!err) {
		err = netdev_rx_handler_register(fix->netdev, capture, fix);
		if (err)
			unregister_netdevice(fix->netdev);
	}
	/* each packet on its own: what is judged is SRPIC, not GRO */
	fix->netdev->features &= ~NETIF_F_GRO;
	rtnl_unlock();
	if (err)
		free_netdev(fix->netdev);
	return err;
}

/* Adds a device that gives all it receives to capture; SRPIC is on. */
int srpic_fixture_init(struct srpic_fixture *fix, rx_handler_func_t *capture)
{
	int err = add_netdev(fix, capture);

	if (err)
		return err;

	/* a test may change them */
	fix->settings = srpic_net(dev_net(fix->netdev));
	fix->saved = *fix->settings;
	/* a packet shows up when it leaves, not when some more have left */
	fix->gro_normal_batch = READ_ONCE(net_hotdata.gro_normal_batch);
	WRITE_ONCE(net_hotdata.gro_normal_batch, 1);

	srpic_init(&fix->sd, fix->netdev);
	netif_napi_add(fix->netdev, &fix->napi, fixture_poll);
	srpic_add_napi(&fix->sd, &fix->sn, &fix->napi);
	napi_enable(&fix->napi);
	err = srpic_enable(&fix->sd, true);
	if (err)
		srpic_fixture_exit(fix);
	return err;
}

void srpic_fixture_exit(struct srpic_fixture *fix)
{
	WRITE_ONCE(net_hotdata.gro_normal_batch, fix->gro_normal_batch);
	WRITE_ONCE(fix->settings->block_size, fix->saved.block_size);
	WRITE_ONCE(fix->settings->full_flush_pkts, fix->saved.full_flush_pkts);
	WRITE_ONCE(fix->settings->hold_usecs, fix->saved.hold_usecs);
	srpic_stop(&fix->sn, napi_disable);
	srpic_del_napi(&fix->sn);
	netif_napi_del(&fix->napi);
	rtnl_lock();
	netdev_rx_handler_unregister(fix->netdev);
	unregister_netdevice(fix->netdev);
	rtnl_unlock();
	free_netdev(fix->netdev);
}

/* What a driver's poll function does first, and last. */
void srpic_fixture_begin(struct srpic_fixture *fix)
{
	local_bh_disable();
	napi_schedule_prep(&fix->napi);
	WRITE_ONCE(fix->napi.list_owner, 0);	/* as if the core would poll */
	fix->flushed = false;
	srpic_begin(&fix->sn);
}

void srpic_fixture_end(struct srpic_fixture *fix)
{
	srpic_end(&fix->sn, true);
	fix->flushed = true;
	napi_complete_done(&fix->napi, 1);
	local_bh_enable();
}
