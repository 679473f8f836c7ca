// SPDX-License-Identifier: GPL-2.0
/*
 * A tc that exports no printing, as OpenWrt's: parses the words given, prints them as a qdisc,
 * then some statistics of a DISCIPLINE. With -j, as tc has it, there must be no text.
 */
#include <linux/gen_stats.h>

#include <stdio.h>

#include "addattr.h"
#include ANSWER

#define PASTE(a, b)	a##b
#define UTIL(id)	PASTE(id, _qdisc_util)

extern struct qdisc_util UTIL(DISCIPLINE);

int main(int argc, char **argv)
{
	struct qdisc_util *util = &UTIL(DISCIPLINE);
	union {
		struct nlmsghdr n;
		char bytes[ANSWER_MAX];
	} request = { .n.nlmsg_len = NLMSG_HDRLEN }, answer = request;
	struct rtattr *nest = addattr_nest(&answer.n, ANSWER_MAX, TCA_STATS_APP);
	int dashed = argc > 1 && argv[1][0] == '-';

	put_answer(&answer.n, 1);
	addattr_nest_end(&answer.n, nest);
	if (util->parse_qopt(util, argc - 1 - dashed, argv + 1 + dashed, &request.n, "lo"))
		return 1;
	util->print_qopt(util, stdout, (struct rtattr *)(request.bytes + NLMSG_HDRLEN));
	return util->print_xstats(util, stdout, nest);
}
