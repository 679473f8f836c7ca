// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "bed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH		32
#define RATE		(20000000 / 8)	/* bytes a second */
#define STRANGER	0x300000	/* handle 30: of any other discipline */
#define BURST_TICKS	(10 * MS / 64)	/* of the shapers, in psched's 64 ns */

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

void sleep_until(uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

void bed_fail(struct bed *b, const char *format, ...)
{
	va_list args;

	b->failures++;
	printf("FAIL: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static int device(const char *name)
{
	int ifindex = if_nametoindex(name);

	if (!ifindex) {
		fprintf(stderr, "churn: no device %s\n", name);
		exit(2);
	}
	return ifindex;
}

void bed_open(struct bed *b, const char *out, const char *dev)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET };
	int one = 1, room = 1 << 29;

	b->out = device(out);
	b->dev = device(dev);
	b->ours = subject_choose(b->kind);
	nl_open(&b->nl);
	addr.sll_ifindex = b->out;
	b->raw = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (b->raw < 0 || bind(b->raw, (void *)&addr, sizeof(addr)) ||
	    setsockopt(b->raw, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    setsockopt(b->raw, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room))) {
		perror("churn: packet socket");
		exit(2);
	}
}

size_t any_frame(struct bed *b, uint8_t *to, void *arg)
{
	return frame_any(to, &b->rng, *(uint32_t *)arg);
}

void bed_send(struct bed *b, unsigned int n, make_frame *make, void *arg)
{
	static uint8_t frame[BATCH][FRAME_MAX];
	struct mmsghdr msgs[BATCH] = { 0 };
	struct iovec iov[BATCH];
	unsigned int size, i, done;
	int sent;

	for (; n; n -= size) {
		size = n < BATCH ? n : BATCH;
		for (i = 0; i < size; i++) {
			iov[i].iov_base = frame[i];
			iov[i].iov_len = make(b, frame[i], arg);
			msgs[i].msg_hdr.msg_iov = &iov[i];
			msgs[i].msg_hdr.msg_iovlen = 1;
		}
		/* One that is refused, as a spoiled one may be, is stepped over. */
		for (done = 0; done < size; done += sent > 0 ? sent : 1) {
			sent = sendmmsg(b->raw, msgs + done, size - done, 0);
			b->sent += sent > 0 ? sent : 0;
			b->refused += sent <= 0;
		}
	}
}

static void must(struct bed *b, struct nl_msg *m, const char *what)
{
	struct nl_answer answer = nl_talk(&b->nl, m);

	if (answer.error) {
		fprintf(stderr, "churn: %s: %s (%s)\n", what, strerror(answer.error),
			answer.text);
		exit(1);
	}
}

void bed_clear(struct bed *b)
{
	struct nl_msg m;

	nl_begin(&m, RTM_DELQDISC, 0, b->dev, TC_H_ROOT, 0);
	nl_talk(&b->nl, &m);		/* there may be none */
	b->root = ROOT_NONE;
	b->parent = TC_H_ROOT;
}

static struct rtattr *root_begin(struct bed *b, struct nl_msg *m, const char *kind,
				 uint32_t parent, uint32_t handle)
{
	nl_begin(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, b->dev, parent, handle);
	nl_put(m, TCA_KIND, kind, strlen(kind) + 1);
	return nl_nest(m, TCA_OPTIONS);
}

static void root_htb(struct bed *b)
{
	struct tc_htb_glob init = { .version = 3, .rate2quantum = 10, .defcls = 1 };
	struct tc_htb_opt opt = {
		.rate = { .rate = RATE, .linklayer = TC_LINKLAYER_ETHERNET },
		.ceil = { .rate = RATE, .linklayer = TC_LINKLAYER_ETHERNET },
		.buffer = BURST_TICKS, .cbuffer = BURST_TICKS, .quantum = 60000,
	};
	struct rtattr *nest;
	struct nl_msg m;

	nest = root_begin(b, &m, "htb", TC_H_ROOT, 0x10000);
	nl_put(&m, TCA_HTB_INIT, &init, sizeof(init));
	nl_nest_end(&m, nest);
	must(b, &m, "htb");
	nl_begin(&m, RTM_NEWTCLASS, NLM_F_CREATE | NLM_F_EXCL, b->dev, 0x10000, 0x10001);
	nl_put(&m, TCA_KIND, "htb", 4);
	nest = nl_nest(&m, TCA_OPTIONS);
	nl_put(&m, TCA_HTB_PARMS, &opt, sizeof(opt));
	nl_nest_end(&m, nest);
	must(b, &m, "htb class");
	b->parent = 0x10001;
}

static void root_tbf(struct bed *b)
{
	struct tc_tbf_qopt opt = {
		.rate = { .rate = RATE, .linklayer = TC_LINKLAYER_ETHERNET },
		.limit = 1 << 20, .buffer = BURST_TICKS,
	};
	struct rtattr *nest;
	struct nl_msg m;

	nest = root_begin(b, &m, "tbf", TC_H_ROOT, 0x10000);
	nl_put(&m, TCA_TBF_PARMS, &opt, sizeof(opt));
	nl_nest_end(&m, nest);
	must(b, &m, "tbf");
	b->parent = 0x10001;
}

/* Under htb: a prio alone would never let a queue grow. */
static void root_prio(struct bed *b)
{
	struct tc_prio_qopt opt = { .bands = 3 };
	struct nl_msg m;

	root_htb(b);
	nl_begin(&m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, b->dev, b->parent, 0x20000);
	nl_put(&m, TCA_KIND, "prio", 5);
	nl_put(&m, TCA_OPTIONS, &opt, sizeof(opt));
	must(b, &m, "prio");
	b->parent = 0x20001;
}

void bed_root(struct bed *b, enum root root)
{
	bed_clear(b);
	if (root == ROOT_HTB)
		root_htb(b);
	else if (root == ROOT_TBF)
		root_tbf(b);
	else if (root == ROOT_PRIO)
		root_prio(b);
	b->root = root;
}

struct nl_answer bed_leaf(struct bed *b, const char *kind, int flags,
			  const struct settings *s)
{
	bool stranger = strcmp(kind, b->kind);
	struct rtattr *nest;
	struct nl_msg m;

	nl_begin(&m, RTM_NEWQDISC, flags, b->dev, b->parent, stranger ? STRANGER : LEAF);
	nl_put(&m, TCA_KIND, kind, strlen(kind) + 1);
	if (s && b->ours && !stranger) {
		nest = nl_nest(&m, TCA_OPTIONS);
		settings_put(&m, s);
		nl_nest_end(&m, nest);
	}
	return nl_talk(&b->nl, &m);
}

struct nl_answer bed_leaf_del(struct bed *b)
{
	struct nl_msg m;

	nl_begin(&m, RTM_DELQDISC, 0, b->dev, b->parent, LEAF);
	return nl_talk(&b->nl, &m);
}

void bed_link(struct bed *b, bool up)
{
	struct ifreq req = { 0 };

	if_indextoname(b->dev, req.ifr_name);
	if (!ioctl(b->raw, SIOCGIFFLAGS, &req)) {
		req.ifr_flags = up ? req.ifr_flags | IFF_UP : req.ifr_flags & ~IFF_UP;
		if (!ioctl(b->raw, SIOCSIFFLAGS, &req))
			return;
	}
	bed_fail(b, "link %s: %s", up ? "up" : "down", strerror(errno));
}

void bed_settings(struct bed *b, struct settings *s)
{
	settings_random(s, &b->rng);
	if (!subject->memory_limit) {
		/* Packets alone have a limit: for memory's sake not the highest. */
		s->value[subject->limit] = s->value[subject->limit] % 8192 + 1;
		return;
	}
	/*
	 * A parameter not set has the default, or the value of an earlier
	 * change.
	 */
	s->set[subject->memory_limit] = true;
	s->value[subject->memory_limit] %= 32 << 20;
	if (s->value[subject->memory_limit] < 4000)
		s->value[subject->memory_limit] = 4000;
}

struct look {
	struct bed *b;
	struct view *v;
};

static uint64_t number(const struct rtattr *attr)
{
	uint64_t wide;
	uint32_t word;

	if (!attr || RTA_PAYLOAD(attr) < sizeof(word))
		return 0;
	memcpy(&word, RTA_DATA(attr), sizeof(word));
	if (RTA_PAYLOAD(attr) < sizeof(wide))
		return word;
	memcpy(&wide, RTA_DATA(attr), sizeof(wide));
	return wide;
}

/* Not all have classes among their statistics. */
static void read_class(struct figures *f, struct rtattr *nest)
{
	struct rtattr *tb[ATTR_MAX + 1];

	nl_parse(tb, ATTR_MAX, RTA_DATA(nest), RTA_PAYLOAD(nest));
	f->classes++;
	f->packets += number(tb[subject->class_packets]);
	f->bytes += number(tb[subject->class_bytes]);
	f->flows += number(tb[subject->class_flows]);
}

static void read_figures(struct figures *f, struct rtattr *nest)
{
	struct rtattr *attr = RTA_DATA(nest);
	int len = RTA_PAYLOAD(nest), type;

	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len)) {
		type = attr->rta_type & NLA_TYPE_MASK;
		if (type == subject->stats_class)
			read_class(f, attr);
		else if (type <= subject->stats_max)
			f->of[type] = number(attr);
	}
}

