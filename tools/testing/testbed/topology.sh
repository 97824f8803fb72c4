# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Three namespaces in a row, made by init with make_topology:
#
#   snd             rtr                  rcv
#   snd0 --veth-- rtr0  rtr1 ==hub== rcv0
#
# rtr1 is an igb device, rcv0 one of NIC (igb, e1000e or virtio_net), and both are
# on one QEMU hub. Frames on the path have the MTU's size, so that netem delays
# and reorders packets; only the device under test, rcv0, keeps its offloads.
# Nothing but the job sends packets, as far as that can be had: addresses are
# there at once, neighbours are known.
#
# Or one of two hosts, local or remote, made with make_host: a device, eth0, of
# NIC or igb, and all that kselftests of drivers/net want to be told in order to
# find the other one by ssh.

export DUT=rcv0 SND_DEV=snd0 RTR_DEV=rtr1 RTR_BACK=rtr0
export SND_V4=10.0.1.1 SND_V6=fd00:1::1
export RCV_V4=10.0.2.2 RCV_V6=fd00:2::2

mac=52:54:00:00:00	# the last byte: rtr1 01, rcv0 02 (see vm), the veths

# nic NUMBER: the name of the device with this MAC
nic() {
	grep -l "$mac:$1" /sys/class/net/*/address | cut -d / -f 5
}

add_namespaces() {
	local ns

	for ns in snd rtr rcv; do
		ip netns add "$ns"
		ip netns exec "$ns" sysctl -qw \
			net.ipv6.conf.{all,default}.accept_dad=0 \
			net.ipv6.conf.{all,default}.accept_ra=0 \
			net.ipv6.conf.{all,default}.router_solicitations=0 \
			net.ipv6.conf.{all,default}.addr_gen_mode=1
	done
	ip netns exec rtr sysctl -qw net.ipv4.ip_forward=1 \
		net.ipv6.conf.all.forwarding=1
	sysctl -qw net.core.{rmem,wmem}_max=33554432
}

add_devices() {
	local dev

	ip -batch - <<-END
	link add snd0 netns snd address $mac:03 type veth peer name rtr0 netns rtr address $mac:04
	link set $(nic 01) name rtr1 netns rtr
	link set $(nic 02) name rcv0 netns rcv
	END
	for dev in snd0 rtr0 rtr1; do
		ip netns exec ${dev%?} ethtool -K $dev tso off gso off gro off
	done
}

add_addresses() {
	ip -n snd -batch - <<-END
	link set lo up
	link set snd0 up
	addr add $SND_V4/24 dev snd0
	addr add $SND_V6/64 dev snd0 nodad
	route add default via 10.0.1.2
	route add default via fd00:1::2
	neigh add 10.0.1.2 lladdr $mac:04 dev snd0 nud permanent
	neigh add fd00:1::2 lladdr $mac:04 dev snd0 nud permanent
	END
	ip -n rtr -batch - <<-END
	link set lo up
	link set rtr0 up
	link set rtr1 up
	addr add 10.0.1.2/24 dev rtr0
	addr add fd00:1::2/64 dev rtr0 nodad
	addr add 10.0.2.1/24 dev rtr1
	addr add fd00:2::1/64 dev rtr1 nodad
	neigh add $SND_V4 lladdr $mac:03 dev rtr0 nud permanent
	neigh add $SND_V6 lladdr $mac:03 dev rtr0 nud permanent
	neigh add $RCV_V4 lladdr $mac:02 dev rtr1 nud permanent
	neigh add $RCV_V6 lladdr $mac:02 dev rtr1 nud permanent
	END
	ip -n rcv link set lo up
	add_receiver
}

# Also for a device that comes back to its namespace without its addresses.
add_receiver() {
	ip -n rcv -batch - <<-END
	link set rcv0 up
	addr replace $RCV_V4/24 dev rcv0
	addr replace $RCV_V6/64 dev rcv0 nodad
	route replace default via 10.0.2.1
	route replace default via fd00:2::1
	neigh replace 10.0.2.1 lladdr $mac:01 dev rcv0 nud permanent
	neigh replace fd00:2::1 lladdr $mac:01 dev rcv0 nud permanent
	END
}

# wait_for CONDITION: a link takes half a second, the other host some more
wait_for() {
	local try

	for try in {1..100}; do
		sleep 0.2
		"$@" && return
	done
	echo "testbed: no $* after $try tries"
	return 1
}

links_of_path() {
	[[ $(ip -n rcv link show rcv0) == *LOWER_UP* &&
	   $(ip -n rtr link show rtr1) == *LOWER_UP* ]]
}

link_of_host() {
	[[ $(ip link show eth0) == *LOWER_UP* ]]
}

answer_of_remote() {
	ssh -q -o ConnectTimeout=5 remote true
}

make_topology() {
	add_namespaces && add_devices && add_addresses &&
		wait_for links_of_path
}

make_host() {
	export NETIF=eth0 REMOTE_TYPE=ssh REMOTE_ARGS=remote
	export LOCAL_V4=192.0.2.1 REMOTE_V4=192.0.2.2
	export LOCAL_V6=2001:db8::1 REMOTE_V6=2001:db8::2
	local v4=${HOST^^}_V4 v6=${HOST^^}_V6

	ip -batch - <<-END
	link set lo up
	link set eth0 up
	addr add ${!v4}/24 dev eth0
	addr add ${!v6}/64 dev eth0 nodad
	END
	wait_for link_of_host || return
	if [ "$HOST" = local ]; then
		wait_for answer_of_remote
	else
		mkdir /run/sshd
	fi
}

# The remote host's job is its sshd.
end_remote() {
	ssh -o ConnectTimeout=10 remote 'kill $(cat /run/sshd.pid)'
}
