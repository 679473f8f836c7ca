/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that every tc exports, for test programs that take its place. */
#ifndef TEST_ADDATTR_H
#define TEST_ADDATTR_H

#include <string.h>

#include "../tc_plugin.h"

#define ANSWER_MAX	4096

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen)
{
	struct rtattr *attr = (struct rtattr *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));
	int len = RTA_LENGTH(alen);

	if (NLMSG_ALIGN(n->nlmsg_len) + RTA_ALIGN(len) > (unsigned int)maxlen)
		return -1;
	attr->rta_type = type;
	attr->rta_len = len;
	if (alen)
		memcpy(RTA_DATA(attr), data, alen);
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + RTA_ALIGN(len);
	return 0;
}

struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type)
{
	struct rtattr *nest = (struct rtattr *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	addattr_l(n, maxlen, type, NULL, 0);
	return nest;
}

int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest)
{
	nest->rta_len = (char *)n + NLMSG_ALIGN(n->nlmsg_len) - (char *)nest;
	return n->nlmsg_len;
}

static inline void put_u32(struct nlmsghdr *n, int type, __u32 value)
{
	addattr_l(n, ANSWER_MAX, type, &value, sizeof(value));
}

static inline void put_u64(struct nlmsghdr *n, int type, __u64 value)
{
	addattr_l(n, ANSWER_MAX, type, &value, sizeof(value));
}

#endif
