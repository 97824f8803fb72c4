// SPDX-License-Identifier: GPL-2.0
/* ice_napi_poll() over rings that KUnit fills; registers are memory. */

#include <linux/vmalloc.h>

#include "../../../srpic/tests/poll.h"
#include "ice.h"
#include "ice_base.h"
#include "ice_lib.h"
#include "ice_txrx_lib.h"

#define RINGS	2
#define COUNT	128
#define REGS	0x500000
#define VSI	7			/* of another netdev, behind ring 0 */

/*
 * Later kernels have page pools, no choice of how an skb is made, and no descriptors
 * of flow director among those of packets.
 */
#ifdef ICE_RX_FLAGS_RING_BUILD_SKB
#define HAS_PAGE_POOL 0
#else
#define HAS_PAGE_POOL 1
#endif

struct fake {
	struct poll_nic nic;
	struct ice_pf *pf;
	struct ice_vsi *vsi;
	struct ice_q_vector *q_vector;
	struct ice_rx_ring rx[RINGS];
	struct ice_ring_stats stats[RINGS];
	struct ice_tx_ring xdp;
	struct ice_rx_ring *rings[RINGS];
	u16 rxq_map[RINGS];
	void *regs;
	u16 head[RINGS];		/* where the NIC writes next */
	u16 src_vsi;
};

static union ice_32b_rx_flex_desc *next_desc(struct kunit *test, unsigned int n)
{
	struct fake *fake = test->priv;
	struct ice_rx_ring *ring = &fake->rx[n];
	u16 i = fake->head[n];

	KUNIT_ASSERT_NE_MSG(test, i, readl(ring->tail), "no buffer is left");
	fake->head[n] = (i + 1) % COUNT;
	return ICE_RX_DESC(ring, i);
}

static void fake_receive(struct kunit *test, unsigned int n,
			 const struct poll_frame *frame, unsigned int from,
			 unsigned int to)
{
	union ice_32b_rx_flex_desc *desc = next_desc(test, n);
	struct ice_32b_rx_flex_desc_nic_2 *nic_2 = (void *)desc;
	dma_addr_t payload = le64_to_cpu(desc->read.pkt_addr);
	u16 status = BIT(ICE_RX_FLEX_DESC_STATUS0_DD_S);
	struct fake *fake = test->priv;
	u16 split = 0;

#if HAS_PAGE_POOL
	if (fake->rx[n].hdr_pp && !from) {
		memcpy(poll_memory(test, le64_to_cpu(desc->read.hdr_addr)),
		       frame->data, POLL_HEADERS);
		split = POLL_HEADERS;
		from = split;
	}
#endif
	memcpy(poll_memory(test, payload), frame->data + from, to - from);
	if (to == frame->len)
		status |= BIT(ICE_RX_FLEX_DESC_STATUS0_EOF_S) |
			  BIT(ICE_RX_FLEX_DESC_STATUS0_L3L4P_S);
	if (frame->vlan)
		status |= BIT(ICE_RX_FLEX_DESC_STATUS0_L2TAG1P_S);
	if (frame->bad_csum)
		status |= BIT(ICE_RX_FLEX_DESC_STATUS0_XSUM_L4E_S);
	memset(desc, 0, sizeof(*desc));
	desc->wb.rxdid = ICE_RXDID_FLEX_NIC_2;
	desc->wb.ptype_flex_flags0 = cpu_to_le16(26);	/* TCP over IPv4 */
	desc->wb.pkt_len = cpu_to_le16(to - from);
	desc->wb.hdr_len_sph_flex_flags1 = cpu_to_le16(split);
	desc->wb.l2tag1 = cpu_to_le16(frame->vlan);
	nic_2->src_vsi = cpu_to_le16(fake->src_vsi);
	desc->wb.status_error0 = cpu_to_le16(status);
}

static void open_ring(struct kunit *test, unsigned int n)
{
	struct fake *fake = test->priv;

#if !HAS_PAGE_POOL
	fake->rx[n].rx_buf_len = ICE_RXBUF_1536;
#endif
	KUNIT_ASSERT_EQ(test, 0, ice_setup_rx_ring(&fake->rx[n]));
	KUNIT_ASSERT_EQ(test, 0, ice_vsi_cfg_single_rxq(fake->vsi, n));
	fake->head[n] = 0;
}

static void reopen_ring(struct kunit *test)
{
	struct fake *fake = test->priv;

	poll_pause(test);
	ice_free_rx_ring(&fake->rx[0]);
	open_ring(test, 0);
	poll_resume(test);
}

