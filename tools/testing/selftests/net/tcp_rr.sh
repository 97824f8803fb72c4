#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# net.ipv4.tcp_rr, a TCP sender that survives reordering: on a path that reorders
# it learns to wait for more than three duplicate ACKs, and so sends more, and less
# of it twice.
#
# shellcheck disable=SC1091,SC2034,SC2154,SC2317 # what lib.sh has, and reads

source "$(dirname "$0")/lib.sh"

ADDR=192.0.2
SECONDS_EACH=4

setup()
{
	trap cleanup_all_ns EXIT
	setup_ns client server
	ip -n "$client" link add veth0 type veth peer name veth0 netns "$server"
	ip -n "$client" addr add $ADDR.1/24 dev veth0
	ip -n "$server" addr add $ADDR.2/24 dev veth0
	ip -n "$client" link set veth0 up
	ip -n "$server" link set veth0 up
	# packets pass each other; TCP's own segments, not those of TSO
	ip netns exec "$client" ethtool -K veth0 tso off gso off
	tc -n "$client" qdisc add dev veth0 root netem limit 10000 \
		delay 10ms 1ms
}

set_client()
{
	ip netns exec "$client" sysctl -qw "${@/#/net.ipv4.}"
}

listens()
{
	ip netns exec "$server" ss -Hltn sport = :5201 | grep -q .
}

# Sets $reordering, that of the connection near its end, $segments and $retransmits.
transfer()
{
	local server_pid

	set_client tcp_recovery=0 tcp_no_metrics_save=1 tcp_timestamps=0 "$@"
	ip netns exec "$server" iperf3 -s -1 > /dev/null &
	server_pid=$!
	busywait 5000 listens > /dev/null
	ip netns exec "$client" nstat -n
	ip netns exec "$client" iperf3 -c $ADDR.2 -t $SECONDS_EACH > /dev/null &
	sleep $((SECONDS_EACH - 1))
	# ss says nothing of three; the other connection is iperf3's own
	reordering=$(ip netns exec "$client" ss -Htin dport = :5201 |
		grep -o 'reordering:[0-9]*' | cut -d : -f 2 | sort -n | tail -n 1)
	reordering=${reordering:-3}
	wait $! $server_pid
	read -r segments retransmits < <(ip netns exec "$client" \
		nstat -z TcpOutSegs TcpRetransSegs |
		awk '/^Tcp/ { printf "%s ", $2 }')
}

values()
{
	local setting

	RET=0
	for setting in tcp_rr={0,1,2,5,6} tcp_rr_fa_percent={0,90,99} \
			tcp_limited_transmit={1,0}; do
		set_client "$setting"
		check_err $? "$setting is refused"
	done
	for setting in tcp_rr={-1,3,4,7} tcp_rr_fa_percent={-1,100} \
			tcp_limited_transmit={-1,256}; do
		set_client "$setting" 2> /dev/null
		check_fail $? "$setting is taken"
	done
	log_test "values that there are, and no others"
}

learns()
{
	local segments_without retransmits_without

	RET=0
	transfer tcp_rr=0 tcp_max_reordering=3
	segments_without=$segments
	retransmits_without=$retransmits
	[ "$retransmits" -gt 0 ]
	check_err $? "nothing was retransmitted: the path does not reorder"
	transfer tcp_rr=2 tcp_rr_fa_percent=90 tcp_max_reordering=300 \
		tcp_limited_transmit=1
	[ "$reordering" -gt 3 ]
	check_err $? "reordering is $reordering"
	[ "$segments" -gt $((2 * segments_without)) ]
	check_err $? "$segments segments, $segments_without without"
	[ $((retransmits * segments_without)) -lt \
		$((retransmits_without * segments)) ]
	check_err $? "$retransmits of $segments sent again"
	log_test "late packets are waited for"
}

check_err()
{
	[ "$1" -eq 0 ] || { RET=$ksft_fail; retmsg=$2; }
}

check_fail()
{
	[ "$1" -ne 0 ] || { RET=$ksft_fail; retmsg=$2; }
}

for tool in iperf3 nstat ss tc ethtool; do
	command -v $tool > /dev/null || {
		echo "SKIP: there is no $tool"
		exit "$ksft_skip"
	}
done
[ -e /proc/sys/net/ipv4/tcp_rr ] || {
	echo "SKIP: this kernel has no CONFIG_TCP_RR"
	exit "$ksft_skip"
}
setup
values
learns
exit "$EXIT_STATUS"
