// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of what makes a trace that fails short. */

#include <kunit/test.h>
#include <linux/array_size.h>

#include "model_play.h"

/* Something to make small: a FIN, then a stamp in the flow next door. */
static bool holds_fin_and_stamp(void *data, const struct model_trace *trace)
{
	const struct model_pkt *pkt = trace->pkt;
	unsigned int i, j;

	for (i = 0; i < trace->num; i++)
		for (j = i + 1; j < trace->num; j++)
			if (pkt[i].kind == MODEL_FIN &&
			    pkt[j].how & MODEL_STAMP &&
			    pkt[j].flow == (pkt[i].flow ^ MODEL_FLOW_PORT))
				return true;
	return false;
}

static void trace_is_shortened_and_printed(struct kunit *test)
{
	struct model_pkt pkt[] = {
		{ 10, 7, 10, .flow = 4, .how = MODEL_STAMP },
		{ 20, 0, 10, .flow = 4, .how = MODEL_LAST },
		{ 30, 7, 10, .flow = 4, .kind = MODEL_FIN, .how = MODEL_STAMP },
		{ 40, 7, 10, .flow = 4, .how = MODEL_STAMP, .pause = 9 },
		{ 50, 7, 10, .flow = 6, .kind = MODEL_URG, .how = MODEL_STAMP },
		{ 60, 7, 10, .flow = 5, .kind = MODEL_SYN, .how = MODEL_STAMP },
		{ 70, 7, 10, .flow = 5, .kind = MODEL_FIN },
	};
	struct model_trace trace = {
		.block_size = 3, .limit = 5, .ring = 7, .hash = 11,
		.hold_usecs = 13,
		.num = ARRAY_SIZE(pkt), .pkt = pkt,
	};
	char text[MODEL_TEXT];

	srpic_model_shrink(&trace, pkt, holds_fin_and_stamp, NULL);
	KUNIT_EXPECT_EQ(test, trace.block_size, 32);
	KUNIT_EXPECT_EQ(test, trace.limit, 0);
	KUNIT_EXPECT_EQ(test, trace.ring, 0);
	KUNIT_EXPECT_EQ(test, trace.hash, 1);
	KUNIT_EXPECT_EQ(test, trace.hold_usecs, 0);
	KUNIT_ASSERT_EQ(test, trace.num, 2);

	srpic_model_print_pkt(&pkt[0], text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text,
			   "{ .seq = 0x1e, .len = 10, .flow = 0, .kind = MODEL_FIN, .how = 0, .tsval = 0x0, .pause = 0 }");
	srpic_model_print_pkt(&pkt[1], text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text,
			   "{ .seq = 0x3c, .len = 10, .flow = 1, .kind = MODEL_DATA, .how = MODEL_STAMP, .tsval = 0x7, .pause = 0 }");
}

/* No library can keep to blocks of no packet: any one packet is a failure. */
static void failing_trace_is_reported(struct kunit *test)
{
	struct model_fixture *fix = test->priv;
	struct model_trace trace = { .num = 3, .pkt = fix->pkt };
	unsigned int i;

	for (i = 0; i < trace.num; i++)
		fix->pkt[i] = (struct model_pkt) {
			.seq = 10 * i, .len = 10, .flow = 42, .how = MODEL_PSH,
		};
	KUNIT_ASSERT_NE(test, srpic_model_play(fix, &trace), 0);
	KUNIT_ASSERT_FALSE(test, fix->no_memory);
	kunit_info(test, "what follows is as it should be\n");
	srpic_model_report(test, &trace, "blocks_of_no_packet");
	KUNIT_EXPECT_EQ(test, fix->wrong, BIT(MODEL_BOUNDED));
	KUNIT_EXPECT_EQ(test, trace.num, 1);
	KUNIT_EXPECT_EQ(test, fix->pkt[0].flow | fix->pkt[0].how, 0);
}

static struct kunit_case shrink_test_cases[] = {
	KUNIT_CASE(trace_is_shortened_and_printed),
	KUNIT_CASE(failing_trace_is_reported),
	{ }
};

static struct kunit_suite shrink_test_suite = {
	.name = "srpic_shrink",
	.init = srpic_model_init,
	.exit = srpic_model_exit,
	.test_cases = shrink_test_cases,
};

kunit_test_suite(shrink_test_suite);
