// SPDX-License-Identifier: GPL-2.0
/*
 * Churn for a queue discipline under the detectors of the sanitizer kernel:
 * `churn mix` random load and random reconfiguration, `churn faults` and `churn
 * defaults` failing allocations, `churn unload` the module taken away under
 * load, `churn scan` a scanner's million flows in parallel with a call.
 */
#include "bed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK		(5 * MS)
#define CREATE		(NLM_F_CREATE | NLM_F_EXCL)
#define REPLACE		(NLM_F_CREATE | NLM_F_REPLACE)

/* The load for a while; the link takes some ten frames in a tick. */
struct load {
	uint64_t	until;
	unsigned int	frames;		/* in a tick */
	uint32_t	flows;
};

static void new_load(struct bed *b, struct load *load, uint64_t now)
{
	static const unsigned int frames[] = { 0, 1, 5, 20, 20 };
	static const uint32_t flows[] = { 1, 10, 1000, 50000 };

	load->until = now + rnd_between(&b->rng, 20, 1000) * MS;
	load->frames = frames[rnd(&b->rng) % 5];
	load->flows = flows[rnd(&b->rng) % 4];
	if (rnd(&b->rng) % 16 == 0)	/* all at once */
		bed_send(b, 1000, any_frame, &load->flows);
}

/* A dump that has no memory to copy statistics to ends with EMSGSIZE. */
static bool excused(struct bed *b, int error)
{
	return b->faulty && (error == ENOMEM || error == ENOBUFS || error == EMSGSIZE);
}

static void expect(struct bed *b, struct nl_answer answer, const char *what)
{
	if (answer.error && !excused(b, answer.error))
		bed_fail(b, "%s: %s (%s)", what, strerror(answer.error), answer.text);
}

static void add(struct bed *b)
{
	struct settings s;

	bed_settings(b, &s);
	expect(b, bed_leaf(b, b->kind, REPLACE, &s), "add");
}

/* Every parameter takes, and no packet is lost but to a limit that was lowered. */
static void change(struct bed *b)
{
	struct view before, after;
	struct nl_answer answer;
	struct settings s;
	uint64_t dropped;
	const char *wrong;

	bed_look(b, &before);
	if (!before.present || !b->ours)
		return;
	bed_settings(b, &s);
	s.set[subject->flows] = false;
	answer = bed_leaf(b, b->kind, 0, &s);
	expect(b, answer, "change");
	if (answer.error || bed_look(b, &after))
		return;
	wrong = settings_differ(&s, &after.settings);
	if (wrong)
		bed_fail(b, "change: %s is not what was set", wrong);
	dropped = after.figures.of[subject->stats_change] -
		  before.figures.of[subject->stats_change];
	if (b->exact && before.qlen != after.qlen + dropped)
		bed_fail(b, "change: %u packets became %u, with %llu dropped", before.qlen,
			 after.qlen, (unsigned long long)dropped);
}

static void look(struct bed *b)
{
	struct view v;
	int error = bed_look(b, &v);

	if (error && !excused(b, error))
		bed_fail(b, "dump: %s", strerror(error));
}

static void ignore(void *arg, const struct tcmsg *tc, struct rtattr **tca)
{
	(void)arg, (void)tc, (void)tca;
}

static void classes(struct bed *b)
{
	int error = nl_dump(&b->nl, RTM_GETTCLASS, b->dev, ignore, NULL);

	if (error && !excused(b, error))
		bed_fail(b, "dump of classes: %s", strerror(error));
}

static void again(struct bed *b)
{
	struct nl_answer answer = bed_leaf_del(b);

	if (!b->faulty)		/* else an add that failed may have left none, or another */
		expect(b, answer, "del");
	add(b);
}

static void swap(struct bed *b)
{
	static const char *const others[] = { "fq_codel", "pfifo", "cake" };
	struct nl_answer answer;

	answer = bed_leaf(b, others[rnd(&b->rng) % 3], REPLACE, NULL);
	if (!b->faulty)		/* else that other may be there already, as in again() */
		expect(b, answer, "replace by another");
	add(b);
}

static void reroot(struct bed *b)
{
	bed_root(b, rnd(&b->rng) % ROOTS);
	add(b);
}

/*
 * Adds a filter that names a flow, or removes all: no packet may be lost by
 * that.
 */
static void filter(struct bed *b)
{
	uint32_t flow = LEAF | rnd_between(&b->rng, 1, 0xffff);
	bool add = rnd(&b->rng) & 1;
	struct rtattr *nest;
	struct view v;
	struct nl_msg m;

	if (bed_look(b, &v) || !v.present || !b->ours)
		return;
	nl_begin(&m, add ? RTM_NEWTFILTER : RTM_DELTFILTER, add ? CREATE : 0, b->dev,
		 LEAF, 0);
	if (add) {
		m.tc.tcm_info = TC_H_MAKE(rnd_between(&b->rng, 1, 0xffff) << 16,
					  htons(ETH_P_ALL));
		nl_put(&m, TCA_KIND, "matchall", 9);
		nest = nl_nest(&m, TCA_OPTIONS);
		nl_put(&m, TCA_MATCHALL_CLASSID, &flow, sizeof(flow));
		nl_nest_end(&m, nest);
	}
	expect(b, nl_talk(&b->nl, &m), add ? "filter" : "filters away");
}

