/* SPDX-License-Identifier: GPL-2.0 */
/* What srpic_cost measures: packets of one poll, in the order of arrival. */
#ifndef _SRPIC_TESTS_COST_CASES_H
#define _SRPIC_TESTS_COST_CASES_H

#include "rx_frame.h"
#include "../srpic_priv.h"

/* How the packets of one block arrive. */
enum cost_order {
	IN_ORDER,
	LATE,				/* one of them, by a number of places */
	SHUFFLED,
	DESCENDING,
	DEEPEST,			/* each passes all but one of its list */
	PATHS,				/* every other one comes polls before */
};

struct cost_case {
	const char *name;
	enum cost_order order;
	unsigned int late_by;
	unsigned int flows;		/* one packet of each in turn */
	unsigned int block;		/* block_size */
	unsigned int pkts;		/* in a poll, a multiple of block */
	u32 what;			/* IPV6, STAMP, SUM_CSUM */
	bool ticked;			/* the first of a block is a tick older */
	u8 linear;			/* bytes that are, with SPLIT */
	bool off;			/* SRPIC is */
	bool hold;			/* the flow goes on in the next poll */
	bool usual;			/* may cost little more than the first */
};

#define COST(_name, _order, _late_by, _flows, _block, _pkts, _what) {	\
	.name = _name, .order = _order, .late_by = _late_by,		\
	.flows = _flows, .block = _block, .pkts = _pkts, .what = _what	\
}

/* A form in order that whole classes of packets have. */
#define USUAL(_name, _what) {						\
	.name = "in_order_" _name, .order = IN_ORDER, .flows = 1,	\
	.block = 32, .pkts = 64, .what = _what, .usual = true		\
}

#define USUAL_SPLIT(_name, _what, _linear) {				\
	.name = "in_order_" _name, .order = IN_ORDER, .flows = 1,	\
	.block = 32, .pkts = 64, .what = (_what) | SPLIT,		\
	.linear = _linear, .usual = true				\
}

