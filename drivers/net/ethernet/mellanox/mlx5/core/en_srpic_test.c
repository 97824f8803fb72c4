// SPDX-License-Identifier: GPL-2.0
/*
 * mlx5e_napi_poll() over queues that KUnit fills, of any kind: a case opens them
 * anew. The firmware says yes to everything. Included by en_main.c, for what opens
 * queues.
 */

#include <kunit/static_stub.h>

#include "../../../../srpic/tests/poll.h"

/* later kernels make what XDP needs when it does, and have pools of memory for DMA */
#ifdef MLX5E_SHAMPO_LOG_MAX_HEADER_ENTRY_SIZE
#define HAS_ALL_QUEUES 1
#else
#define HAS_ALL_QUEUES 0
#endif

#define LOG_RQ_SIZE	7
#define MTTS		1024
#define HEADERS		4096
#define DOORBELLS	0x1000

struct fake {
	struct poll_nic nic;
	struct mlx5_core_dev *mdev;
	struct mlx5e_priv *priv;
	struct mlx5e_channel *c;
	struct mlx5e_params params;
	struct mlx5e_channel_param cparam;
	struct mlx5e_channel_stats stats;
	struct mlx5e_channel_stats *channel_stats[1];
	struct mlx5_uars_page uar;
	u32 mkeys;
	bool is_open;
	/* what the NIC does next: CQEs, WQEs of the icosq, receive WQEs */
	u32 cqe;
	u32 ico_cqe;
	u16 ico_wqe;
	u16 wqes;			/* that were used up */
	u16 wqe;			/* in a linked list: the index */
	u16 stride;
	u16 header;
	u64 mtt[MTTS];
	u64 header_at[HEADERS];
};

/* Headers are in pages that the queue's last mkey maps, unless a UMR WQE says more. */
static void map_headers(struct fake *fake, void *in)
{
	u32 n = 2 * MLX5_GET(create_mkey_in, in,
			     translations_octword_actual_size);
	struct mlx5_mtt *mtt = MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt);
	const u32 size = BIT(MLX5E_SHAMPO_LOG_HEADER_ENTRY_SIZE);
	const u32 per_page = PAGE_SIZE / size;
	u32 i;

	for (i = 0; i < min_t(u32, n * per_page, HEADERS); i++)
		fake->header_at[i] = be64_to_cpu(mtt[i / per_page].ptag) +
				     i % per_page * size;
}

static int fake_cmd(struct mlx5_core_dev *mdev, void *in, int in_size, void *out,
		    int out_size)
{
	struct fake *fake = kunit_get_current_test()->priv;

	memset(out, 0, out_size);
	if (MLX5_GET(create_mkey_in, in, opcode) == MLX5_CMD_OP_CREATE_MKEY) {
		MLX5_SET(create_mkey_out, out, mkey_index, ++fake->mkeys);
		map_headers(fake, in);
	}
	return 0;
}

/* Where a CQE goes, zeroed. */
static struct mlx5_cqe64 *next_cqe(struct mlx5e_cq *cq, u32 n)
{
	struct mlx5_cqe64 *cqe;

	cqe = mlx5_cqwq_get_wqe(&cq->wq, mlx5_cqwq_ctr2ix(&cq->wq, n));
	memset(cqe, 0, sizeof(*cqe));
	return cqe;
}

static void write_cqe(struct mlx5e_cq *cq, struct mlx5_cqe64 *cqe, u32 n,
		      u8 opcode, u8 format)
{
	u32 round = mlx5_cqwq_get_ctr_wrap_cnt(&cq->wq, n);

	cqe->validity_iteration_count = round;
	cqe->op_own = opcode << 4 | format << 2 | (round & MLX5_CQE_OWNER_MASK);
}