static void read_stats(struct view *v, struct rtattr *stats)
{
	struct rtattr *tb[TCA_STATS_MAX + 1];
	struct gnet_stats_queue *queue;

	nl_parse(tb, TCA_STATS_MAX, RTA_DATA(stats), RTA_PAYLOAD(stats));
	if (tb[TCA_STATS_QUEUE]) {
		queue = RTA_DATA(tb[TCA_STATS_QUEUE]);
		v->qlen = queue->qlen;
		v->backlog = queue->backlog;
		v->drops = queue->drops;
	}
	if (tb[TCA_STATS_APP])
		read_figures(&v->figures, tb[TCA_STATS_APP]);
}

static void look_at(void *arg, const struct tcmsg *tc, struct rtattr **tca)
{
	struct look *look = arg;
	const char *wrong;

	if (tc->tcm_handle != LEAF || !tca[TCA_KIND] ||
	    strcmp(RTA_DATA(tca[TCA_KIND]), look->b->kind))
		return;
	look->v->present = true;
	if (tca[TCA_STATS2])
		read_stats(look->v, tca[TCA_STATS2]);
	if (!look->b->ours)
		return;
	wrong = settings_read(&look->v->settings, tca[TCA_OPTIONS]);
	if (wrong)
		bed_fail(look->b, "dump: %s is out of its range", wrong);
}