static void flap(struct bed *b)
{
	bed_link(b, false);
	bed_link(b, true);
}

static void operate(struct bed *b)
{
	static void (*const ops[])(struct bed *b) = {
		change, change, change, change, change, change, look, look, look, look,
		classes, again, swap, reroot, flap, filter, filter,
	};
	struct view v;

	ops[rnd(&b->rng) % (sizeof(ops) / sizeof(ops[0]))](b);
	/* A failed allocation may have left none: the next round needs one. */
	if (b->faulty && !bed_look(b, &v) && !v.present)
		add(b);
}

int churn_mix(struct bed *b, unsigned int seconds)
{
	uint64_t start = now_ns(), end = start + seconds * 1000 * MS;
	uint64_t part = start;
	struct load load = { 0 };

	reroot(b);
	for (uint64_t now = start; now < end; now += TICK) {
		if (now >= load.until)
			new_load(b, &load, now);
		bed_send(b, load.frames, any_frame, &load.flows);
		if (rnd(&b->rng) % 8 == 0)
			operate(b);
		if (now >= part) {
			part += (end - start) / 10;
			printf("  %3llu s: %llu frames, %llu dropped at once\n",
			       (unsigned long long)(now - start) / 1000 / MS,
			       (unsigned long long)b->sent,
			       (unsigned long long)b->refused);
		}
		sleep_until(now + TICK);
	}
	look(b);
	bed_clear(b);
	return b->failures != 0;
}

/* Refused while it is in use, even with its queue full; free at once afterwards. */
int churn_unload(struct bed *b, unsigned int rounds, const char *module)
{
	uint32_t flows = 1000;
	int error;

	for (unsigned int i = 0; i < rounds; i++) {
		bed_root(b, i % ROOTS);
		add(b);
		bed_send(b, 500, any_frame, &flows);
		if (!module_unload(subject->module))
			bed_fail(b, "the module was unloaded while in use");
		bed_clear(b);
		bed_send(b, 100, any_frame, &flows);
		error = module_unload(subject->module);
		for (int tries = 0; error == EAGAIN && tries < 1000; tries++) {
			sleep_until(now_ns() + MS);
			error = module_unload(subject->module);
		}
		if (error)
			bed_fail(b, "unload: %s", strerror(error));
		if (rnd(&b->rng) & 1)
			sleep_until(now_ns() + rnd(&b->rng) % (20 * MS));
		error = module_load(module);
		if (error && error != EEXIST) {
			bed_fail(b, "load: %s", strerror(error));
			break;
		}
	}
	printf("  %u rounds of unload and load\n", rounds);
	return b->failures != 0;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: churn [-k KIND] [-o OUT] [-d DEVICE] [-s SEED] [-x] TEST N [ARGUMENT]\n"
		"  mix SECONDS, faults ROUNDS, defaults MOST, unload ROUNDS MODULE.ko, scan FLOWS FAR-DEVICE\n"
		"  -x: in a kernel where no time passes but while the test sleeps\n"
		"as root of a test machine: the devices lose their queue disciplines\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct bed b = { .rng = 1, .kind = "confucius" };
	const char *out = "a0", *dev = NULL, *test, *argument;
	unsigned int n;
	int c, failed;

	while ((c = getopt(argc, argv, "k:o:d:s:x")) != -1) {
		switch (c) {
		case 'k':
			b.kind = optarg;
			break;
		case 'o':
			out = optarg;
			break;
		case 'd':
			dev = optarg;
			break;
		case 's':
			b.rng = strtoull(optarg, NULL, 0);
			break;
		case 'x':
			b.exact = true;
			break;
		default:
			usage();
		}
	}
	if (argc - optind < 2)
		usage();
	setvbuf(stdout, NULL, _IOLBF, 0);
	test = argv[optind];
	n = strtoul(argv[optind + 1], NULL, 0);
	argument = argv[optind + 2] ? argv[optind + 2] : "";
	bed_open(&b, out, dev ? dev : out);
	if (!strcmp(test, "mix"))
		failed = churn_mix(&b, n);
	else if (!strcmp(test, "faults"))
		failed = churn_faults(&b, n);
	else if (!strcmp(test, "defaults"))
		failed = churn_defaults(&b, n);
	else if (!strcmp(test, "unload"))
		failed = churn_unload(&b, n, argument);
	else if (!strcmp(test, "scan"))
		failed = churn_scan(&b, n, argument);
	else
		usage();
	printf("  churn %s: %u failures\n", test, b.failures);
	return failed;
}
