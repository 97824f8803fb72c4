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
	bool off;			/* SRPIC is */
};

#define COST(_name, _order, _late_by, _flows, _block, _pkts, _what) {	\
	.name = _name, .order = _order, .late_by = _late_by,		\
	.flows = _flows, .block = _block, .pkts = _pkts, .what = _what	\
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
	{
		/* a packet looks at the TSval of all that it passes, too */
		.name = "deepest_ipv6_ticked", .order = DEEPEST, .flows = 1,
		.block = 32, .pkts = 64, .what = IPV6 | STAMP, .ticked = true,
	}, {
		.name = "deepest_ipv6_ticked_block_128", .order = DEEPEST,
		.flows = 1, .block = 128, .pkts = 128, .what = IPV6 | STAMP,
		.ticked = true,
	}, {
		.name = "off", .flows = 1, .block = 32, .pkts = 64,
		.what = STAMP, .off = true,
	},
};

#endif /* _SRPIC_TESTS_COST_CASES_H */