/* Every drop has a cause that the statistics count. */
static void check_drops(struct bed *b, const struct view *v)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < subject->drop_count; i++)
		sum += v->figures.of[subject->drops[i]];
	if (b->exact && sum != v->drops)
		bed_fail(b, "%u drops, of which %llu have a cause", v->drops,
			 (unsigned long long)sum);
}

/* The sum over classes equals that of the qdisc. */
static void check_classes(struct bed *b, const struct view *v)
{
	unsigned int classes = subject->classes ? subject->classes : v->settings.targets + 1;
	const struct figures *f = &v->figures;
	uint64_t flows = f->of[subject->stats_flows];
	bool peeked;

	if (f->classes != classes)
		bed_fail(b, "%u classes instead of %u", f->classes, classes);
	/* tbf looks at the next packet before it may have it: it is the qdisc's, in no class. */
	peeked = b->root == ROOT_TBF && f->packets + 1 == v->qlen && f->bytes < v->backlog;
	/* The two are read one after the other: where time passes, packets do too. */
	if (b->exact && !peeked && (f->packets != v->qlen || f->bytes != v->backlog))
		bed_fail(b, "classes hold %llu packets, %llu bytes; the qdisc %u, %u",
			 (unsigned long long)f->packets, (unsigned long long)f->bytes,
			 v->qlen, v->backlog);
	if (f->flows != flows)
		bed_fail(b, "classes have %llu flows, the qdisc %llu",
			 (unsigned long long)f->flows, (unsigned long long)flows);
	if (subject->stats_memory && !f->packets != !f->of[subject->stats_memory])
		bed_fail(b, "%llu packets in %llu bytes of memory",
			 (unsigned long long)f->packets,
			 (unsigned long long)f->of[subject->stats_memory]);
}

/* Checks the invariants of the statistics. */
static void check(struct bed *b, const struct view *v)
{
	const struct figures *f = &v->figures;
	const uint32_t *set = v->settings.value;
	uint64_t flows = f->of[subject->stats_flows];
	uint64_t memory = f->of[subject->stats_memory];

	if (subject->stats_class)
		check_classes(b, v);
	/* The guests of each set of eight are one more. */
	if (flows > (set[subject->flows] + 7) / 8 * 9)
		bed_fail(b, "%llu flows in a table of %u", (unsigned long long)flows,
			 set[subject->flows]);
	if (subject->memory_limit && memory > set[subject->memory_limit])
		bed_fail(b, "memory_used %llu above memory_limit %u",
			 (unsigned long long)memory, set[subject->memory_limit]);
	/* One more may have been looked at by tbf, and still be counted. */
	if (b->exact && v->qlen > set[subject->limit] + (b->root == ROOT_TBF))
		bed_fail(b, "%u packets above limit %u", v->qlen, set[subject->limit]);
	if (subject->stats_memory && b->exact && b->root != ROOT_TBF && !v->qlen != !memory)
		bed_fail(b, "%u packets in %llu bytes of memory", v->qlen,
			 (unsigned long long)memory);
	check_drops(b, v);
}

int bed_look(struct bed *b, struct view *v)
{
	struct look look = { b, v };
	int error;

	memset(v, 0, sizeof(*v));
	error = nl_dump(&b->nl, RTM_GETQDISC, b->dev, look_at, &look);
	if (!error && v->present && b->ours)
		check(b, v);
	return error;
}
