/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The test bed of the churn: a sender on one device, the discipline under test on
 * the same or another, below one of several roots, and its statistics, which every
 * look checks against one another.
 */
#ifndef CONFUCIUS_TEST_BED_H
#define CONFUCIUS_TEST_BED_H

#include "frames.h"
#include "settings.h"

#define MS	1000000ULL		/* ns */
#define LEAF	0x100000U		/* handle 10: of the discipline under test */

enum root { ROOT_NONE, ROOT_HTB, ROOT_TBF, ROOT_PRIO, ROOTS };

struct bed {
	struct nl_socket nl;
	uint64_t	rng;
	const char	*kind;
	bool		ours;		/* a subject: parameters and statistics are known */
	int		out;		/* device that packets are sent to */
	int		dev;		/* device of the discipline: the same, or an IFB */
	int		raw;		/* packet socket on `out` */
	enum root	root;
	uint32_t	parent;		/* of the discipline when it is the root */
	uint64_t	sent, refused;	/* frames; the latter by the qdisc, or as senseless */
	unsigned int	failures;
	bool		exact;		/* no time passes but while the test sleeps */
	bool		faulty;		/* allocations fail: requests may, too */
};

/*
 * Its statistics by their attributes, and sums over its classes if they are
 * among them.
 */
struct figures {
	uint64_t	of[ATTR_MAX + 1];
	unsigned int	classes;
	uint64_t	packets, bytes, flows;
};

/* The result of one look at the discipline. */
struct view {
	bool		present;
	struct settings	settings;
	struct figures	figures;
	uint32_t	qlen, backlog, drops;
};

void bed_open(struct bed *b, const char *out, const char *dev);
/* Prints, counts; the test continues. */
__attribute__((format(printf, 2, 3)))
void bed_fail(struct bed *b, const char *format, ...);

uint64_t now_ns(void);
void sleep_until(uint64_t ns);

/* Sends `n` frames that `make` builds. */
typedef size_t make_frame(struct bed *b, uint8_t *to, void *arg);
void bed_send(struct bed *b, unsigned int n, make_frame *make, void *arg);
make_frame any_frame;		/* arg: uint32_t, the number of flows */

/* Deletes the root; builds another, at 20 Mbit/s if it shapes. */
void bed_clear(struct bed *b);
void bed_root(struct bed *b, enum root root);
/* The discipline under the root: flags are those of RTM_NEWQDISC. */
struct nl_answer bed_leaf(struct bed *b, const char *kind, int flags,
			  const struct settings *s);
struct nl_answer bed_leaf_del(struct bed *b);
void bed_link(struct bed *b, bool up);

/* Dumps, checks the statistics for consistency, and returns 0 or an errno. */
int bed_look(struct bed *b, struct view *v);

/*
 * Random and legal, except for memory limits that this machine could not bear.
 */
void bed_settings(struct bed *b, struct settings *s);

int churn_mix(struct bed *b, unsigned int seconds);
int churn_faults(struct bed *b, unsigned int rounds);
int churn_defaults(struct bed *b, unsigned int most);
int churn_unload(struct bed *b, unsigned int rounds, const char *module);
int churn_scan(struct bed *b, unsigned int flows, const char *far);

#endif
