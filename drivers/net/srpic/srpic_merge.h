/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merging: packets of a flow that follow each other leave as one, as a NIC that
 * merges (hardware GRO) would hand them to GRO.
 */
#ifndef _SRPIC_MERGE_H
#define _SRPIC_MERGE_H

#include <linux/netdevice.h>
#include <linux/version.h>

/* From 6.18 on, GRO merges packets of the same IPv4 identifier without DF as well. */
#define SRPIC_SAME_ID_NEEDS_DF	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0))

/*
 * Whether GRO would merge the packets of a device, in the way that it does by
 * default, and looks at no longer link header than Ethernet's for it.
 */
static inline bool srpic_may_merge(const struct net_device *netdev)
{
	return !netif_elide_gro(netdev) &&
	       !(netdev->features & NETIF_F_GRO_FRAGLIST) &&
	       netdev->hard_header_len == ETH_HLEN;
}

bool srpic_receive_merged(struct napi_struct *napi, struct sk_buff *skb,
			  bool merged);

#endif /* _SRPIC_MERGE_H */
