/* SPDX-License-Identifier: GPL-2.0 */
/* Frames for the tests of the receive path, and for the reference model. */
#ifndef _SRPIC_TESTS_RX_FRAME_H
#define _SRPIC_TESTS_RX_FRAME_H

#include <linux/bits.h>
#include <linux/types.h>

struct kunit;
struct net_device;
struct sk_buff;

/* What is special about a frame; without any: IPv4, TCP, ACK, payload. */
enum {
	IPV6		= BIT(0),
	UDP		= BIT(1),
	OTHER_PORT	= BIT(2),	/* of another flow */
	STAMP		= BIT(3),	/* timestamp option */
	SACK		= BIT(4),	/* SACK option */
	IP_OPTION	= BIT(5),	/* or an IPv6 extension header, any form */
	FRAGMENT	= BIT(6),	/* the first, a later, or the last: by form */
	BAD_CSUM	= BIT(7),
	NO_CSUM		= BIT(8),	/* the NIC gave no verdict */
	SUM_CSUM	= BIT(9),	/* the NIC gave the sum */
	VLAN		= BIT(10),	/* tag taken off by the NIC */
	VLAN_IN_BAND	= BIT(11),	/* tag left in the frame */
	VLAN_PRIORITY	= BIT(12),	/* ... with another priority */
	PADDED		= BIT(13),	/* to the least length of a frame */
	TRAILER		= BIT(14),	/* longer than packet and padding */
	CUT		= BIT(15),	/* shorter than the packet says */
	PAGED		= BIT(16),	/* nothing but Ethernet is linear */
	HOST_CSUM	= BIT(17),	/* from this host, sum not made yet */
	RESERVED	= BIT(18),	/* a reserved bit of TCP is set, by form */
	VLAN_0		= BIT(19),	/* tag with a priority only */
	VLAN_SERVICE	= BIT(20),	/* tag of 802.1ad */
	SHORT_TCP	= BIT(21),	/* ends within the TCP header; by form, IP too */
	OTHER_ADDRESS	= BIT(22),	/* of another flow with these ports */
	OTHER_DEST	= BIT(23),	/* likewise */
	OTHER_SOURCE	= BIT(24),	/* of another flow, by the other port */
	NO_IP		= BIT(25),	/* in a tag, another protocol */
	AGGREGATE	= BIT(26),	/* its payload is elsewhere */
	WHOLE		= BIT(27),	/* DF, so that GRO merges IPv4 */
	SPLIT		= BIT(28),	/* form: how many bytes are linear */
	BAD_HEADER	= BIT(29),	/* the checksum of IPv4 is wrong */
	NO_NEXT		= BIT(30),	/* IPv6 says that nothing follows */
	MANY_OPTIONS	= BIT(31),	/* more extension headers than one */
	BEHIND_END	= NO_NEXT | IP_OPTION,	/* they lead there */
};

struct frame {
	u32 seq;
	u16 len;
	u32 what;
	u8 flags;			/* of TCP, besides ACK */
	bool no_ack;
	u32 tsval;
	u16 port;			/* 0: 4000 */
	u16 vlan;			/* tag in band, 0: 5 */
	u8 fill;			/* payload, 0: 0x5a */
	u32 form;			/* of what has several */
};

#define FIN	BIT(0)
#define SYN	BIT(1)
#define RST	BIT(2)
#define PSH	BIT(3)
#define URG	BIT(5)
#define ECE	BIT(6)
#define CWR	BIT(7)

unsigned int srpic_frame_put(u8 *p, const struct frame *f);
struct sk_buff *srpic_frame_skb(struct kunit *test, struct net_device *netdev,
				const struct frame *f, u8 id);
u8 srpic_frame_summed(const struct frame *f, bool gro);

#endif /* _SRPIC_TESTS_RX_FRAME_H */
