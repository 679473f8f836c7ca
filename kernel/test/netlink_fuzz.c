// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile netlink for a queue discipline: thousands of messages, wrong in every
 * way that one can think of, to the loopback device of a name space of its own.
 *
 * Each message must be rejected with an extack text or leave values in their
 * ranges behind; a rejected one must leave the settings as they were. Legal
 * messages are among them, so that a kernel which rejects all messages fails
 * too.
 */
#define _GNU_SOURCE
#include "fuzz_shapes.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANDLE		0x100000	/* 10: */
#define FAILURES_SHOWN	20

/* The root of the device. */
struct root {
	bool		present;	/* a discipline of the kind under test, 10: */
	bool		other;		/* any other */
	size_t		len;
	char		options[4096];
	const char	*wrong;		/* the first value outside its range */
	struct settings	settings;
};

struct tally {
	unsigned int	sent, accepted, rejected, told;
};

static unsigned int failures;

struct look {
	struct fuzz *f;
	struct root *root;
};

static void look_at(void *arg, const struct tcmsg *tc, struct rtattr **tca)
{
	struct look *look = arg;
	struct root *root = look->root;
	struct rtattr *opts = tca[TCA_OPTIONS];

	if (tc->tcm_parent != TC_H_ROOT || !tc->tcm_handle)
		return;
	if (!tca[TCA_KIND] || strcmp(RTA_DATA(tca[TCA_KIND]), look->f->kind) ||
	    tc->tcm_handle != HANDLE) {
		root->other = true;
		return;
	}
	root->present = true;
	if (opts && RTA_PAYLOAD(opts) <= sizeof(root->options)) {
		root->len = RTA_PAYLOAD(opts);
		memcpy(root->options, RTA_DATA(opts), root->len);
	}
	if (look->f->ours)
		root->wrong = settings_read(&root->settings, opts);
}

static void look(struct fuzz *f, struct root *root)
{
	struct look arg = { f, root };
	int error;

	memset(root, 0, sizeof(*root));
	error = nl_dump(&f->nl, RTM_GETQDISC, f->ifindex, look_at, &arg);
	if (error) {
		fprintf(stderr, "netlink_fuzz: dump: %s\n", strerror(error));
		exit(1);
	}
}

static void must(struct fuzz *f, struct nl_msg *m, const char *what)
{
	struct nl_answer answer = nl_talk(&f->nl, m);

	if (!answer.error)
		return;
	fprintf(stderr, "netlink_fuzz: %s: %s (%s)\n", what, strerror(answer.error),
		answer.text);
	exit(1);
}

/* An add finds the root empty, a change finds a discipline with defaults. */
static void prepare(struct fuzz *f, struct root *root)
{
	bool wanted = f->op != ADD;
	struct nl_msg m;

	look(f, root);
	if (root->other || (root->present && !wanted)) {
		nl_begin(&m, RTM_DELQDISC, 0, f->ifindex, TC_H_ROOT, 0);
		must(f, &m, "del");
		root->present = false;
	}
	if (wanted && !root->present) {
		nl_begin(&m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, f->ifindex,
			 TC_H_ROOT, HANDLE);
		nl_put(&m, TCA_KIND, f->kind, strlen(f->kind) + 1);
		must(f, &m, "add with defaults");
	}
	look(f, root);
}

/* The error in the kernel's answer, or NULL. */
static const char *verdict(struct fuzz *f, const struct nl_answer *answer,
			   const struct root *before, const struct root *after)
{
	if (after->wrong)
		return "a value outside its range was installed";
	if (!f->ours)
		return NULL;
	if (!answer->error && f->expect == REJECT)
		return "accepted";
	if (answer->error && f->expect == ACCEPT)
		return "rejected";
	if (answer->error && f->about_options) {
		if (!answer->text[0])
			return "rejected without a text";
		if (after->present != before->present || after->len != before->len ||
		    memcmp(after->options, before->options, after->len))
			return "rejected, but something changed";
	}
	if (!answer->error && f->expect == ACCEPT && after->present &&
	    settings_differ(&f->legal, &after->settings))
		return settings_differ(&f->legal, &after->settings);
	return NULL;
}

