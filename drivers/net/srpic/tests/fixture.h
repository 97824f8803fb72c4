/* SPDX-License-Identifier: GPL-2.0 */
/* A device without hardware, for tests of the receive path. */
#ifndef _SRPIC_TESTS_FIXTURE_H
#define _SRPIC_TESTS_FIXTURE_H

#include <linux/netdevice.h>
#include <net/srpic.h>

#include "../srpic_priv.h"

/**
 * struct srpic_fixture - a device, and its one NAPI instance
 * @netdev: the device; the capture function's rx_handler_data is the fixture
 * @sd: its SRPIC
 * @sn: that of the NAPI instance
 * @napi: the same, as the core knows it
 * @settings: those of the network namespace
 * @saved: what they were
 * @gro_normal_batch: setting of the host, as it was
 * @flushed: srpic_end() has returned in this poll
 */
struct srpic_fixture {
	struct net_device *netdev;
	struct srpic_dev sd;
	struct srpic_napi sn;
	struct napi_struct napi;
	struct srpic_net *settings;
	struct srpic_net saved;
	int gro_normal_batch;
	bool flushed;
};

/* srpic.model_seed=: that of all that is random, 0: a new one */
extern ulong srpic_model_seed;

static inline void srpic_fixture_stats(struct srpic_fixture *fix, u64 *stats)
{
	srpic_get_stats(&fix->sd, &stats);
}

int srpic_fixture_init(struct srpic_fixture *fix, rx_handler_func_t *capture);
void srpic_fixture_exit(struct srpic_fixture *fix);
void srpic_fixture_begin(struct srpic_fixture *fix);
void srpic_fixture_end(struct srpic_fixture *fix);

#endif /* _SRPIC_TESTS_FIXTURE_H */
