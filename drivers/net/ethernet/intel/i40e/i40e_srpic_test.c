// SPDX-License-Identifier: GPL-2.0
/* i40e_napi_poll() over rings that KUnit fills; registers are memory. */

#include "../../../srpic/tests/poll.h"
#include "i40e.h"
#include "i40e_txrx_common.h"

#define RINGS	2
#define COUNT	128
#define REGS	0x40000
#define TAIL(n)	(4 * (n))

struct fake {
	struct poll_nic nic;
	struct i40e_vsi *vsi;
	struct i40e_q_vector *q_vector;
	struct i40e_ring rx[RINGS];
	struct i40e_ring tx;
	u16 head[RINGS];		/* where the NIC writes next */
};

static void write_back(struct kunit *test, unsigned int n, u16 vlan, u64 qword)
{
	struct fake *fake = test->priv;
	struct i40e_ring *ring = &fake->rx[n];
	union i40e_rx_desc *desc = I40E_RX_DESC(ring, fake->head[n]);

	KUNIT_ASSERT_NE_MSG(test, fake->head[n], readl(ring->tail),
			    "no buffer is left");
	fake->head[n] = (fake->head[n] + 1) % COUNT;
	desc->wb.qword0.lo_dword.l2tag1 = cpu_to_le16(vlan);
	desc->wb.qword0.hi_dword.rss = 0;
	desc->wb.qword1.status_error_len =
		cpu_to_le64(BIT(I40E_RX_DESC_STATUS_DD_SHIFT) | qword);
}

static void fake_receive(struct kunit *test, unsigned int n,
			 const struct poll_frame *frame, unsigned int from,
			 unsigned int to)
{
	struct fake *fake = test->priv;
	union i40e_rx_desc *desc = I40E_RX_DESC(&fake->rx[n], fake->head[n]);
	u64 qword = FIELD_PREP(I40E_RXD_QW1_LENGTH_PBUF_MASK, to - from);

	if (to == frame->len)
		/* 26: TCP over IPv4 */
		qword |= BIT(I40E_RX_DESC_STATUS_EOF_SHIFT) |
			 BIT(I40E_RX_DESC_STATUS_L3L4P_SHIFT) |
			 FIELD_PREP(I40E_RXD_QW1_PTYPE_MASK, 26);
	if (frame->vlan)
		qword |= BIT(I40E_RX_DESC_STATUS_L2TAG1P_SHIFT);
	if (frame->bad_csum)
		qword |= BIT(I40E_RXD_QW1_ERROR_SHIFT +
			     I40E_RX_DESC_ERROR_L4E_SHIFT);
	memcpy(poll_memory(test, le64_to_cpu(desc->read.pkt_addr)),
	       frame->data + from, to - from);
	write_back(test, n, frame->vlan, qword);
}

/* What i40e_configure_rx_ring() does that is not for the NIC. */
static void open_ring(struct kunit *test, unsigned int n, bool legacy)
{
	struct fake *fake = test->priv;
	struct i40e_ring *ring = &fake->rx[n];

	ring->rx_buf_len = I40E_RXBUFFER_2048;
	ring->rx_offset = legacy ? 0 : I40E_SKB_PAD;
	if (legacy)
		clear_ring_build_skb_enabled(ring);
	else
		set_ring_build_skb_enabled(ring);
	KUNIT_ASSERT_EQ(test, 0, i40e_setup_rx_descriptors(ring));
	KUNIT_ASSERT_EQ(test, 0, xdp_rxq_info_reg(&ring->xdp_rxq, ring->netdev,
						  n, 0));
	KUNIT_ASSERT_EQ(test, 0,
			xdp_rxq_info_reg_mem_model(&ring->xdp_rxq,
						   MEM_TYPE_PAGE_SHARED, NULL));
	xdp_init_buff(&ring->xdp, i40e_rx_pg_size(ring) / 2, &ring->xdp_rxq);
	KUNIT_ASSERT_FALSE(test, i40e_alloc_rx_buffers(ring,
						       I40E_DESC_UNUSED(ring)));
	fake->head[n] = 0;
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
	struct i40e_ring *ring = &fake->rx[0];
	unsigned int i;

	ring->xsk_pool = NULL;	/* not to be asked for what it holds */
	if (!n)
		memset(ring->rx_bi_zc, 0, sizeof(*ring->rx_bi) * COUNT);
	i40e_clean_rx_ring(ring);
	for (i = 0; i < n; i++) {
		ring->xsk_pool = xskb->pool;
		ring->rx_bi_zc[i] = &xskb[i].xdp;
		I40E_RX_DESC(ring, i)->read.pkt_addr = cpu_to_le64(xskb[i].dma);
	}
	i40e_release_rx_desc(ring, n ? COUNT - 1 : 0);
}

