/* SPDX-License-Identifier: GPL-2.0 */
/* A device without hardware, for tests of the receive path. */
#ifndef _SRPIC_TESTS_FIXTURE_H
#define _SRPIC_TESTS_FIXTURE_H

#include <linux/netdevice.h>
#include <net/srpic.h>

/**
 * struct srpic_fixture - a device, and its one NAPI instance
 * @netdev: the device; the capture function's rx_handler_data is the fixture
 * @sd: its SRPIC
 * @sn: that of the NAPI instance
 * @napi: the same, as the core knows it
 * @gro_normal_batch: setting of the host, as it was
 * @flushed: srpic_flush() has returned in this poll
 */
struct srpic_fixture {
	struct net_device *netdev;
	struct srpic_dev sd;
	struct srpic_napi sn;
	struct napi_struct napi;
	int gro_normal_batch;
	bool flushed;
};

int srpic_fixture_init(struct srpic_fixture *fix, rx_handler_func_t *capture);
void srpic_fixture_exit(struct srpic_fixture *fix);
void srpic_fixture_begin(struct srpic_fixture *fix);
void srpic_fixture_end(struct srpic_fixture *fix);

#endif /* _SRPIC_TESTS_FIXTURE_H */
