/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw rtnetlink for the tests of queue disciplines: messages that may be as
 * wrong as the test wishes, and the kernel's answer with its extack text.
 */
#ifndef CONFUCIUS_TEST_NL_H
#define CONFUCIUS_TEST_NL_H

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

struct nl_msg {
	struct nlmsghdr	h;
	struct tcmsg	tc;
	char		attrs[8192];
};

struct nl_answer {
	int	error;		/* 0, or a positive errno */
	char	text[256];	/* extack, empty if the kernel gave none */
};

struct nl_socket {
	int		fd;
	uint32_t	seq;
};

/* Ends the program if the kernel has no extack. */
void nl_open(struct nl_socket *nl);

/* An empty message of `type` (RTM_NEWQDISC …) for device `ifindex`. */
void nl_begin(struct nl_msg *m, int type, int flags, int ifindex,
	      uint32_t parent, uint32_t handle);
/* Appends; the length in the header may be lied about afterwards. */
struct rtattr *nl_put(struct nl_msg *m, int type, const void *data, size_t len);
struct rtattr *nl_nest(struct nl_msg *m, int type);
void nl_nest_end(struct nl_msg *m, struct rtattr *nest);

/*
 * Sends and waits for the acknowledgement. An error of the socket itself, as
 * when the kernel could not allocate its answer, is returned the same way.
 */
struct nl_answer nl_talk(struct nl_socket *nl, struct nl_msg *m);

/*
 * Dumps (RTM_GETQDISC, RTM_GETTCLASS); `each` sees every object with its
 * attributes by type, up to TCA_MAX. Returns 0, or a positive errno.
 */
typedef void nl_each(void *arg, const struct tcmsg *tc, struct rtattr **tca);
int nl_dump(struct nl_socket *nl, int type, int ifindex, nl_each *each, void *arg);

void nl_parse(struct rtattr **to, int max, struct rtattr *attr, int len);

/* A module by file and by name; return 0, or a positive errno. */
int module_load(const char *path);
int module_unload(const char *name);

/* SplitMix64: one seed, one sequence, on every machine. */
static inline uint64_t rnd(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* From `lo` to `hi`, both included. */
static inline uint64_t rnd_between(uint64_t *state, uint64_t lo, uint64_t hi)
{
	return lo + rnd(state) % (hi - lo + 1);
}

#endif