static int fake_init(struct kunit *test)
{
	struct fake *fake = poll_new(test, sizeof(*fake));
	struct i40e_netdev_priv *priv;
	struct i40e_q_vector *q_vector;
	struct i40e_vsi *vsi;
	struct i40e_pf *pf;
	u8 *regs;
	int n;

	pf = kunit_kzalloc(test, sizeof(*pf), GFP_KERNEL);
	vsi = kunit_kzalloc(test, sizeof(*vsi), GFP_KERNEL);
	q_vector = kunit_kzalloc(test, sizeof(*q_vector), GFP_KERNEL);
	regs = kunit_kzalloc(test, REGS, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pf);
	KUNIT_ASSERT_NOT_NULL(test, vsi);
	KUNIT_ASSERT_NOT_NULL(test, q_vector);
	KUNIT_ASSERT_NOT_NULL(test, regs);
	fake->nic.netdev = alloc_etherdev(sizeof(*priv));
	KUNIT_ASSERT_NOT_NULL(test, fake->nic.netdev);
	fake->nic.netdev->features = NETIF_F_RXCSUM;
	priv = netdev_priv(fake->nic.netdev);
	priv->vsi = vsi;

	pf->hw.hw_addr = (u8 __iomem *)regs;
	set_bit(I40E_FLAG_MSIX_ENA, pf->flags);
	vsi->back = pf;
	vsi->type = I40E_VSI_MAIN;
	vsi->netdev = fake->nic.netdev;
	vsi->work_limit = I40E_DEFAULT_IRQ_WORK;
	srpic_init(&vsi->srpic, vsi->netdev);
	srpic_set_ring(&vsi->srpic, COUNT);
	q_vector->vsi = vsi;
	q_vector->num_ringpairs = RINGS;
	cpumask_copy(&q_vector->affinity_mask, cpu_possible_mask);
	fake->vsi = vsi;
	fake->q_vector = q_vector;

	fake->tx.vsi = vsi;
	fake->tx.q_vector = q_vector;
	fake->tx.netdev = vsi->netdev;
	fake->tx.dev = fake->nic.dev;
	fake->tx.count = COUNT;
	KUNIT_ASSERT_EQ(test, 0, i40e_setup_tx_descriptors(&fake->tx));
	q_vector->tx.ring = &fake->tx;
	netif_napi_add(vsi->netdev, &q_vector->napi, i40e_napi_poll);
	srpic_add_napi(&vsi->srpic, &q_vector->srpic, &q_vector->napi);
	fake->nic.napi = &q_vector->napi;
	fake->nic.sd = &vsi->srpic;
	fake->nic.sn = &q_vector->srpic;
	for (n = 0; n < RINGS; n++)
		fake->rx[n].vsi = vsi;
	for (n = 0; n < RINGS; n++) {
		struct i40e_ring *ring = &fake->rx[n];

		ring->q_vector = q_vector;
		ring->netdev = vsi->netdev;
		ring->dev = fake->nic.dev;
		ring->count = COUNT;
		ring->queue_index = n;
		ring->tail = pf->hw.hw_addr + TAIL(n);
		open_ring(test, n, false);
		ring->next = q_vector->rx.ring;
		q_vector->rx.ring = ring;
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
	srpic_del_napi(&fake->q_vector->srpic);
	netif_napi_del(&fake->q_vector->napi);
	for (n = 0; n < RINGS; n++)
		i40e_free_rx_resources(&fake->rx[n]);
	i40e_free_tx_resources(&fake->tx);
	poll_free(test);
}

static void legacy_rx(struct kunit *test)
{
	struct fake *fake = test->priv;

	i40e_free_rx_resources(&fake->rx[0]);
	open_ring(test, 0, true);
	sorted(test);
	several_buffers(test);
	merged(test);
}

static void flow_director(struct kunit *test)
{
	POLL_RECEIVE(test, 0, 2, 1);
	write_back(test, 0, 0, I40E_RXD_QW1_LENGTH_SPH_MASK |
		   FIELD_PREP(I40E_RX_PROG_STATUS_DESC_QW1_PROGID_MASK,
			      I40E_RX_PROG_STATUS_DESC_FD_FILTER_STATUS));
	POLL_RECEIVE(test, 0, 0);
	poll_all(test, 3);
	POLL_EXPECT(test, 0, 1, 2);
}

/* NAPI completes with work left, for the interrupt to come to another CPU. */
static void affinity_changed(struct kunit *test)
{
	struct fake *fake = test->priv;

	cpumask_clear(&fake->q_vector->affinity_mask);
	poll_budget(test, 8 * RINGS - 1);
	KUNIT_EXPECT_TRUE(test, poll_completed(test));
	poll_expect(test, 8);
}

/* It receives nothing any more, and delivers what earlier polls left. */
static void vsi_down(struct kunit *test)
{
	struct fake *fake = test->priv;

	poll_budget(test, 8 * RINGS);
	set_bit(__I40E_VSI_DOWN, fake->vsi->state);
	poll_for_netpoll(test);
	poll_all(test, 0);
	poll_expect(test, 8);
}

static struct kunit_case i40e_srpic_cases[] = {
#include "../../../srpic/tests/poll_cases.h"
	KUNIT_CASE(several_rings),
	KUNIT_CASE(af_xdp),
	KUNIT_CASE(legacy_rx),
	KUNIT_CASE(flow_director),
	KUNIT_CASE(affinity_changed),
	KUNIT_CASE(vsi_down),
	{ }
};

static struct kunit_suite i40e_srpic_suite = {
	.name = "i40e_srpic",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = i40e_srpic_cases,
};

kunit_test_suite(i40e_srpic_suite);