/* Maps pages, and headers' places, as the driver's UMR WQEs say. */
static void run_umrs(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct mlx5e_icosq *sq = &fake->c->icosq;
	struct mlx5e_rq *rq = &fake->c->rq;
	u16 end = be32_to_cpu(*sq->wq.db), last = 0;
	struct mlx5_cqe64 *cqe;

	if (fake->ico_wqe == end)
		return;
	while (fake->ico_wqe != end) {
		u16 ix = mlx5_wq_cyc_ctr2ix(&sq->wq, fake->ico_wqe);
		struct mlx5e_umr_wqe *umr = mlx5_wq_cyc_get_wqe(&sq->wq, ix);
		struct mlx5_wqe_ctrl_seg *ctrl = (void *)umr;
		struct mlx5_wqe_umr_ctrl_seg *uctrl = (void *)(ctrl + 1);
		u32 opcode = be32_to_cpu(ctrl->opmod_idx_opcode) & 0xff;
		u32 at = be16_to_cpu(uctrl->xlt_offset);
		u32 n = be16_to_cpu(uctrl->xlt_octowords), i;

		if (opcode == MLX5_OPCODE_UMR &&
		    ctrl->umr_mkey == rq->mpwqe.umr_mkey_be) {
			for (i = 0; i < 2 * n && 2 * at + i < MTTS; i++)
				fake->mtt[2 * at + i] =
					be64_to_cpu(umr->inline_mtts[i].ptag);
		} else if (opcode == MLX5_OPCODE_UMR) {
			for (i = 0; i < n && at + i < HEADERS; i++)
				fake->header_at[at + i] =
					be64_to_cpu(umr->inline_ksms[i].va);
		}
		last = fake->ico_wqe;
		fake->ico_wqe += DIV_ROUND_UP(be32_to_cpu(ctrl->qpn_ds) &
					      MLX5_WQE_CTRL_DS_MASK,
					      MLX5_SEND_WQEBB_NUM_DS);
	}
	cqe = next_cqe(&sq->cq, fake->ico_cqe);
	cqe->wqe_counter = cpu_to_be16(last);
	write_cqe(&sq->cq, cqe, fake->ico_cqe++, MLX5_CQE_REQ, 0);
}

/* Writes to what the mkey of the receive WQEs maps. */
static void write_mapped(struct kunit *test, u64 va, const u8 *data, u32 len)
{
	struct fake *fake = test->priv;
	u8 shift = fake->c->rq.mpwqe.page_shift;
	u32 n;

	for (; len; va += n, data += n, len -= n) {
		u32 at = va & (BIT(shift) - 1);
		u64 mtt;

		KUNIT_ASSERT_LT(test, va >> shift, MTTS);
		mtt = fake->mtt[va >> shift] & ~(u64)7;
		n = min_t(u32, len, BIT(shift) - at);
		memcpy(poll_memory(test, mtt) + at, data, n);
	}
}

static bool is_striding(struct fake *fake)
{
	return fake->params.rq_wq_type == MLX5_WQ_TYPE_LINKED_LIST_STRIDING_RQ;
}

/* These bytes of a frame go to the next WQE of a cyclic queue. */
static void write_cyclic(struct kunit *test, const u8 *data, u32 from, u32 to)
{
	struct fake *fake = test->priv;
	struct mlx5_wq_cyc *wq = &fake->c->rq.wqe.wq;
	struct mlx5e_rx_wqe_cyc *wqe;
	u32 at = 0, f;

	KUNIT_ASSERT_NE_MSG(test, fake->wqes, (u16)be32_to_cpu(*wq->db),
			    "no buffer is left");
	wqe = mlx5_wq_cyc_get_wqe(wq, mlx5_wq_cyc_ctr2ix(wq, fake->wqes));
	for (f = 0; at < to; f++) {
		u32 size = be32_to_cpu(wqe->data[f].byte_count) &
			   ~MLX5_HW_START_PADDING;
		u32 first = max(from, at), end = min(to, at + size);

		if (first < end)
			memcpy(poll_memory(test, be64_to_cpu(wqe->data[f].addr)) +
			       first - at, data + first, end - first);
		at += size;
	}
}

static struct mlx5e_rx_wqe_ll *this_wqe(struct fake *fake)
{
	return mlx5_wq_ll_get_wqe(&fake->c->rq.mpwqe.wq, fake->wqe);
}

/* So many strides of the next WQE of a linked list are used up by this CQE. */
static void use_strides(struct fake *fake, struct mlx5_cqe64 *cqe, u32 n)
{
	struct mpwrq_cqe_bc *bc = (struct mpwrq_cqe_bc *)&cqe->byte_cnt;

	cqe->wqe_id = cpu_to_be16(fake->wqe);
	cqe->wqe_counter = cpu_to_be16(fake->stride);
	bc->filler_consumed_strides |= cpu_to_be16(n);
	fake->stride += n;
}