static const struct cost_case cost_cases[] = {
	COST("in_order", IN_ORDER, 0, 1, 32, 64, STAMP),
	COST("in_order_no_timestamp", IN_ORDER, 0, 1, 32, 64, 0),
	COST("in_order_ipv6", IN_ORDER, 0, 1, 32, 64, IPV6 | STAMP),
	COST("in_order_ipv6_no_timestamp", IN_ORDER, 0, 1, 32, 64, IPV6),
	COST("in_order_csum_complete", IN_ORDER, 0, 1, 32, 64,
	     STAMP | SUM_CSUM),
	COST("in_order_ipv6_csum_complete", IN_ORDER, 0, 1, 32, 64,
	     IPV6 | STAMP | SUM_CSUM),
	COST("in_order_block_8", IN_ORDER, 0, 1, 8, 64, STAMP),
	COST("in_order_block_16", IN_ORDER, 0, 1, 16, 64, STAMP),
	COST("in_order_block_64", IN_ORDER, 0, 1, 64, 64, STAMP),
	COST("in_order_block_128", IN_ORDER, 0, 1, 128, 128, STAMP),
	COST("late_by_1", LATE, 1, 1, 32, 64, STAMP),
	COST("late_by_2", LATE, 2, 1, 32, 64, STAMP),
	COST("late_by_4", LATE, 4, 1, 32, 64, STAMP),
	COST("late_by_8", LATE, 8, 1, 32, 64, STAMP),
	COST("late_by_16", LATE, 16, 1, 32, 64, STAMP),
	COST("late_by_31", LATE, 31, 1, 32, 64, STAMP),
	COST("shuffled", SHUFFLED, 0, 1, 32, 64, STAMP),
	COST("shuffled_no_timestamp", SHUFFLED, 0, 1, 32, 64, 0),
	COST("shuffled_ipv6", SHUFFLED, 0, 1, 32, 64, IPV6 | STAMP),
	COST("shuffled_block_8", SHUFFLED, 0, 1, 8, 64, STAMP),
	COST("shuffled_block_16", SHUFFLED, 0, 1, 16, 64, STAMP),
	COST("shuffled_block_64", SHUFFLED, 0, 1, 64, 64, STAMP),
	COST("shuffled_block_128", SHUFFLED, 0, 1, 128, 128, STAMP),
	COST("descending", DESCENDING, 0, 1, 32, 64, STAMP),
	COST("descending_ipv6", DESCENDING, 0, 1, 32, 64, IPV6 | STAMP),
	COST("descending_block_128", DESCENDING, 0, 1, 128, 128, STAMP),
	COST("deepest_block_8", DEEPEST, 0, 1, 8, 64, STAMP),
	COST("deepest_block_16", DEEPEST, 0, 1, 16, 64, STAMP),
	COST("deepest", DEEPEST, 0, 1, 32, 64, STAMP),
	COST("deepest_ipv6", DEEPEST, 0, 1, 32, 64, IPV6 | STAMP),
	COST("deepest_block_64", DEEPEST, 0, 1, 64, 64, STAMP),
	COST("deepest_block_128", DEEPEST, 0, 1, 128, 128, STAMP),
	COST("deepest_ipv6_block_128", DEEPEST, 0, 1, 128, 128, IPV6 | STAMP),
	COST("flows_2", IN_ORDER, 0, 2, 32, 64, STAMP),
	COST("flows_4", IN_ORDER, 0, 4, 32, 64, STAMP),
	COST("flows_8", IN_ORDER, 0, 8, 32, 64, STAMP),
	COST("flows_16", IN_ORDER, 0, 16, 32, 64, STAMP),
	COST("flows_32", IN_ORDER, 0, 32, 32, 64, STAMP),
	COST("flows_64", IN_ORDER, 0, 64, 32, 64, STAMP),
	COST("flows_64_ipv6", IN_ORDER, 0, 64, 32, 64, IPV6 | STAMP),
	COST("barriers", IN_ORDER, 0, 1, 32, 64, SACK),
	COST("csum_none", IN_ORDER, 0, 1, 32, 64, STAMP | NO_CSUM),
	USUAL("csum_partial", STAMP | HOST_CSUM),
	USUAL("ipv6_csum_partial", IPV6 | STAMP | HOST_CSUM),
	USUAL("headers_in_first_fragment", STAMP | PAGED),
	USUAL("ipv6_headers_in_first_fragment", IPV6 | STAMP | PAGED),
	USUAL_SPLIT("headers_alone_linear", STAMP, 52),
	USUAL_SPLIT("headers_alone_linear_no_timestamp", 0, 40),
	USUAL("vlan", STAMP | VLAN),
	USUAL("vlan_in_band", STAMP | VLAN_IN_BAND),
	{
		.name = "shuffled_ticked", .order = SHUFFLED, .flows = 1,
		.block = 32, .pkts = 64, .what = STAMP, .ticked = true,
	}, {
		/* a packet looks at the TSval of all that it passes, too */
		.name = "deepest_ipv6_ticked", .order = DEEPEST, .flows = 1,
		.block = 32, .pkts = 64, .what = IPV6 | STAMP, .ticked = true,
	}, {
		.name = "deepest_ipv6_ticked_block_128", .order = DEEPEST,
		.flows = 1, .block = 128, .pkts = 128, .what = IPV6 | STAMP,
		.ticked = true,
	}, {
		.name = "in_order_hold", .order = IN_ORDER, .flows = 1,
		.block = 32, .pkts = 64, .what = STAMP, .hold = true,
	}, {
		/* 150 packets wait */
		.name = "paths_hold", .order = PATHS, .late_by = 300,
		.flows = 1, .block = 32, .pkts = 64, .what = STAMP,
		.hold = true,
	}, {
		.name = "off", .flows = 1, .block = 32, .pkts = 64,
		.what = STAMP, .off = true,
	},
};

#endif /* _SRPIC_TESTS_COST_CASES_H */
