// SPDX-License-Identifier: GPL-2.0
/*
 * A task that reads from a TCP socket runs on until it has released it: its sysctl,
 * and how it gives way then. See Documentation/networking/sock-grace.rst.
 */

#include <linux/init.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/sock_grace.h>

DEFINE_STATIC_KEY_FALSE(sock_grace_key);
int sock_grace_usecs;

void __sock_grace_end(void)
{
	WRITE_ONCE(current->sock_grace, NULL);
	smp_mb();	/* pairs with sock_grace_has() */
	if (READ_ONCE(current->sock_grace_from) && task_is_running(current))
		schedule();
}

static int sock_grace_sysctl(const struct ctl_table *table, int write,
			     void *buffer, size_t *len, loff_t *pos)
{
	int ret = proc_dointvec_minmax(table, write, buffer, len, pos);

	if (!ret && write && READ_ONCE(sock_grace_usecs))
		static_branch_enable(&sock_grace_key);
	return ret;
}

static int usecs_max = 10000;

static struct ctl_table sock_grace_sysctls[] = {
	{
		.procname	= "sock_grace_usecs",
		.data		= &sock_grace_usecs,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= sock_grace_sysctl,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &usecs_max,
	},
};

static int __init sock_grace_init(void)
{
	if (!register_net_sysctl(&init_net, "net/core", sock_grace_sysctls))
		return -ENOMEM;
	return 0;
}
fs_initcall(sock_grace_init);