/* Nothing else fits into this WQE. */
static void write_filler(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct mlx5e_rq *rq = &fake->c->rq;
	struct mlx5_cqe64 *cqe = next_cqe(&rq->cq, fake->cqe);
	struct mpwrq_cqe_bc *bc = (struct mpwrq_cqe_bc *)&cqe->byte_cnt;

	bc->filler_consumed_strides = cpu_to_be16(0x8000);
	use_strides(fake, cqe, rq->mpwqe.num_strides - fake->stride);
	write_cqe(&rq->cq, cqe, fake->cqe++, MLX5_CQE_RESP_SEND, 0);
}

/* The WQE that has space for so many strides: this one, or the next one. */
static void find_wqe(struct kunit *test, u32 strides)
{
	struct fake *fake = test->priv;
	struct mlx5e_rq *rq = &fake->c->rq;

	run_umrs(test);
	if (fake->stride + strides > rq->mpwqe.num_strides &&
	    fake->stride < rq->mpwqe.num_strides)
		write_filler(test);
	if (fake->stride == rq->mpwqe.num_strides) {
		fake->wqe = be16_to_cpu(this_wqe(fake)->next.next_wqe_index);
		fake->stride = 0;
		fake->wqes++;
	}
	KUNIT_ASSERT_NE_MSG(test, fake->wqes,
			    (u16)be32_to_cpu(*rq->mpwqe.wq.db),
			    "no buffer is left");
}

/* A CQE as far as it does not depend on the kind of queue. */
static struct mlx5_cqe64 *describe(struct fake *fake,
				   const struct poll_frame *frame)
{
	struct mlx5_cqe64 *cqe = next_cqe(&fake->c->rq.cq, fake->cqe);
	__wsum sum = csum_partial(frame->data + ETH_HLEN, frame->len - ETH_HLEN,
				  0);

	cqe->hds_ip_ext = CQE_L3_OK | (frame->bad_csum ? 0 : CQE_L4_OK);
	cqe->check_sum = (__force __be16)~(__force u16)csum_fold(sum);
	cqe->l4_l3_hdr_type = !!frame->vlan;
	cqe->vlan_info = cpu_to_be16(frame->vlan);
	cqe->byte_cnt = cpu_to_be32(frame->len);
	return cqe;
}

/* Puts a frame, all or in part, into memory; returns the CQE if it is the end. */
static struct mlx5_cqe64 *place(struct kunit *test,
				const struct poll_frame *frame, u32 from, u32 to)
{
	struct fake *fake = test->priv;
	struct mlx5_cqe64 *cqe;
	u32 strides, size;

	if (!is_striding(fake)) {
		write_cyclic(test, frame->data, from, to);
		if (to < frame->len)
			return NULL;
		cqe = describe(fake, frame);
		cqe->wqe_counter = cpu_to_be16(fake->wqes++);
		return cqe;
	}
	size = BIT(fake->c->rq.mpwqe.log_stride_sz);
	strides = DIV_ROUND_UP(frame->len, size);
	find_wqe(test, strides);
	write_mapped(test, be64_to_cpu(this_wqe(fake)->data[0].addr) +
		     fake->stride * size + from, frame->data + from, to - from);
	if (to < frame->len)
		return NULL;
	cqe = describe(fake, frame);
	use_strides(fake, cqe, strides);
	return cqe;
}

static void fake_receive(struct kunit *test, unsigned int n,
			 const struct poll_frame *frame, unsigned int from,
			 unsigned int to)
{
	struct fake *fake = test->priv;
	struct mlx5_cqe64 *cqe = place(test, frame, from, to);

	if (cqe)
		write_cqe(&fake->c->rq.cq, cqe, fake->cqe++, MLX5_CQE_RESP_SEND,
			  0);
}

#if HAS_ALL_QUEUES
static int init_memory(struct mlx5_core_dev *mdev)
{
	mutex_init(&mdev->priv.pgdir_mutex);
	INIT_LIST_HEAD(&mdev->priv.pgdir_list);
	return 0;
}

static void free_memory(struct mlx5_core_dev *mdev)
{
}

static int build_params(struct fake *fake)
{
	return mlx5e_build_channel_param(fake->mdev, &fake->params,
					 &fake->cparam);
}

static int open_rq(struct fake *fake)
{
	return mlx5e_open_rxq_rq(fake->c, &fake->params, &fake->cparam.rq);
}
#else
static int init_memory(struct mlx5_core_dev *mdev)
{
	return mlx5_frag_buf_pools_init(mdev) ?: mlx5_db_pools_init(mdev);
}

