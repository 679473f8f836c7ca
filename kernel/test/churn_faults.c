// SPDX-License-Identifier: GPL-2.0
/*
 * Failing allocations. First one at a time: each operation is repeated with its
 * first allocation failing, its second …, until none is left to fail
 * (Documentation/fault-injection). Then at random, of those that have the
 * module on their stack, while all other allocations succeed. At last as the
 * default of a device, which the kernel resets as well as destroys if it could
 * not be made.
 */
#include "bed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUGFS		"/sys/kernel/debug/"
#define NTH_MAX		500

struct fault {
	struct bed	*b;
	int		fd;		/* fail-nth of this thread */
	unsigned int	injected;
};

static void put(const char *dir, const char *file, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0) {
		fprintf(stderr, "churn: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	close(fd);
}

static void both(const char *file, const char *value)
{
	put("failslab", file, value);
	put("fail_page_alloc", file, value);
}

/* No kind of allocation is spared. */
static void spare_none(void)
{
	both("verbose", "0");
	both("ignore-gfp-wait", "N");
	put("fail_page_alloc", "min-order", "0");
}

/*
 * First lets the kernel's workers run, which free the memory that vfree() left
 * to them.
 */
static void arm(struct fault *f, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	if (nth)
		sleep_until(now_ns() + MS);
	if (pwrite(f->fd, text, len, 0) != len) {
		perror("churn: fail-nth");
		exit(2);
	}
}

/* Returns whether the allocation that was to fail took place. */
static bool disarm(struct fault *f)
{
	char text[16] = "";
	bool fired;

	if (pread(f->fd, text, sizeof(text) - 1, 0) <= 0) {
		perror("churn: fail-nth");
		exit(2);
	}
	fired = !atoi(text);
	if (!fired)
		arm(f, 0);
	f->injected += fired;
	return fired;
}

static bool excused(int error)
{
	return !error || error == ENOMEM || error == ENOBUFS;
}

/* An add that fails leaves no state behind. */
static void adding(struct fault *f)
{
	struct nl_answer answer;
	struct settings s;
	struct view v;
	bool fired;

	bed_settings(f->b, &s);
	for (unsigned int nth = 1; nth < NTH_MAX; nth++) {
		arm(f, nth);
		answer = bed_leaf(f->b, f->b->kind, NLM_F_CREATE | NLM_F_EXCL, &s);
		fired = disarm(f);
		if (!excused(answer.error) || (answer.error && !fired))
			bed_fail(f->b, "add, allocation %u failing: %s (%s)", nth,
				 strerror(answer.error), answer.text);
		if (bed_look(f->b, &v))
			bed_fail(f->b, "dump after an add with allocation %u failing", nth);
		/* ENOBUFS may mean that only the answer could not be had. */
		if (answer.error == ENOMEM && v.present)
			bed_fail(f->b, "add said ENOMEM, yet the qdisc is there");
		if (!fired)
			return;
		if (v.present)
			bed_leaf_del(f->b);
	}
}

/* A change that fails leaves the settings as they were. */
static void changing(struct fault *f)
{
	struct view before, after;
	struct nl_answer answer;
	struct settings s;
	bool fired = true;

	for (unsigned int nth = 1; fired && nth < NTH_MAX; nth++) {
		bed_settings(f->b, &s);
		s.set[subject->flows] = false;
		bed_look(f->b, &before);
		arm(f, nth);
		answer = bed_leaf(f->b, f->b->kind, 0, &s);
		fired = disarm(f);
		if (!excused(answer.error) || (answer.error && !fired))
			bed_fail(f->b, "change, allocation %u failing: %s (%s)", nth,
				 strerror(answer.error), answer.text);
		if (bed_look(f->b, &after))
			bed_fail(f->b, "dump after a change with allocation %u failing", nth);
		if (answer.error == ENOMEM && f->b->ours &&
		    memcmp(&before.settings, &after.settings, sizeof(after.settings)))
			bed_fail(f->b, "change said ENOMEM, yet changed something");
	}
}

static void dumping(struct fault *f)
{
	bool fired = true;
	struct view v;
	int error;

	for (unsigned int nth = 1; fired && nth < NTH_MAX; nth++) {
		arm(f, nth);
		error = bed_look(f->b, &v);
		fired = disarm(f);
		/* gnet_stats_copy_app() had no memory to copy statistics to. */
		if (!excused(error) && error != EMSGSIZE)
			bed_fail(f->b, "dump, allocation %u failing: %s", nth,
				 strerror(error));
	}
}

/* Frames, GSO ones above all: their segments are allocated inside the discipline. */
static void sending(struct fault *f)
{
	uint32_t flows = 100;
	struct view v;

	for (unsigned int nth = 1; nth < 100; nth++) {
		arm(f, nth);
		bed_send(f->b, 20, any_frame, &flows);
		disarm(f);
	}
	bed_look(f->b, &v);
}

/* The address range of the module's text, for the filter of back traces. */
static bool module_range(char *start, char *end, size_t size)
{
	FILE *file = fopen("/proc/modules", "re");
	unsigned long long at, len;
	char line[256], name[64];
	bool found = false;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &len, &at) != 3 ||
		    strcmp(name, subject->module))
			continue;
		snprintf(start, size, "%llu", at);
		snprintf(end, size, "%llu", at + len);
		found = at;
	}
	if (file)
		fclose(file);
	return found;
}

