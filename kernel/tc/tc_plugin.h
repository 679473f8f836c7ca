/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tc's interface for plugins. iproute2 installs no header for this, so it is
 * declared here as tc/tc_util.h, include/libnetlink.h and include/json_print.h
 * of iproute2 declare it; the layout is the same from 4.14 on. The symbols come
 * from the tc program itself.
 */
#ifndef TC_PLUGIN_H
#define TC_PLUGIN_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(const struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(const struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(const struct qdisc_util *qu, struct rtattr *opt, __u32 block_idx,
			 bool *p_has);
};

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);

#endif