static void free_memory(struct mlx5_core_dev *mdev)
{
	mlx5_db_pools_cleanup(mdev);
	mlx5_frag_buf_pools_cleanup(mdev);
}

static int build_params(struct fake *fake)
{
	fake->c->bfreg = &fake->mdev->priv.bfreg;
	return mlx5e_build_channel_param(fake->mdev, &fake->params, NULL,
					 &fake->cparam);
}

static int open_rq(struct fake *fake)
{
	int err;

	netdev_lock(fake->c->netdev);
	err = mlx5e_open_rxq_rq(fake->c, &fake->params, &fake->cparam.rq,
				&fake->cparam.rq_opt);
	netdev_unlock(fake->c->netdev);
	return err;
}
#endif

/* How many frames fill the queue, and no WQE in part */
static void measure_ring(struct fake *fake)
{
	struct mlx5e_rq *rq = &fake->c->rq;
	struct poll_nic *nic = &fake->nic;
	u32 len, strides;

	nic->ring_units = nic->units ? 40 : 1;
	if (!is_striding(fake)) {
		nic->ring = mlx5_wq_cyc_get_size(&rq->wqe.wq);
		return;
	}
	len = POLL_HEADERS + nic->ring_units * POLL_UNIT;
	strides = DIV_ROUND_UP(len, BIT(rq->mpwqe.log_stride_sz));
	nic->ring = mlx5_wq_ll_get_size(&rq->mpwqe.wq) *
		    (rq->mpwqe.num_strides / strides);
}

/* As mlx5e_open_channel() does, but for interrupts, and all that transmits. */
static void open_queues(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct mlx5e_channel *c = fake->c;
	struct mlx5e_channel_param *cparam = &fake->cparam;
	struct mlx5e_create_cq_param ccp;
	struct mlx5_core_dev *mdev = fake->mdev;

	memset(cparam, 0, sizeof(*cparam));
	KUNIT_ASSERT_EQ(test, 0, build_params(fake));
	mlx5e_build_create_cq_param(&ccp, c);
	KUNIT_ASSERT_EQ(test, 0, mlx5e_alloc_cq(mdev, &cparam->icosq.cqp, &ccp,
						&c->icosq.cq));
#if HAS_ALL_QUEUES
	KUNIT_ASSERT_EQ(test, 0, mlx5e_alloc_cq(mdev, &cparam->async_icosq.cqp,
						&ccp, &c->async_icosq.cq));
	KUNIT_ASSERT_EQ(test, 0, mlx5e_alloc_cq(mdev, &cparam->xdp_sq.cqp, &ccp,
						&c->xdpsq.cq));
#endif
	KUNIT_ASSERT_EQ(test, 0, mlx5e_alloc_cq(mdev, &cparam->rq.cqp, &ccp,
						&c->rq.cq));
	KUNIT_ASSERT_EQ(test, 0, mlx5e_open_icosq(c, &fake->params,
						  &cparam->icosq, &c->icosq,
						  mlx5e_icosq_err_cqe_work));
	KUNIT_ASSERT_EQ(test, 0, open_rq(fake));
	mlx5e_activate_icosq(&c->icosq);
	mlx5e_activate_rq(&c->rq);
	fake->cqe = 0;
	fake->ico_cqe = 0;
	fake->ico_wqe = 0;
	fake->wqes = 0;
	fake->wqe = 0;
	fake->stride = 0;
	fake->header = 0;
	fake->is_open = true;
	measure_ring(fake);
}

static void close_queues(struct fake *fake)
{
	struct mlx5e_channel *c = fake->c;

	if (!fake->is_open)
		return;
	fake->is_open = false;
	mlx5e_deactivate_rq(&c->rq);
	mlx5e_deactivate_icosq(&c->icosq);
	mutex_lock(&fake->priv->state_lock);
	mlx5e_close_rq(&c->rq);
	mutex_unlock(&fake->priv->state_lock);
	mlx5e_close_icosq(&c->icosq);
	mlx5e_free_cq(&c->rq.cq);
#if HAS_ALL_QUEUES
	mlx5e_free_cq(&c->xdpsq.cq);
	mlx5e_free_cq(&c->async_icosq.cq);
#endif
	mlx5e_free_cq(&c->icosq.cq);
	memset(&c->rq, 0, sizeof(c->rq));
	memset(&c->icosq, 0, sizeof(c->icosq));
}