static void report(unsigned int i, const struct shape *shape, enum op op,
		   const struct nl_answer *answer, const char *why)
{
	static const char *const ops[] = { "add", "replace", "change" };

	if (++failures <= FAILURES_SHOWN)
		printf("FAIL message %u, %s of `%s': %s (%s; \"%s\")\n", i, ops[op],
		       shape->name, why,
		       answer->error ? strerror(answer->error) : "success",
		       answer->text);
}

static void one(struct fuzz *f, unsigned int i, struct tally *tally, bool verbose)
{
	static const int flags[] = { NLM_F_CREATE | NLM_F_EXCL,
				     NLM_F_CREATE | NLM_F_REPLACE, 0 };
	const struct shape *shape = &shapes[i % SHAPES];
	struct nl_answer answer;
	struct root before, after;
	struct nl_msg m;
	const char *why;

	f->op = rnd(&f->rng) % 3;
	f->expect = EITHER;
	f->about_options = true;
	memset(&f->legal, 0, sizeof(f->legal));
	prepare(f, &before);
	nl_begin(&m, RTM_NEWQDISC, flags[f->op], f->ifindex, TC_H_ROOT, HANDLE);
	shape->build(f, &m);
	answer = nl_talk(&f->nl, &m);
	look(f, &after);
	tally->sent++;
	tally->accepted += !answer.error;
	tally->rejected += !!answer.error;
	tally->told += answer.error && answer.text[0];
	why = verdict(f, &answer, &before, &after);
	if (why)
		report(i, shape, f->op, &answer, why);
	if (verbose)
		printf("%u %s: %s \"%s\"\n", i, shape->name,
		       answer.error ? strerror(answer.error) : "ok", answer.text);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: netlink_fuzz [-k KIND] [-n MESSAGES] [-s SEED] [-m MODULE.ko] [-v]\n"
		"as root of a test machine; only KINDs confucius, mencius and floq have their rules checked\n");
	exit(2);
}

static void summary(const struct fuzz *f, const struct tally *tally, unsigned int count)
{
	printf("%-16s %8s %8s %8s %8s\n", f->kind, "sent", "accepted", "rejected", "text");
	for (int i = 0; i < SHAPES; i++)
		printf("%-16s %8u %8u %8u %8u\n", shapes[i].name, tally[i].sent,
		       tally[i].accepted, tally[i].rejected, tally[i].told);
	printf("netlink_fuzz: %u messages, %u failures%s\n", count, failures,
	       f->ours ? "" : " (survival only: the rules of this kind are not known)");
}

int main(int argc, char **argv)
{
	struct fuzz f = { .rng = 1, .kind = "confucius" };
	struct tally tally[SHAPES] = { 0 };
	const char *module = NULL;
	unsigned int count = 10000;
	bool verbose = false;
	int c;

	while ((c = getopt(argc, argv, "k:n:s:m:v")) != -1) {
		switch (c) {
		case 'k':
			f.kind = optarg;
			break;
		case 'n':
			count = strtoul(optarg, NULL, 0);
			break;
		case 's':
			f.rng = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			module = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			usage();
		}
	}
	c = module ? module_load(module) : 0;
	if (c && c != EEXIST) {
		fprintf(stderr, "netlink_fuzz: %s: %s\n", module, strerror(c));
		return 2;
	}
	if (unshare(CLONE_NEWNET)) {
		perror("netlink_fuzz: a network name space");
		return 2;
	}
	f.ours = subject_choose(f.kind);
	f.ifindex = if_nametoindex("lo");
	nl_open(&f.nl);
	for (unsigned int i = 0; i < count; i++)
		one(&f, i, &tally[i % SHAPES], verbose);
	summary(&f, tally, count);
	return failures != 0;
}
