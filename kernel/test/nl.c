// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "nl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* Not all C libraries' headers are as new as the kernel under test. */
#ifndef SOL_NETLINK
#define SOL_NETLINK	270
#endif

void nl_open(struct nl_socket *nl)
{
	struct timeval wait = { .tv_sec = 5 };
	int one = 1;

	nl->seq = 0;
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (nl->fd < 0 ||
	    setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) ||
	    setsockopt(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)) ||
	    setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait))) {
		perror("netlink socket");
		exit(2);
	}
}

void nl_begin(struct nl_msg *m, int type, int flags, int ifindex,
	      uint32_t parent, uint32_t handle)
{
	memset(m, 0, offsetof(struct nl_msg, attrs));
	m->h.nlmsg_len = NLMSG_LENGTH(sizeof(m->tc));
	m->h.nlmsg_type = type;
	m->h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	m->tc.tcm_ifindex = ifindex;
	m->tc.tcm_parent = parent;
	m->tc.tcm_handle = handle;
}

struct rtattr *nl_put(struct nl_msg *m, int type, const void *data, size_t len)
{
	struct rtattr *attr = (void *)((char *)m + NLMSG_ALIGN(m->h.nlmsg_len));
	size_t space = RTA_SPACE(len);

	if (NLMSG_ALIGN(m->h.nlmsg_len) + space > sizeof(*m)) {
		fprintf(stderr, "netlink message too long for this test\n");
		exit(2);
	}
	memset(attr, 0, space);
	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	m->h.nlmsg_len = NLMSG_ALIGN(m->h.nlmsg_len) + space;
	return attr;
}

struct rtattr *nl_nest(struct nl_msg *m, int type)
{
	return nl_put(m, type | NLA_F_NESTED, NULL, 0);
}

void nl_nest_end(struct nl_msg *m, struct rtattr *nest)
{
	nest->rta_len = (char *)m + m->h.nlmsg_len - (char *)nest;
}

void nl_parse(struct rtattr **to, int max, struct rtattr *attr, int len)
{
	memset(to, 0, sizeof(*to) * (max + 1));
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len)) {
		int type = attr->rta_type & NLA_TYPE_MASK;

		if (type <= max)
			to[type] = attr;
	}
}

/* The text behind an nlmsgerr whose request was capped (NETLINK_CAP_ACK). */
static void extack_text(struct nlmsghdr *h, char *text, size_t size)
{
	struct nlmsgerr *err = NLMSG_DATA(h);
	struct rtattr *attrs[NLMSGERR_ATTR_MSG + 1];

	text[0] = 0;
	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	nl_parse(attrs, NLMSGERR_ATTR_MSG, (struct rtattr *)(err + 1),
		 (int)h->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*err)));
	if (attrs[NLMSGERR_ATTR_MSG])
		snprintf(text, size, "%.*s",
			 (int)RTA_PAYLOAD(attrs[NLMSGERR_ATTR_MSG]),
			 (char *)RTA_DATA(attrs[NLMSGERR_ATTR_MSG]));
}

static int nl_send(struct nl_socket *nl, struct nl_msg *m)
{
	m->h.nlmsg_seq = ++nl->seq;
	return send(nl->fd, m, m->h.nlmsg_len, 0) < 0 ? errno : 0;
}

struct nl_answer nl_talk(struct nl_socket *nl, struct nl_msg *m)
{
	struct nl_answer answer = { .error = nl_send(nl, m) };
	static char buf[65536];
	struct nlmsghdr *h;
	ssize_t len;

	while (!answer.error) {
		len = recv(nl->fd, buf, sizeof(buf), 0);
		if (len < 0) {
			answer.error = errno;
			break;
		}
		/* Answers to earlier requests, whose ENOBUFS came first, are stale. */
		for (h = (void *)buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_seq != nl->seq || h->nlmsg_type != NLMSG_ERROR)
				continue;
			answer.error = -((struct nlmsgerr *)NLMSG_DATA(h))->error;
			extack_text(h, answer.text, sizeof(answer.text));
			return answer;
		}
	}
	return answer;
}

static void seen(struct nlmsghdr *h, nl_each *each, void *arg)
{
	struct rtattr *tca[TCA_MAX + 1];

	nl_parse(tca, TCA_MAX, TCA_RTA(NLMSG_DATA(h)),
		 (int)h->nlmsg_len - (int)NLMSG_LENGTH(sizeof(struct tcmsg)));
	each(arg, NLMSG_DATA(h), tca);
}

int nl_dump(struct nl_socket *nl, int type, int ifindex, nl_each *each, void *arg)
{
	static char buf[65536];
	struct nlmsghdr *h;
	struct nl_msg m;
	ssize_t len;
	int error;

	nl_begin(&m, type, NLM_F_DUMP, ifindex, 0, 0);
	error = nl_send(nl, &m);
	if (error)
		return error;
	for (;;) {
		len = recv(nl->fd, buf, sizeof(buf), 0);
		if (len < 0)
			return errno;
		for (h = (void *)buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_seq != nl->seq)
				continue;
			if (h->nlmsg_type == NLMSG_DONE)
				return -*(int *)NLMSG_DATA(h);
			if (h->nlmsg_type == NLMSG_ERROR)
				return -((struct nlmsgerr *)NLMSG_DATA(h))->error;
			if (((struct tcmsg *)NLMSG_DATA(h))->tcm_ifindex == ifindex)
				seen(h, each, arg);
		}
	}
}

int module_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		error = errno;
	close(fd);
	return error;
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}