/* Has the driver give buffers to the NIC. */
static void fill_queues(struct kunit *test)
{
	poll_all(test, 0);
	run_umrs(test);
	poll_all(test, 0);
}

static void reopen(struct kunit *test)
{
	poll_pause(test);
	close_queues(test->priv);
	open_queues(test);
	poll_resume(test);
	fill_queues(test);
}

static void fake_set_xdp(struct kunit *test, struct bpf_prog *prog)
{
	struct fake *fake = test->priv;

	fake->params.xdp_prog = prog;
	reopen(test);
}

static int fake_init(struct kunit *test)
{
	struct fake *fake = poll_new(test, sizeof(*fake));
	struct mlx5_core_dev *mdev;
	struct mlx5e_channel *c;
	struct mlx5e_priv *priv;
	void *doorbells;
	int i;

	mdev = kunit_kzalloc(test, sizeof(*mdev), GFP_KERNEL);
	c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	doorbells = kunit_kzalloc(test, DOORBELLS, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mdev);
	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_NOT_NULL(test, doorbells);
	for (i = 0; i < MLX5_CAP_NUM; i++) {
		mdev->caps.hca[i] = kunit_kzalloc(test,
						  sizeof(*mdev->caps.hca[i]),
						  GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, mdev->caps.hca[i]);
	}
	MLX5_SET(cmd_hca_cap, mdev->caps.hca[MLX5_CAP_GENERAL]->cur,
		 max_wqe_sz_sq, 1024);
	MLX5_SET(cmd_hca_cap, mdev->caps.hca[MLX5_CAP_GENERAL]->cur,
		 ext_stride_num_range, 1);
	MLX5_SET(cmd_hca_cap, mdev->caps.hca[MLX5_CAP_GENERAL]->cur,
		 log_max_klm_list_size, 16);
	fake->nic.netdev = alloc_etherdev(sizeof(*priv));
	KUNIT_ASSERT_NOT_NULL(test, fake->nic.netdev);
	fake->nic.netdev->features = NETIF_F_RXCSUM;

	mdev->pdev = &fake->nic.pdev;
	mdev->device = fake->nic.dev;
	fake->uar.map = (void __iomem *)doorbells;
	mutex_init(&mdev->priv.alloc_mutex);
	KUNIT_ASSERT_EQ(test, 0, init_memory(mdev));
	mdev->priv.bfreg.up = &fake->uar;
	mdev->priv.bfreg.map = fake->uar.map;
	mdev->mlx5e_res.hw_objs.mkey = 1;
	kunit_activate_static_stub(test, mlx5_cmd_do, fake_cmd);

	priv = netdev_priv(fake->nic.netdev);
	priv->mdev = mdev;
	priv->netdev = fake->nic.netdev;
	priv->profile = &mlx5e_nic_profile;
	priv->channel_stats = fake->channel_stats;
	fake->channel_stats[0] = &fake->stats;
	mutex_init(&priv->state_lock);
	srpic_init(&priv->srpic, priv->netdev);
	srpic_set_ring(&priv->srpic, BIT(LOG_RQ_SIZE));
	c->priv = priv;
	c->mdev = mdev;
#if HAS_ALL_QUEUES
	c->tstamp = &priv->tstamp;
#endif
	c->pdev = mdev->device;
	c->netdev = priv->netdev;
	c->mkey_be = cpu_to_be32(mdev->mlx5e_res.hw_objs.mkey);
	c->stats = &fake->stats.ch;
	c->aff_mask = cpu_possible_mask;
	fake->mdev = mdev;
	fake->priv = priv;
	fake->c = c;
	fake->params.rq_wq_type = MLX5_WQ_TYPE_CYCLIC;
	fake->params.log_rq_mtu_frames = LOG_RQ_SIZE;
	fake->params.log_sq_size = MLX5E_PARAMS_MINIMUM_LOG_SQ_SIZE;
	fake->params.num_channels = 1;
	fake->params.hard_mtu = MLX5E_ETH_HARD_MTU;
	fake->params.sw_mtu = ETH_DATA_LEN;

	netif_napi_add(priv->netdev, &c->napi, mlx5e_napi_poll);
	srpic_add_napi(&priv->srpic, &c->srpic, &c->napi);
	fake->nic.napi = &c->napi;
	fake->nic.sd = &priv->srpic;
	fake->nic.sn = &c->srpic;
	fake->nic.rings = 1;
	fake->nic.receive = fake_receive;
	fake->nic.set_xdp = fake_set_xdp;
	open_queues(test);
	poll_start(test);
	fill_queues(test);
	return 0;
}

