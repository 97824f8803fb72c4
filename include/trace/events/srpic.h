/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM srpic

#if !defined(_TRACE_SRPIC_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SRPIC_H

#include <linux/if_vlan.h>
#include <linux/tracepoint.h>
#include <net/ipv6.h>
#include <trace/events/net_probe_common.h>

/*
 * A block leaves: so many packets of prev, curr and after, while those that are
 * held stay in after. The sums of all events are what ethtool -S counts.
 */
TRACE_EVENT(srpic_flush,
	    TP_PROTO(const struct srpic *srpic,
		     const struct srpic_manager *manager,
		     unsigned int cause, bool everything),

	    TP_ARGS(srpic, manager, cause, everything),

	    TP_STRUCT__entry(__string(dev, manager->key.netdev->name)
			     __field(unsigned int, napi_id)
			     __field(__u16, vlan_proto)
			     __field(__u16, vlan_id)
			     __field(__u16, family)
			     __field(__u16, sport)
			     __field(__u16, dport)
			     __array(__u8, saddr, 4)
			     __array(__u8, daddr, 4)
			     __array(__u8, saddr_v6, 16)
			     __array(__u8, daddr_v6, 16)
			     __field(unsigned int, prev)
			     __field(unsigned int, curr)
			     __field(unsigned int, after)
			     __field(unsigned int, held)
			     __field(unsigned int, out_of_order)
			     __string(cause, srpic_cause_name(cause))),

	    TP_fast_assign(const struct srpic_block *block = &manager->block;
			const struct srpic_key *key = &manager->key;
			const __be32 *addr = (const __be32 *)key->addrs;
			unsigned int early = srpic_list_len(&block->after);
			u32 ports = key->id >> 32;

			__assign_str(dev);
			__assign_str(cause);
			__entry->napi_id = srpic->napi->napi_id;
			__entry->vlan_id = key->id & VLAN_VID_MASK;
			__entry->vlan_proto =
				!__entry->vlan_id ? 0 :
				key->id & SRPIC_FLOW_8021AD ? ETH_P_8021AD :
							      ETH_P_8021Q;
			__entry->sport = ntohs(((const __be16 *)&ports)[0]);
			__entry->dport = ntohs(((const __be16 *)&ports)[1]);
			if (key->id & SRPIC_FLOW_IPV6) {
				__entry->family = AF_INET6;
				memset(__entry->saddr, 0, 4);
				memset(__entry->daddr, 0, 4);
				memcpy(__entry->saddr_v6, addr, 16);
				memcpy(__entry->daddr_v6, addr + 4, 16);
			} else {
				__entry->family = AF_INET;
				memcpy(__entry->saddr, addr, 4);
				memcpy(__entry->daddr, addr + 1, 4);
				TP_STORE_V4MAPPED(__entry, addr[0], addr[1]);
			}

			__entry->prev = srpic_list_len(&block->prev);
			__entry->curr = block->pkts - __entry->prev;
			__entry->after = everything ? early : 0;
			__entry->held = early - __entry->after;
			__entry->out_of_order = block->reordered;),

	    TP_printk("dev=%s napi_id=%u vlan_proto=0x%04x vlan_id=%u family=%s sport=%u dport=%u saddr=%pI4 daddr=%pI4 saddrv6=%pI6c daddrv6=%pI6c prev=%u curr=%u after=%u held=%u out_of_order=%u cause=%s",
		      __get_str(dev), __entry->napi_id, __entry->vlan_proto,
		      __entry->vlan_id,
		      __print_symbolic(__entry->family,
				       { AF_INET, "AF_INET" },
				       { AF_INET6, "AF_INET6" }),
		      __entry->sport, __entry->dport,
		      __entry->saddr, __entry->daddr,
		      __entry->saddr_v6, __entry->daddr_v6,
		      __entry->prev, __entry->curr, __entry->after,
		      __entry->held, __entry->out_of_order, __get_str(cause))
);

#endif /* _TRACE_SRPIC_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
