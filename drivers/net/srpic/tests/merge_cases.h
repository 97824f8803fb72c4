/* SPDX-License-Identifier: GPL-2.0 */
/* Frames of one poll, and what they leave as. */
#ifndef _SRPIC_TESTS_MERGE_CASES_H
#define _SRPIC_TESTS_MERGE_CASES_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>

#include "merge_frame.h"
#include "../srpic_merge.h"

/* What about the device is unusual. */
enum merge_device {
	USUAL_DEVICE,
	NO_GRO,
	GRO_LISTS,			/* NETIF_F_GRO_FRAGLIST */
	XDP,
	LONG_HEADER,
};

/**
 * struct merge_case - frames in order, of one flow
 * @name: what it shows
 * @out: what they leave as, "first-last" where several are one
 * @base: what each frame is like; without it, IPv4 with DF and growing identifiers,
 *	100 bytes of payload in one fragment
 * @which: bits of the frames that differ
 * @vary: how they do: its bytes are exclusive-ored with theirs
 * @push: bits of the frames with PSH
 * @num: how many frames there are, 0: 4
 * @fixed: all identifiers are the same
 * @max_size: for GRO, of the address family
 * @block_size: of SRPIC, 0: all frames
 * @hold: packets may wait beyond the poll
 * @device: where they arrive
 * @differs: GRO alone makes something else of them: it knows less of the flow, or
 *	merges what is left to it here
 */
struct merge_case {
	const char *name;
	const char *out;
	struct merge_frame base;
	u8 which;
	struct merge_frame vary;
	u8 push;
	u8 num;
	bool fixed;
	u32 max_size;
	u8 block_size;
	bool hold;
	enum merge_device device;
	bool differs;
};

#define IP(field)	(offsetof(struct iphdr, field))
#define IP6(field)	(offsetof(struct ipv6hdr, field))
#define TCP(field)	(sizeof(struct iphdr) + offsetof(struct tcphdr, field))
#define TCP6(field)	(sizeof(struct ipv6hdr) + offsetof(struct tcphdr, field))

#define LEN		100

/* The third one of four differs. */
#define THIRD(n, o, ...)	{ .name = n, .out = o, .which = BIT(2),	\
				  .vary = { __VA_ARGS__ } }
#define THIRD_OF(n, o, b, ...)	{ .name = n, .out = o, .base.f.what = b, \
				  .which = BIT(2), .vary = { __VA_ARGS__ } }
/* ... and GRO merges the last two. */
#define THIRD_LEFT(n, ...)	{ .name = n, .out = "0-1 2 3",		\
				  .which = BIT(2), .differs = true,	\
				  .vary = { __VA_ARGS__ } }
#define FIRST(n, o, ...)	{ .name = n, .out = o, .which = BIT(0),	\
				  .vary = { __VA_ARGS__ } }
#define ALL(n, o, ...)		{ .name = n, .out = o, .base = { __VA_ARGS__ } }