static void fake_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	if (!fake || !fake->nic.napi)
		return;
	poll_stop(test);
	close_queues(fake);
	free_memory(fake->mdev);
	srpic_del_napi(&fake->c->srpic);
	netif_napi_del(&fake->c->napi);
	poll_free(test);
}

/* What depends on how a queue makes packets. */
static void all_of_a_queue(struct kunit *test)
{
	struct poll_nic *nic = test->priv;

	sorted(test);
	budget_used_up(test);
	if (nic->units) {
		half_a_frame(test);
		several_buffers(test);
	}
	vlan_tag(test);
	bad_checksum(test);
	reopen(test);	/* from the start of a WQE on */
	around_the_ring(test);
	nic->netdev->features &= ~NETIF_F_GRO;
	xdp_pass(test);
	merged(test);
}

static void cyclic_nonlinear(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->params.sw_mtu = 9000;
	fake->nic.units = 50;
	reopen(test);
	all_of_a_queue(test);
}

static void striding(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->params.rq_wq_type = MLX5_WQ_TYPE_LINKED_LIST_STRIDING_RQ;
	reopen(test);
	KUNIT_EXPECT_TRUE(test, mlx5e_rx_mpwqe_is_linear_skb(fake->mdev,
							     &fake->params,
							     NULL));
	all_of_a_queue(test);
}

static void striding_nonlinear(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->params.rq_wq_type = MLX5_WQ_TYPE_LINKED_LIST_STRIDING_RQ;
	fake->params.sw_mtu = 9000;
	fake->nic.units = 50;
	reopen(test);
	all_of_a_queue(test);
}

static void filler(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->params.rq_wq_type = MLX5_WQ_TYPE_LINKED_LIST_STRIDING_RQ;
	reopen(test);
	POLL_RECEIVE(test, 0, 3, 1);
	write_filler(test);
	poll_all(test, 3);
	POLL_EXPECT(test, 1, 3);
	POLL_RECEIVE(test, 0, 2, 0);
	write_filler(test);
	POLL_RECEIVE(test, 0, 1);
	poll_all(test, 4);
	POLL_EXPECT(test, 0, 1, 2);
}

/* What the NIC took for good, it says in another way than by a sum. */
static void csum_unnecessary(struct kunit *test)
{
	struct fake *fake = test->priv;

	MLX5E_SET_PFLAG(&fake->params, MLX5E_PFLAG_RX_NO_CSUM_COMPLETE, true);
	reopen(test);
	sorted(test);
	bad_checksum(test);
	KUNIT_EXPECT_EQ(test, 0, fake->stats.rq.csum_complete);
	KUNIT_EXPECT_EQ(test, 8, fake->stats.rq.csum_unnecessary);
}

static void csum_complete(struct kunit *test)
{
	struct fake *fake = test->priv;

	MLX5_SET(per_protocol_networking_offload_caps,
		 fake->mdev->caps.hca[MLX5_CAP_ETHERNET_OFFLOADS]->cur,
		 cqe_checksum_full, 1);
	reopen(test);
	sorted(test);
	bad_checksum(test);
	KUNIT_EXPECT_EQ(test, 9, fake->stats.rq.csum_complete);
}

/* A block of the basic layout: a title, and an array for each eight packets. */
static void receive_block(struct kunit *test, u32 number, u32 n)
{
	struct fake *fake = test->priv;
	struct mlx5e_cq *cq = &fake->c->rq.cq;
	struct mlx5_mini_cqe8 mini[16] = {};
	struct mlx5_cqe64 title, *cqe;
	u32 first = fake->cqe, i;

	for (i = 0; i < n; i++) {
		struct poll_frame *frame = poll_frame(test, number + (i ^ 1), 1);

		cqe = place(test, frame, 0, frame->len);
		mini[i].checksum = cqe->check_sum;
		mini[i].byte_cnt = cqe->byte_cnt;
		if (!i)
			title = *cqe;
	}
	for (i = 0; i < n; i += 8)
		memcpy(next_cqe(cq, first + (i ?: 1)), &mini[i],
		       sizeof(struct mlx5_cqe64));
	cqe = next_cqe(cq, first);
	*cqe = title;
	cqe->byte_cnt = cpu_to_be32(n);
	write_cqe(cq, cqe, first, MLX5_CQE_RESP_SEND, MLX5_COMPRESSED);
	fake->cqe += n;
}

