/* SPDX-License-Identifier: GPL-2.0 */
/* Frames of one poll, and what must become of them. */
#ifndef _SRPIC_TESTS_RX_CASES_H
#define _SRPIC_TESTS_RX_CASES_H

#include "rx_frame.h"
#include "../srpic_priv.h"

struct rx_case {
	const char *name;
	unsigned int num;
	struct frame in[8];
	u8 out[8];			/* indices into in, as they leave */
	u64 taken;
	u64 passed;
	enum srpic_stat cause;		/* of one block or more */
	bool gro;			/* is on; without it, none is merged */
};

/* Two frames of one flow around one in the middle. */
#define AROUND(f, ...)	{ { 60, 20, f }, { 20, 20, f }, __VA_ARGS__,	\
			  { 0, 20, f } }
#define HELD_BACK	{ 1, 0, 2, 3 }	/* flush, the middle one, the rest */
#define SORTED_PAST	{ 2, 3, 1, 0 }	/* the middle one passed at once */

#define BARRIER_AMONG(n, f, ...) {					\
	.name = n, .num = 4, .in = AROUND(f, __VA_ARGS__),		\
	.out = HELD_BACK, .taken = 3, .passed = 1,			\
	.cause = SRPIC_FLUSH_BARRIER }
#define PASSES_AMONG(n, f, ...) {					\
	.name = n, .num = 4, .in = AROUND(f, __VA_ARGS__),		\
	.out = SORTED_PAST, .taken = 3, .passed = 1,			\
	.cause = SRPIC_FLUSH_POLL }
#define BARRIER(n, ...)		BARRIER_AMONG(n, 0, __VA_ARGS__)
#define BARRIER_IPV6(n, ...)	BARRIER_AMONG(n, IPV6, __VA_ARGS__)
#define PASSES(n, ...)		PASSES_AMONG(n, 0, __VA_ARGS__)
#define PASSES_IPV6(n, ...)	PASSES_AMONG(n, IPV6, __VA_ARGS__)
#define SORTS_LEN(n, f, len) {						\
	.name = n, .num = 4,						\
	.in = { { 3 * (len), len, f }, { len, len, f },			\
		{ 2 * (len), len, f }, { 0, len, f } },			\
	.out = { 3, 1, 2, 0 }, .taken = 4, .cause = SRPIC_FLUSH_POLL }
#define SORTS(n, f)		SORTS_LEN(n, f, 16)
#define SORTS_SHORT(n, f)	SORTS_LEN(n, f, 4)
#define SORTS_SPLIT(n, f, at) {						\
	.name = n, .num = 4,						\
	.in = { { 48, 16, (f) | SPLIT, .form = at },			\
		{ 16, 16, (f) | SPLIT, .form = at },			\
		{ 32, 16, (f) | SPLIT, .form = at },			\
		{ 0, 16, (f) | SPLIT, .form = at } },			\
	.out = { 3, 1, 2, 0 }, .taken = 4, .cause = SRPIC_FLUSH_POLL }
/* What GRO cannot merge, as there are holes between. */
#define SORTS_WITH_GRO(n, f) {						\
	.name = n, .num = 4,						\
	.in = { { 60, 16, f }, { 20, 16, f }, { 40, 16, f }, { 0, 16, f } }, \
	.out = { 3, 1, 2, 0 }, .taken = 4, .cause = SRPIC_FLUSH_POLL,	\
	.gro = true }
#define SORTS_NOT_WITH_GRO(n, f) {					\
	.name = n, .num = 4,						\
	.in = { { 60, 16, f }, { 20, 16, f }, { 40, 16, f }, { 0, 16, f } }, \
	.out = { 0, 1, 2, 3 }, .passed = 4, .cause = SRPIC_COUNTERS,	\
	.gro = true }
#define SORTS_NOT(n, f) {						\
	.name = n, .num = 4,						\
	.in = { { 12, 4, f }, { 4, 4, f }, { 8, 4, f }, { 0, 4, f } },	\
	.out = { 0, 1, 2, 3 }, .passed = 4, .cause = SRPIC_COUNTERS }