static void fake_set_xdp(struct kunit *test, struct bpf_prog *prog)
{
	struct fake *fake = test->priv;

	WRITE_ONCE(fake->rx[0].xdp_prog, prog);
}

static void fake_set_xsk(struct kunit *test, struct xdp_buff_xsk *xskb,
			 unsigned int n)
{
	struct fake *fake = test->priv;
	struct ice_rx_ring *ring = &fake->rx[0];
	unsigned int i;

	poll_pause(test);
	if (!n) {
		ring->xsk_pool = NULL;	/* not to be asked for what it holds */
		kfree(ring->xdp_buf);
		ring->xdp_buf = NULL;
		xdp_rxq_info_unreg(&ring->xdp_rxq);
		ice_free_rx_ring(ring);
		open_ring(test, 0);
		poll_resume(test);
		return;
	}
	ice_clean_rx_ring(ring);
	kfree(ring->xdp_buf);		/* or what had its place */
	ring->xdp_buf = kcalloc(COUNT, sizeof(*ring->xdp_buf), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring->xdp_buf);
	if (!xdp_rxq_info_is_reg(&ring->xdp_rxq))
		KUNIT_ASSERT_EQ(test, 0, xdp_rxq_info_reg(&ring->xdp_rxq,
							  ring->netdev, 0, 0));
	for (i = 0; i < n; i++) {
		xskb[i].xdp.rxq = &ring->xdp_rxq;
		ring->xdp_buf[i] = &xskb[i].xdp;
		ICE_RX_DESC(ring, i)->read.pkt_addr = cpu_to_le64(xskb[i].dma);
	}
	ring->xsk_pool = xskb->pool;
	ice_release_rx_desc(ring, COUNT - 1);
	fake->head[0] = 0;
	poll_resume(test);
}

static int fake_init(struct kunit *test)
{
	struct fake *fake = poll_new(test, sizeof(*fake));
	struct ice_netdev_priv *priv;
	struct ice_q_vector *q_vector;
	struct ice_vsi *vsi;
	struct ice_pf *pf;
	int n;

	pf = kunit_kzalloc(test, sizeof(*pf), GFP_KERNEL);
	vsi = kunit_kzalloc(test, sizeof(*vsi), GFP_KERNEL);
	q_vector = kunit_kzalloc(test, sizeof(*q_vector), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pf);
	KUNIT_ASSERT_NOT_NULL(test, vsi);
	KUNIT_ASSERT_NOT_NULL(test, q_vector);
	fake->nic.netdev = alloc_etherdev(sizeof(*priv));
	KUNIT_ASSERT_NOT_NULL(test, fake->nic.netdev);
	fake->nic.netdev->features = NETIF_F_RXCSUM;
	SET_NETDEV_DEV(fake->nic.netdev, fake->nic.dev);
	priv = netdev_priv(fake->nic.netdev);
	priv->vsi = vsi;

	pf->pdev = &fake->nic.pdev;
	xa_init(&pf->eswitch.reprs);
	fake->regs = vzalloc(REGS);
	KUNIT_ASSERT_NOT_NULL(test, fake->regs);
	pf->hw.hw_addr = (u8 __iomem *)fake->regs;
	vsi->back = pf;
	vsi->type = ICE_VSI_PF;
	vsi->netdev = fake->nic.netdev;
	vsi->num_rxq = RINGS;
	vsi->rx_rings = fake->rings;
	vsi->rxq_map = fake->rxq_map;
	srpic_init(&vsi->srpic, vsi->netdev);
	srpic_set_ring(&vsi->srpic, COUNT);
	q_vector->vsi = vsi;
	q_vector->num_ring_rx = RINGS;
	netif_napi_add(vsi->netdev, &q_vector->napi, ice_napi_poll);
	srpic_add_napi(&vsi->srpic, &q_vector->srpic, &q_vector->napi);
	fake->pf = pf;
	fake->vsi = vsi;
	fake->q_vector = q_vector;
	fake->nic.napi = &q_vector->napi;
	fake->nic.sd = &vsi->srpic;
	fake->nic.sn = &q_vector->srpic;

	for (n = 0; n < RINGS; n++)
		fake->rx[n].vsi = vsi;
	for (n = 0; n < RINGS; n++) {
		struct ice_rx_ring *ring = &fake->rx[n];

		ring->q_vector = q_vector;
		ring->netdev = vsi->netdev;
#if !HAS_PAGE_POOL
		ring->dev = fake->nic.dev;
#endif
		ring->count = COUNT;
		ring->q_index = n;
		ring->vlan_proto = htons(ETH_P_8021Q);
		ring->xdp_ring = &fake->xdp;
		ring->ring_stats = &fake->stats[n];
		u64_stats_init(&ring->ring_stats->syncp);
		fake->rxq_map[n] = n;
		fake->rings[n] = ring;
		open_ring(test, n);
		ring->next = q_vector->rx.rx_ring;
		q_vector->rx.rx_ring = ring;
	}

	fake->nic.rings = RINGS;
	fake->nic.ring = COUNT;
	fake->nic.ring_units = 1;
	fake->nic.units = 30;
	fake->nic.receive = fake_receive;
	fake->nic.set_xdp = fake_set_xdp;
	fake->nic.set_xsk = fake_set_xsk;
	poll_start(test);
	return 0;
}

