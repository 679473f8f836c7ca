// SPDX-License-Identifier: GPL-2.0
/*
 * A tc that exports no printing, as OpenWrt's: parses the words given, prints them as a qdisc,
 * then empty statistics. With -j, as tc has it, there must be no text.
 */
#include "../q_confucius.h"
#include "addattr.h"

extern struct qdisc_util confucius_qdisc_util;

int main(int argc, char **argv)
{
	struct qdisc_util *util = &confucius_qdisc_util;
	struct tc_confucius_xstats st = { .classes = 2 };
	union {
		struct nlmsghdr n;
		char bytes[1024];
	} request = { .n.nlmsg_len = NLMSG_HDRLEN };
	union {
		struct rtattr attr;
		char bytes[RTA_LENGTH(sizeof(st))];
	} answer = { .attr.rta_len = sizeof(answer) };
	int dashed = argc > 1 && argv[1][0] == '-';

	memcpy(RTA_DATA(&answer.attr), &st, sizeof(st));
	if (util->parse_qopt(util, argc - 1 - dashed, argv + 1 + dashed, &request.n, "lo"))
		return 1;
	util->print_qopt(util, stdout, (struct rtattr *)(request.bytes + NLMSG_HDRLEN));
	return util->print_xstats(util, stdout, &answer.attr);
}