static const struct merge_case merge_cases[] = {
	ALL("ipv4", "0-3"),
	ALL("ipv4_timestamps", "0-3", .f.what = STAMP),
	ALL("ipv6", "0-3", .f.what = IPV6),
	ALL("ipv6_timestamps", "0-3", .f.what = IPV6 | STAMP),
	ALL("vlan", "0-3", .f.what = VLAN),
	ALL("csum_none", "0-3", .f.what = NO_CSUM),
	ALL("csum_complete", "0-3", .f.what = SUM_CSUM),
	THIRD("csum_differs", "0-3", .f.what = NO_CSUM),
	ALL("pages_of_a_pool", "0-3", .head_frag = true, .linear = MERGE_ALL,
	    .skb = RECYCLE),
	{ .name = "alone", .out = "0", .num = 1 },

	/* srpic_is_plain() */
	{
		.name = "padded", .out = "0-1 2 3",
		.base = { .f.len = LEN ^ 4, .linear = MERGE_ALL },
		.which = BIT(2), .vary.f.what = PADDED,
	},
	THIRD_LEFT("headers_in_a_fragment", .f.what = PAGED),
	THIRD_LEFT("shared_fragment", .skb = SHARED),
	THIRD("metadata", "0-1 2 3", .skb = METADATA),
	THIRD("from_nic", "0-1 2 3", .skb = FROM_NIC),
	FIRST("from_nic_first", "0 1-3", .skb = FROM_NIC),
	THIRD("list_of_fragments", "0-1 2 3", .skb = CHAINED, .frags = 2),
	THIRD_LEFT("csum_partial", .f.what = HOST_CSUM),
	THIRD_LEFT("slow_gro", .skb = SLOW),
	THIRD_LEFT("encapsulation", .skb = TUNNEL),

	/* srpic_headers_continue() */
	THIRD("tos", "0-1 2 3", .at = IP(tos), .flip = 1),
	THIRD("ttl", "0-1 2 3", .at = IP(ttl), .flip = 1),
	THIRD("df", "0-1 2 3", .at = IP(frag_off), .flip = 0x40),
	THIRD("evil", "0-1 2 3", .at = IP(frag_off), .flip = 0x80),
	THIRD("id_jumps", "0-1 2 3", .id = 0x100),
	THIRD("header_csum", "0-1 2 3", .f.what = BAD_HEADER, .at = IP(check),
	      .flip = 1),
	/* a good checksum would be another one */
	THIRD("bad_tos", "0-1 2 3", .f.what = BAD_HEADER, .at = IP(tos),
	      .flip = 1),
	THIRD("bad_ttl", "0-1 2 3", .f.what = BAD_HEADER, .at = IP(ttl),
	      .flip = 1),
	THIRD_OF("traffic_class", "0-1 2 3", IPV6, .flip = 1),
	THIRD_OF("ecn", "0-1 2 3", IPV6, .at = 1, .flip = 0x10),
	THIRD_OF("flow_label", "0-1 2 3", IPV6, .at = 3, .flip = 1),
	THIRD_OF("hop_limit", "0-1 2 3", IPV6, .at = IP6(hop_limit), .flip = 1),
	THIRD("ack_number", "0-1 2 3", .at = TCP(ack_seq), .flip = 1),
	THIRD_OF("ack_number_ipv6", "0-1 2 3", IPV6, .at = TCP6(ack_seq),
		 .flip = 1),
	THIRD("window", "0-1 2 3", .at = TCP(window), .flip = 1),
	THIRD_OF("window_ipv6", "0-1 2 3", IPV6, .at = TCP6(window), .flip = 1),
	/* GRO forgets it */
	{
		.name = "urgent_pointer", .out = "0-1 2 3", .which = BIT(2),
		.vary = { .at = TCP(urg_ptr), .flip = 1 }, .push = BIT(2),
		.differs = true,
	},
	THIRD_OF("tsecr", "0-1 2 3", STAMP,
		 .at = sizeof(struct iphdr) + 31, .flip = 1),

	/* srpic_continues() */
	{
		.name = "hole", .out = "0-1 2", .num = 3, .which = BIT(2),
		.vary.f.seq = BIT(16),
	},
	THIRD_OF("tsval", "0-1 2 3", STAMP, .f.tsval = 1),
	THIRD("longer", "0-1 2-3", .f.len = LEN ^ 150),
	{
		.name = "hash", .out = "0-1 2", .num = 3, .which = BIT(2),
		.vary.hash = 1,
	},
	THIRD_OF("vlan_priority", "0-1 2 3", VLAN, .f.what = VLAN_PRIORITY),
	THIRD_OF("vlan_in_band", "0-1 2 3", VLAN, .f.what = VLAN | VLAN_IN_BAND),
	THIRD("recycle", "0-1 2 3", .skb = RECYCLE),
	THIRD("mac", "0-1 2 3", .mac = 1),
#ifdef CONFIG_SKB_DECRYPTED
	THIRD("decrypted", "0-1 2 3", .skb = DECRYPTED),
#endif

	/* srpic_begin_ipv4() */
	{
		.name = "next_in_a_fragment", .out = "0-1 2-3", .which = BIT(1),
		.vary.f.what = PAGED, .differs = true,
	},
	{ .name = "id_fixed", .out = "0-3", .fixed = true },
	{
		.name = "id_fixed_without_df", .fixed = true,
		.out = SRPIC_SAME_ID_NEEDS_DF ? "0 1 2 3" : "0-3",
		.base = { .at = IP(frag_off), .flip = 0x40 },
	},
	{
		.name = "id_no_longer_fixed", .out = "0-1 2 3", .fixed = true,
		.which = BIT(2), .vary.id = 1,
	},
	{
		.name = "id_grows_then_same", .out = "0-1 2 3",
		.which = BIT(2), .vary.id = 1002 ^ 1001,
	},
	FIRST("id_grows_by_two", "0 1-3", .id = 1000 ^ 999),
	ALL("id_grows_without_df", "0-3", .at = IP(frag_off), .flip = 0x40),
	ALL("id_wraps", "0-3", .id = 0xfffe),
	ALL("evil_all", "0 1 2 3", .at = IP(frag_off), .flip = 0x80),
	FIRST("header_csum_first", "0 1-3", .f.what = BAD_HEADER,
	      .at = IP(check), .flip = 1),
	ALL("header_csum_all", "0 1 2 3", .f.what = BAD_HEADER, .at = IP(check),
	    .flip = 1),

	/* srpic_merge() */
	THIRD("shorter", "0-2 3", .f.len = LEN ^ 50),
	FIRST("shorter_first", "0 1-3", .f.len = LEN ^ 50),
	{ .name = "push", .out = "0-1 2-3", .push = BIT(1) },
	{ .name = "push_first", .out = "0 1-3", .push = BIT(0) },
	{ .name = "push_last", .out = "0-3", .push = BIT(3) },
	{
		.name = "fin", .out = "0-1 2", .num = 3, .which = BIT(2),
		.vary.f.flags = FIN, .hold = true, .differs = true,
	}, {
		.name = "fin_not_held", .out = "0-1 2", .num = 3,
		.which = BIT(2), .vary.f.flags = FIN, .differs = true,
	},
	{
		/* padding as long as what FIN counts */
		.name = "padded_fin_first", .out = "0 1", .num = 2, .hold = true,
		.base = {
			.f = { .len = LEN ^ 5, .what = PADDED, .flags = FIN },
			.linear = MERGE_ALL,
		},
	},
	/* 20 bytes of TCP, and 20 or 40 of IP */
	{ .name = "max_size", .out = "0-2 3", .max_size = 341 },
	{ .name = "max_size_less", .out = "0-1 2-3", .max_size = 340 },
	{ .name = "max_size_of_one", .out = "0 1 2 3", .max_size = 140 },
	{
		.name = "max_size_short", .out = "0-2 3", .max_size = 291,
		.which = BIT(2), .vary.f.len = LEN ^ 50,
	}, {
		.name = "max_size_ipv6", .out = "0-2 3", .max_size = 361,
		.base.f.what = IPV6,
	}, {
		.name = "64_kib", .out = "0-44 45-47", .num = 48,
		.base.f.len = LEN ^ 1448,
	}, {
		.name = "64_kib_ipv6", .out = "0-44 45-47", .num = 48,
		.base.f = { .len = LEN ^ 1448, .what = IPV6 },
	}, {
		.name = "64_kib_of_more", .out = "0-44 45-47", .num = 48,
		.base.f.len = LEN ^ 1448, .max_size = 100000, .differs = true,
	}, {
		.name = "64_kib_of_more_ipv6", .out = "0-44 45-47", .num = 48,
		.base.f = { .len = LEN ^ 1448, .what = IPV6 },
		.max_size = 100000, .differs = true,
	},

	/* srpic_move() */
	{ .name = "fragments", .out = "0-49", .num = 50 },
	{
		.name = "many_fragments", .out = "0-7", .num = 8,
		.base.frags = MAX_SKB_FRAGS,
	}, {
		.name = "heads", .out = "0-49", .num = 50,
		.base = { .head_frag = true, .linear = MERGE_ALL },
	}, {
		.name = "heads_and_fragments", .out = "0-49", .num = 50,
		.base = { .head_frag = true, .linear = 13, .frags = 2 },
	}, {
		.name = "heads_of_no_fragment", .out = "0-49", .num = 50,
		.base.linear = MERGE_ALL,
	}, {
		.name = "heads_of_another_cpu", .out = "0-49", .num = 50,
		.base = {
			.head_frag = true, .linear = MERGE_ALL,
			.skb = OTHER_CPU,
		},
	}, {
		.name = "heads_of_a_pool", .out = "0-49", .num = 50,
		.base = {
			.head_frag = true, .linear = 13, .skb = RECYCLE,
		},
	}, {
		.name = "one_head_of_no_fragment", .out = "0-7", .num = 8,
		.base = { .head_frag = true, .linear = MERGE_ALL },
		.which = BIT(2), .vary.head_frag = true,
	},

	/* srpic_receive_merged() */
	{
		.name = "hashes_do_not_sort", .out = "0 1 2-3", .base.hash = 1,
		.which = BIT(1), .vary.hash = 1,
	},
	{
		.name = "what_gro_holds_is_not_overtaken", .out = "0 1-3",
		.base.f.what = VLAN, .which = BIT(0),
		.vary.f.what = VLAN_PRIORITY, .push = BIT(3),
	}, {
		.name = "what_was_merged_is_not_overtaken", .out = "0-2 3",
		.base.f.what = VLAN, .which = BIT(3),
		.vary.f.what = VLAN_PRIORITY, .push = BIT(3),
	}, {
		.name = "nor_in_the_next_block", .out = "0-2 3",
		.base.f.what = VLAN, .which = BIT(3), .block_size = 3,
		.vary.f.what = VLAN_PRIORITY, .push = BIT(3),
	}, {
		.name = "nor_by_what_is_urgent", .out = "0-2 3",
		.base.f.what = VLAN, .which = BIT(3),
		.vary.f = { .what = VLAN_PRIORITY, .flags = URG },
	}, {
		/* GRO alone merges them, and has the last one overtake them */
		.name = "what_follows_it_is_not_overtaken", .out = "0-2 3 4",
		.num = 5, .block_size = 3, .base.f.what = VLAN,
		.which = BIT(4), .differs = true,
		.vary.f = { .what = VLAN_PRIORITY, .flags = URG },
	}, {
		.name = "blocks_are_not_merged", .out = "0-2 3-5", .num = 6,
		.block_size = 3, .differs = true,
	}, {
		/* GRO does not know that its identifiers do not grow */
		.name = "what_was_merged_is_not_continued", .out = "0-1 2",
		.num = 3, .fixed = true, .which = BIT(2), .vary.id = 1000 ^ 1002,
		.block_size = 2,
	},

	/* srpic_may_merge() */
	{ .name = "no_gro", .out = "0 1 2 3", .device = NO_GRO },
	{ .name = "gro_lists", .out = "0-3", .device = GRO_LISTS },
	{ .name = "xdp", .out = "0 1 2 3", .device = XDP },
	{
		/* it compares the length, too */
		.name = "long_header", .out = "0-1 2 3", .which = BIT(2),
		.vary.f.len = LEN ^ 50, .device = LONG_HEADER,
	},
};

#endif /* _SRPIC_TESTS_MERGE_CASES_H */