static void fake_exit(struct kunit *test)
{
	struct fake *fake = test->priv;
	int n;

	if (!fake || !fake->nic.napi)
		return;
	poll_stop(test);
	for (n = 0; n < RINGS; n++)
		ice_free_rx_ring(&fake->rx[n]);
	srpic_del_napi(&fake->q_vector->srpic);
	netif_napi_del(&fake->q_vector->napi);
	vfree(fake->regs);
	poll_free(test);
}

/* Two netdevs of which each has a flow with the same addresses and ports */
static void switchdev(struct kunit *test)
{
	struct net_device *netdev = alloc_etherdev(0);
	struct ice_repr repr = { .netdev = netdev };
	struct fake *fake = test->priv;
	struct sk_buff *skb;
	u32 others = 0;

	KUNIT_ASSERT_NOT_NULL(test, netdev);
	if (!IS_ENABLED(CONFIG_ICE_SWITCHDEV)) {
		free_netdev(netdev);
		kunit_skip(test, "the driver is built without");
	}
	netdev->features = NETIF_F_RXCSUM;
	poll_watch(test, netdev);
	fake->pf->eswitch_mode = DEVLINK_ESWITCH_MODE_SWITCHDEV;
	KUNIT_EXPECT_EQ(test, 0, xa_err(xa_store(&fake->pf->eswitch.reprs, VSI,
						 &repr, GFP_KERNEL)));
	reopen_ring(test);

	POLL_RECEIVE(test, 0, 4);
	fake->src_vsi = VSI;
	POLL_RECEIVE(test, 0, 3, 1);
	fake->src_vsi = 0;
	POLL_RECEIVE(test, 0, 2, 0);
	poll_all(test, 5);
	skb_queue_walk(&fake->nic.left, skb)
		others = others << 1 | (skb->dev == netdev);
	KUNIT_EXPECT_EQ(test, 0x3, others);
	POLL_EXPECT(test, 0, 2, 4, 1, 3);

	poll_pause(test);
	xa_destroy(&fake->pf->eswitch.reprs);
	poll_unwatch(netdev);
	free_netdev(netdev);
	poll_resume(test);
}

#if HAS_PAGE_POOL
static void header_split(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->vsi->hsplit = true;
	reopen_ring(test);
	sorted(test);
	several_buffers(test);
	merged(test);
}
#else
static void legacy_rx(struct kunit *test)
{
	struct fake *fake = test->priv;

	set_bit(ICE_FLAG_LEGACY_RX, fake->pf->flags);
	reopen_ring(test);
	sorted(test);
	several_buffers(test);
	merged(test);
}

static void flow_director(struct kunit *test)
{
	union ice_32b_rx_flex_desc *desc;

	POLL_RECEIVE(test, 0, 2, 1);
	desc = next_desc(test, 0);
	desc->wb.rxdid = 0x40;
	desc->wb.status_error0 =
		cpu_to_le16(BIT(ICE_RX_FLEX_DESC_STATUS0_DD_S));
	POLL_RECEIVE(test, 0, 0);
	poll_all(test, 3);
	POLL_EXPECT(test, 0, 1, 2);
}
#endif

static struct kunit_case ice_srpic_cases[] = {
#include "../../../srpic/tests/poll_cases.h"
	KUNIT_CASE(several_rings),
	KUNIT_CASE(af_xdp),
	KUNIT_CASE(switchdev),
#if HAS_PAGE_POOL
	KUNIT_CASE(header_split),
#else
	KUNIT_CASE(legacy_rx),
	KUNIT_CASE(flow_director),
#endif
	{ }
};

static struct kunit_suite ice_srpic_suite = {
	.name = "ice_srpic",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = ice_srpic_cases,
};

kunit_test_suite(ice_srpic_suite);