static const struct rx_case rx_cases[] = {
	SORTS("ipv4", 0),
	SORTS("ipv6", IPV6),
	SORTS("timestamps", STAMP),
	SORTS("ipv6_timestamps", IPV6 | STAMP),
	SORTS("vlan", VLAN),
	SORTS("vlan_in_band", VLAN_IN_BAND),
	SORTS("ipv6_vlan_in_band", IPV6 | VLAN_IN_BAND),
	SORTS_SHORT("short", 0),
	SORTS_SHORT("ipv6_short", IPV6),
	SORTS_SHORT("padded", PADDED),
	SORTS("headers_in_a_page", PAGED),
	SORTS("ipv6_headers_in_a_page", IPV6 | STAMP | PAGED),
	SORTS_SPLIT("split_behind_ip", 0, 20),
	SORTS_SPLIT("split_in_tcp", 0, 39),
	SORTS_SPLIT("split_behind_tcp", STAMP, 40),
	SORTS_SPLIT("split_in_the_timestamp", STAMP, 51),
	SORTS_SPLIT("ipv6_split_behind_ip", IPV6, 40),
	SORTS_SPLIT("ipv6_split_in_tcp", IPV6, 59),
	SORTS_SPLIT("ipv6_split_behind_tcp", IPV6 | STAMP, 60),
	SORTS_SPLIT("ipv6_split_in_the_timestamp", IPV6 | STAMP, 71),
	SORTS_WITH_GRO("checksum_made_here", NO_CSUM),
	SORTS_WITH_GRO("ipv6_checksum_made_here", IPV6 | NO_CSUM),
	SORTS_WITH_GRO("checksum_made_here_from_a_page", NO_CSUM | PAGED),
	SORTS_WITH_GRO("checksum_made_here_with_vlan", NO_CSUM | VLAN_IN_BAND),
	SORTS_NOT("checksum_not_made_without_gro", NO_CSUM),
	SORTS_NOT("ipv6_checksum_not_made_without_gro", IPV6 | NO_CSUM),
	SORTS("checksum_left_to_do", HOST_CSUM),
	SORTS("sum_from_the_nic", SUM_CSUM),
	SORTS("ipv6_sum_from_the_nic", IPV6 | SUM_CSUM),
	SORTS("sum_from_the_nic_with_vlan", SUM_CSUM | VLAN_IN_BAND),
	SORTS("sum_from_the_nic_vlan_taken_off", SUM_CSUM | VLAN),
	SORTS("sum_from_the_nic_bad_header", SUM_CSUM | BAD_HEADER),
	SORTS_NOT("bad_checksum", NO_CSUM | BAD_CSUM),
	SORTS_NOT("ipv6_bad_checksum", IPV6 | NO_CSUM | BAD_CSUM),
	SORTS_NOT_WITH_GRO("bad_checksum_made_here", NO_CSUM | BAD_CSUM),
	SORTS_NOT_WITH_GRO("ipv6_bad_checksum_made_here",
			   IPV6 | NO_CSUM | BAD_CSUM),
	SORTS_NOT("bad_sum_from_the_nic", SUM_CSUM | BAD_CSUM),
	SORTS_NOT("bad_sum_with_timestamp", STAMP | SUM_CSUM | BAD_CSUM),
	SORTS_NOT("ipv6_bad_sum_with_timestamp",
		  IPV6 | STAMP | SUM_CSUM | BAD_CSUM),
	SORTS_NOT("padded_without_checksum", PADDED | NO_CSUM),
	SORTS_NOT("two_vlan_tags", VLAN | VLAN_IN_BAND),
	SORTS_NOT("udp", UDP),
	SORTS_NOT("trailer", TRAILER),
	SORTS_NOT("ipv6_trailer", IPV6 | TRAILER),
	SORTS_NOT("cut_short", CUT),
	SORTS_NOT("ipv6_cut_short", IPV6 | CUT),
	BARRIER("fin", { 40, 20, 0, FIN }),
	BARRIER("syn", { 40, 0, 0, SYN }),
	BARRIER("rst", { 40, 0, 0, RST }),
	BARRIER("urg", { 40, 20, 0, URG }),
	BARRIER("ece", { 40, 20, 0, ECE }),
	BARRIER("cwr", { 40, 20, 0, CWR }),
	BARRIER("pure_ack", { 40, 0 }),
	BARRIER("pure_ack_with_timestamp", { 40, 0, STAMP }),
	BARRIER("no_ack", { 40, 20, 0, 0, true }),
	BARRIER("sack", { 40, 20, SACK }),
	BARRIER("ip_options", { 40, 20, IP_OPTION }),
	BARRIER("fragment", { 40, 20, FRAGMENT }),
	BARRIER("fragment_of_any_flow_of_the_hosts",
		{ 40, 20, FRAGMENT | OTHER_PORT }),
	BARRIER("later_fragment", { 40, 20, FRAGMENT, .form = 1 }),
	BARRIER("last_fragment", { 40, 20, FRAGMENT, .form = 2 }),
	BARRIER("short_last_fragment", { 40, 1, FRAGMENT, .form = 2 }),
	BARRIER("fragment_in_band", { 40, 20, FRAGMENT | VLAN_0 }),
	BARRIER("timestamp_and_sack", { 40, 20, STAMP | SACK }),
	BARRIER("reserved_bit", { 40, 20, RESERVED }),
	BARRIER("priority_tag_is_no_vlan", { 40, 0, VLAN_0 }),
	BARRIER("barrier_with_bad_checksum", { 40, 20, NO_CSUM | BAD_CSUM }),
	BARRIER("barrier_with_bad_sum", { 40, 20, SUM_CSUM | BAD_CSUM }),
	BARRIER("barrier_with_trailer", { 40, 20, TRAILER }),
	BARRIER_IPV6("ipv6_extension_header",
		     { 40, 20, IPV6 | IP_OPTION | OTHER_PORT }),
	BARRIER_IPV6("ipv6_routing_header", { 40, 20, IPV6 | IP_OPTION,
		     .form = 1 }),
	BARRIER_IPV6("ipv6_authenticated", { 40, 20, IPV6 | IP_OPTION,
		     .form = 3 }),
	BARRIER_IPV6("ipv6_fragment", { 40, 20, IPV6 | FRAGMENT | OTHER_PORT }),
	BARRIER_IPV6("ipv6_later_fragment", { 40, 20, IPV6 | FRAGMENT,
		     .form = 1 }),
	BARRIER_IPV6("ipv6_options_in_a_fragment",
		     { 40, 20, IPV6 | FRAGMENT | IP_OPTION }),
	BARRIER_IPV6("ipv6_barrier_with_trailer", { 40, 20, IPV6 | TRAILER }),
	BARRIER_IPV6("ipv6_too_many_headers_to_walk",
		     { 40, 20, IPV6 | IP_OPTION | MANY_OPTIONS | UDP }),
	PASSES("udp_passes_tcp", { 40, 20, UDP }),
	PASSES("rst_of_another_flow", { 40, 20, OTHER_PORT, RST }),
	PASSES("ack_of_another_vlan", { 40, 0, VLAN }),
	PASSES("ack_of_another_address", { 40, 0, OTHER_ADDRESS }),
	PASSES("tcp_header_cut_short", { 40, 0, SHORT_TCP }),
	PASSES("runt", { 40, 0, SHORT_TCP, .form = 1 }),
	PASSES("padded_runt", { 40, 0, SHORT_TCP | PADDED, .form = 1 }),
	PASSES("runt_with_options", { 40, 0, SHORT_TCP | IP_OPTION, .form = 1 }),
	PASSES("cut_short_is_no_barrier", { 40, 20, CUT }),
	PASSES("ip_options_of_strangers", { 40, 20, IP_OPTION | OTHER_ADDRESS }),
	PASSES("fragment_of_strangers", { 40, 20, FRAGMENT | OTHER_ADDRESS }),
	PASSES("later_fragment_of_strangers",
	       { 40, 20, FRAGMENT | OTHER_DEST, .form = 1 }),
	PASSES("fragment_of_another_vlan", { 40, 20, FRAGMENT | VLAN }),
	PASSES("udp_fragment", { 40, 20, FRAGMENT | UDP }),
	PASSES("trailer_of_strangers", { 40, 20, TRAILER | OTHER_ADDRESS }),
	PASSES("ipv6_rst", { 40, 20, IPV6, RST }),
	PASSES("ipv6_fragment_among_ipv4", { 40, 20, IPV6 | FRAGMENT }),
	PASSES_IPV6("ipv6_udp_is_no_barrier", { 40, 20, IPV6 | UDP }),
	PASSES_IPV6("ipv6_tcp_header_cut_short", { 40, 0, IPV6 | SHORT_TCP }),
	PASSES_IPV6("ipv6_runt", { 40, 0, IPV6 | SHORT_TCP, .form = 1 }),
	PASSES_IPV6("ipv6_runt_with_trailer",
		    { 40, 0, IPV6 | SHORT_TCP | TRAILER, .form = 1 }),
	PASSES_IPV6("ipv6_fragment_of_strangers",
		    { 40, 20, IPV6 | FRAGMENT | OTHER_ADDRESS }),
	PASSES_IPV6("ipv6_extension_header_of_strangers",
		    { 40, 20, IPV6 | IP_OPTION | OTHER_DEST }),
	PASSES_IPV6("ipv6_udp_fragment", { 40, 20, IPV6 | FRAGMENT | UDP }),
	PASSES_IPV6("ipv6_udp_behind_a_header",
		    { 40, 20, IPV6 | IP_OPTION | UDP }),
	PASSES_IPV6("ipv6_udp_authenticated",
		    { 40, 20, IPV6 | IP_OPTION | UDP, .form = 3 }),
	PASSES_IPV6("ipv6_headers_lead_behind_the_end",
		    { 40, 20, IPV6 | BEHIND_END }),
	PASSES_IPV6("ipv6_no_next_header", { 40, 20, IPV6 | NO_NEXT }),
	{
		.name = "ipv6_ack_of_another_address",
		.num = 4,
		.in = { { 60, 20, IPV6 }, { 20, 20, IPV6 },
			{ 40, 0, IPV6 | OTHER_ADDRESS }, { 0, 20, IPV6 } },
		.out = SORTED_PAST,
		.taken = 3,
		.passed = 1,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "psh_is_suitable",
		.num = 3,
		.in = { { 20, 20, 0, PSH }, { 40, 20 }, { 0, 20, 0, PSH } },
		.out = { 2, 0, 1 },
		.taken = 3,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "fin_with_urg_is_a_barrier",
		.num = 3,
		.in = { { 40, 20 }, { 60, 20, 0, FIN | URG }, { 0, 20 } },
		.out = { 0, 1, 2 },
		.taken = 2,
		.passed = 1,
		.cause = SRPIC_FLUSH_BARRIER,
	}, {
		.name = "vlan_priority_is_no_part_of_a_flow",
		.num = 3,
		.in = { { 40, 20, VLAN }, { 20, 20, VLAN | VLAN_PRIORITY },
			{ 0, 20, VLAN_IN_BAND } },
		.out = { 2, 1, 0 },
		.taken = 3,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "service_tag_is_another_vlan",
		.num = 4,
		.in = { { 40, 20, VLAN }, { 60, 20, VLAN | VLAN_SERVICE },
			{ 0, 20, VLAN }, { 20, 20, VLAN | VLAN_SERVICE } },
		.out = { 2, 0, 3, 1 },
		.taken = 4,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "flows_do_not_mix",
		.num = 6,
		.in = { { 20, 20 }, { 100, 20, OTHER_PORT }, { 0, 20 },
			{ 80, 20, OTHER_PORT }, { 10, 2, IPV6 }, { 8, 2, IPV6 } },
		.out = { 2, 0, 3, 1, 5, 4 },
		.taken = 6,
		.cause = SRPIC_FLUSH_POLL,
	}, {
		.name = "overlap_flushes",
		.num = 4,
		.in = { { 20, 20 }, { 40, 20 }, { 30, 20 }, { 0, 20 } },
		.out = { 0, 1, 3, 2 },
		.taken = 4,
		.cause = SRPIC_FLUSH_OVERLAP,
	}, {
		.name = "no_timestamp_is_not_one_of_0",
		.num = 2,
		.in = { { 0, 20, STAMP }, { 20, 20 } },
		.out = { 0, 1 },
		.taken = 2,
		.cause = SRPIC_FLUSH_TIMESTAMP,
	}, {
		.name = "retransmission_stays_behind_older_timestamps",
		.num = 4,
		.in = { { 20, 20, STAMP, 0, false, 7 },
			{ 40, 20, STAMP, 0, false, 7 },
			{ 60, 20, STAMP, 0, false, 7 },
			{ 0, 20, STAMP, 0, false, 57 } },
		.out = { 0, 1, 2, 3 },
		.taken = 4,
		.cause = SRPIC_FLUSH_TIMESTAMP,
	},
};

#endif /* _SRPIC_TESTS_RX_CASES_H */
