/* SPDX-License-Identifier: GPL-2.0 */
/* The cases in poll.h that all drivers have, for the list of a suite. */

KUNIT_CASE(sorted),
KUNIT_CASE(off),
KUNIT_CASE(netpoll),
KUNIT_CASE(budget_used_up),
KUNIT_CASE(half_a_frame),
KUNIT_CASE(several_buffers),
KUNIT_CASE(xdp_pass),
KUNIT_CASE(vlan_tag),
KUNIT_CASE(bad_checksum),
KUNIT_CASE(around_the_ring),
KUNIT_CASE(merged),
KUNIT_CASE(held_until_filled),
KUNIT_CASE(held_until_deadline),
KUNIT_CASE(held_until_down),