static void compressed(struct kunit *test)
{
	struct fake *fake = test->priv;

	MLX5E_SET_PFLAG(&fake->params, MLX5E_PFLAG_RX_CQE_COMPRESS, true);
	reopen(test);
	receive_block(test, 0, 12);
	/* ends within the block */
	KUNIT_EXPECT_EQ(test, 5, poll_once(test, 5));
	KUNIT_EXPECT_FALSE(test, poll_completed(test));
	poll_expect(test, 0);
	poll_all(test, 7);
	poll_expect(test, 12);
	receive_block(test, 0, 10);
	poll_all(test, 10);
	poll_expect(test, 10);
}

/* A block of the enhanced layout has up to seven packets in a CQE behind a usual one. */
static void receive_enhanced(struct kunit *test, u32 number, u32 n)
{
	struct fake *fake = test->priv;
	struct mlx5e_cq *cq = &fake->c->rq.cq;
	struct mlx5_mini_cqe8 mini[8] = {};
	struct mlx5_cqe64 *cqe;
	u32 i;

	poll_receive(test, 0, poll_frame(test, number + n, 1));
	for (i = 0; i < n; i++) {
		struct poll_frame *frame = poll_frame(test, number + n - 1 - i, 1);

		cqe = place(test, frame, 0, frame->len);
		mini[i].checksum = cqe->check_sum;
		mini[i].byte_cnt = cqe->byte_cnt;
	}
	cqe = next_cqe(cq, fake->cqe);
	memcpy(cqe, mini, sizeof(*cqe));
	write_cqe(cq, cqe, fake->cqe, n - 1, MLX5_COMPRESSED);
	fake->cqe += n;
}

static void compressed_enhanced(struct kunit *test)
{
	struct fake *fake = test->priv;

	MLX5_SET(cmd_hca_cap, fake->mdev->caps.hca[MLX5_CAP_GENERAL]->cur,
		 enhanced_cqe_compression, 1);
	MLX5E_SET_PFLAG(&fake->params, MLX5E_PFLAG_RX_CQE_COMPRESS, true);
	reopen(test);
	receive_enhanced(test, 0, 7);
	/* ends within the block, which waits as a whole */
	KUNIT_EXPECT_EQ(test, 5, poll_once(test, 5));
	KUNIT_EXPECT_FALSE(test, poll_completed(test));
	poll_expect(test, 0);
	poll_all(test, 7);
	poll_expect(test, 8);
	receive_enhanced(test, 0, 4);
	poll_all(test, 5);
	poll_expect(test, 5);
}

/* What the NIC has merged is a range of sequence numbers. */
static void lro(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct poll_frame *frame;
	struct mlx5_cqe64 *cqe;

	fake->params.rq_wq_type = MLX5_WQ_TYPE_LINKED_LIST_STRIDING_RQ;
	fake->params.packet_merge.type = MLX5E_PACKET_MERGE_LRO;
	reopen(test);
	POLL_RECEIVE(test, 0, 4);
	frame = poll_frame(test, 2, 2);
	cqe = place(test, frame, 0, frame->len);
	cqe->srqn = cpu_to_be32(2 << 24);
	cqe->lro.min_ttl = 64;
	cqe->l4_l3_hdr_type |= CQE_L4_HDR_TYPE_TCP_ACK_AND_DATA << 4;
	write_cqe(&fake->c->rq.cq, cqe, fake->cqe++, MLX5_CQE_RESP_SEND, 0);
	POLL_RECEIVE(test, 0, 1);
	poll_all(test, 3);
	KUNIT_EXPECT_EQ(test, 1, fake->stats.rq.lro_packets);
	KUNIT_EXPECT_EQ(test, 3, skb_queue_len(&fake->nic.left));
	POLL_EXPECT(test, 1, 2, 3, 4);
}