/* From now on only allocations of the module may fail. */
static bool only_module(struct bed *b)
{
	char start[32], end[32];

	if (!b->ours || !module_range(start, end, sizeof(start))) {
		printf("  SKIPPED: failures in the module: %s is none here\n", b->kind);
		return false;
	}
	spare_none();
	both("require-start", start);
	both("require-end", end);
	return true;
}

static void at_random(struct bed *b, unsigned int seconds)
{
	if (!only_module(b))
		return;
	both("probability", "20");
	both("times", "-1");
	b->faulty = true;
	churn_mix(b, seconds);
	b->faulty = false;
	both("probability", "0");
}

int churn_faults(struct bed *b, unsigned int rounds)
{
	struct fault f = { .b = b };

	f.fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (f.fd < 0) {
		perror("churn: fail-nth");
		return 2;
	}
	spare_none();
	for (unsigned int i = 0; i < rounds; i++) {
		bed_root(b, i % ROOTS);
		adding(&f);
		changing(&f);
		dumping(&f);
		sending(&f);
		bed_clear(b);
	}
	printf("  %u allocations failed in %u rounds\n", f.injected, rounds);
	if (f.injected < rounds * 10)
		bed_fail(b, "hardly an allocation failed: the injection is dead");
	at_random(b, rounds);
	return b->failures != 0;
}

/* Whether the device's root, which no command set, is of kind `arg`. */
struct standard {
	const char	*kind;
	bool		present;
};

static void standard_seen(void *arg, const struct tcmsg *tc, struct rtattr **tca)
{
	struct standard *s = arg;

	if (tc->tcm_parent == TC_H_ROOT && tca[TCA_KIND] &&
	    !strcmp(RTA_DATA(tca[TCA_KIND]), s->kind))
		s->present = true;
}

static void standard_set(const char *kind)
{
	FILE *file = fopen("/proc/sys/net/core/default_qdisc", "we");

	if (!file || fprintf(file, "%s\n", kind) < 0 || fclose(file)) {
		perror("churn: default_qdisc");
		exit(2);
	}
}

/*
 * Deleting a root makes the kernel create the default; the first `slabs` and
 * the first `pages` allocations of it fail: enough for none, the first or both
 * of a qdisc's blocks, each requested twice (kvmalloc).
 */
static bool standard_made(struct bed *b, unsigned int slabs, unsigned int pages)
{
	struct standard s = { .kind = b->kind };
	char text[16];
	int error;

	bed_leaf(b, "pfifo", NLM_F_CREATE | NLM_F_REPLACE, NULL);
	snprintf(text, sizeof(text), "%u", slabs);
	put("failslab", "times", text);
	snprintf(text, sizeof(text), "%u", pages);
	put("fail_page_alloc", "times", text);
	both("probability", "100");
	bed_clear(b);
	both("probability", "0");
	error = nl_dump(&b->nl, RTM_GETQDISC, b->dev, standard_seen, &s);
	if (error)
		bed_fail(b, "dump of a default qdisc: %s", strerror(error));
	return s.present;
}

int churn_defaults(struct bed *b, unsigned int most)
{
	unsigned int made = 0, failed = 0, slabs, pages;
	uint32_t flows = 100;

	if (!only_module(b))
		return 0;
	standard_set(b->kind);
	bed_clear(b);
	for (slabs = 0; slabs <= most; slabs++)
		for (pages = 0; pages <= most; pages++) {
			if (standard_made(b, slabs, pages))
				made++;
			else
				failed++;
			bed_send(b, 20, any_frame, &flows);
		}
	standard_set("pfifo_fast");
	bed_leaf(b, "pfifo", NLM_F_CREATE | NLM_F_REPLACE, NULL);
	bed_clear(b);
	printf("  %u default qdiscs made, %u failed for memory\n", made, failed);
	if (!made || !failed)
		bed_fail(b, "all were made, or none");
	return b->failures != 0;
}
