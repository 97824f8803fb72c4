// SPDX-License-Identifier: GPL-2.0
/* The settings: net.srpic.*, per network namespace. */

#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "srpic_priv.h"

static unsigned int srpic_net_id __read_mostly;

static int pkts_max = SRPIC_PKTS_MAX;
static int hold_usecs_max = SRPIC_HOLD_USECS_MAX;

struct srpic_net *srpic_net(const struct net *net)
{
	return net_generic(net, srpic_net_id);
}

/* .data is an offset into struct srpic_net until a namespace fills it in */
static const struct ctl_table srpic_sysctls[] = {
	{
		.procname	= "block_size",
		.data		= (void *)offsetof(struct srpic_net, block_size),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= &pkts_max,
	},
	{
		.procname	= "full_flush_pkts",
		.data		= (void *)offsetof(struct srpic_net,
						   full_flush_pkts),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &pkts_max,
	},
	{
		.procname	= "hold_usecs",
		.data		= (void *)offsetof(struct srpic_net, hold_usecs),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &hold_usecs_max,
	},
};

static int __net_init srpic_net_init(struct net *net)
{
	struct srpic_net *settings = net_generic(net, srpic_net_id);
	struct ctl_table *table;
	unsigned int i;

	settings->block_size = SRPIC_BLOCK_SIZE_DEFAULT;
	settings->full_flush_pkts = 0;
	settings->hold_usecs = 0;

	table = kmemdup(srpic_sysctls, sizeof(srpic_sysctls), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(srpic_sysctls); i++)
		table[i].data = (void *)settings + (unsigned long)table[i].data;

	settings->header = register_net_sysctl_sz(net, "net/srpic", table,
						  ARRAY_SIZE(srpic_sysctls));
	if (!settings->header) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

static void __net_exit srpic_net_exit(struct net *net)
{
	struct srpic_net *settings = net_generic(net, srpic_net_id);
	const struct ctl_table *table = settings->header->ctl_table_arg;

	unregister_net_sysctl_table(settings->header);
	kfree(table);
}

static struct pernet_operations srpic_net_ops = {
	.init = srpic_net_init,
	.exit = srpic_net_exit,
	.id   = &srpic_net_id,
	.size = sizeof(struct srpic_net),
};

int __init srpic_sysctl_init(void)
{
	return register_pernet_subsys(&srpic_net_ops);
}

void srpic_sysctl_exit(void)
{
	unregister_pernet_subsys(&srpic_net_ops);
}