/* The NIC tells whether a packet continues the one before, and whether it is the last. */
static void receive_gro(struct kunit *test, const struct poll_frame *frame, bool match,
			bool flush)
{
	struct fake *fake = test->priv;
	struct mlx5e_rq *rq = &fake->c->rq;
	u32 len = frame->len - POLL_HEADERS, at;
	u32 size = BIT(rq->mpwqe.log_stride_sz);
	struct mlx5_cqe64 *cqe;

	find_wqe(test, DIV_ROUND_UP(len, size));
	at = fake->stride * size;
	memcpy(poll_memory(test, fake->header_at[fake->header]), frame->data,
	       POLL_HEADERS);
	write_mapped(test, be64_to_cpu(this_wqe(fake)->data[0].addr) + at,
		     frame->data + POLL_HEADERS, len);
	cqe = describe(fake, frame);
	use_strides(fake, cqe, DIV_ROUND_UP(len, size));
	cqe->shampo.match = match;
	cqe->shampo.flush = flush;
	cqe->shampo.header_size = POLL_HEADERS;
	cqe->shampo.header_entry_index = cpu_to_be16(fake->header++);
	cqe->shampo.data_offset = cpu_to_be32(at);
	write_cqe(&rq->cq, cqe, fake->cqe++, MLX5_CQE_RESP_SEND, 0);
}

static void hardware_gro(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->params.rq_wq_type = MLX5_WQ_TYPE_LINKED_LIST_STRIDING_RQ;
	fake->params.packet_merge.type = MLX5E_PACKET_MERGE_SHAMPO;
	reopen(test);
	receive_gro(test, poll_frame(test, 6, 1), false, true);
	receive_gro(test, poll_frame(test, 3, 1), false, false);
	receive_gro(test, poll_frame(test, 4, 1), true, false);
	/* the end of a match */
	receive_gro(test, poll_frame(test, 5, 1), true, true);
	receive_gro(test, poll_frame(test, 0, 1), false, false);
	/* does not continue it */
	receive_gro(test, poll_frame(test, 2, 1), false, false);
	/* open when the poll ends */
	receive_gro(test, poll_frame(test, 1, 1), false, false);
	poll_all(test, 7);
	KUNIT_EXPECT_EQ(test, 1, fake->stats.rq.gro_skbs);
	KUNIT_EXPECT_EQ(test, 5, skb_queue_len(&fake->nic.left));
	poll_expect(test, 7);
}

/* What has no flow cannot be continued, and does not wait for the end of the poll. */
static void hardware_gro_no_flow(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct poll_frame *frame;

	fake->params.rq_wq_type = MLX5_WQ_TYPE_LINKED_LIST_STRIDING_RQ;
	fake->params.packet_merge.type = MLX5E_PACKET_MERGE_SHAMPO;
	reopen(test);
	frame = poll_frame(test, 1, 1);
	((struct iphdr *)(frame->data + ETH_HLEN))->ihl = 4;
	receive_gro(test, frame, false, false);
	receive_gro(test, poll_frame(test, 0, 1), true, true);
	poll_all(test, 2);
	KUNIT_EXPECT_EQ(test, 0, fake->stats.rq.gro_skbs);
	POLL_EXPECT(test, 1, 0);
}

/* NAPI completes with work left, for the interrupt to come to another CPU. */
static void affinity_changed(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->c->aff_mask = cpu_none_mask;
	poll_budget(test, 8 - 1);
	KUNIT_EXPECT_TRUE(test, poll_completed(test));
	poll_expect(test, 8);
}

/* As those for PTP, which belong to no channel. */
static void queue_without_srpic(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->c->rq.srpic = NULL;
	POLL_RECEIVE(test, 0, 3, 1, 0);
	poll_all(test, 3);
	POLL_EXPECT(test, 3, 1, 0);
}

static struct kunit_case mlx5e_srpic_cases[] = {
#include "../../../../srpic/tests/poll_cases.h"
	KUNIT_CASE(cyclic_nonlinear),
	KUNIT_CASE(striding),
	KUNIT_CASE(striding_nonlinear),
	KUNIT_CASE(filler),
	KUNIT_CASE(csum_unnecessary),
	KUNIT_CASE(csum_complete),
	KUNIT_CASE(compressed),
	KUNIT_CASE(compressed_enhanced),
	KUNIT_CASE(lro),
	KUNIT_CASE(hardware_gro),
	KUNIT_CASE(hardware_gro_no_flow),
	KUNIT_CASE(affinity_changed),
	KUNIT_CASE(queue_without_srpic),
	{ }
};

static struct kunit_suite mlx5e_srpic_suite = {
	.name = "mlx5e_srpic",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = mlx5e_srpic_cases,
};

kunit_test_suite(mlx5e_srpic_suite);
