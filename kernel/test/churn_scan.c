// SPDX-License-Identifier: GPL-2.0
/*
 * A scanner sends one packet of each of a great many flows, faster than the link,
 * while a call goes on: memory stays within its limits, and the call is served.
 */
#define _GNU_SOURCE
#include "bed.h"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define TICK		MS
#define CALL_EVERY	20		/* ticks: 50 packets a second */
#define SCAN_PER_TICK	30		/* 100 bytes each: 24 Mbit/s into 20 */
#define SCAN_BYTES	100
#define LEAD_TICKS	5000		/* the call's, before the scanner starts */
#define LOSS_PER_MILLE	10
#define DELAY_MS	100

struct scan {
	struct bed	*b;
	int		far;		/* packet socket behind the link */
	uint32_t	next, flows;
	uint32_t	calls, heard;	/* packets of the call: sent, received */
	uint32_t	delay_ms[1001];	/* how many took so long; the last: longer */
	uint32_t	memory_peak;
	long		slab_start, slab_peak;	/* kB */
};

/* Only the call: IPv4, UDP, its port. */
static int listen_for_call(const char *dev)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 5),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, CALL_STAMP_AT - 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL_PORT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 256),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };
	struct sockaddr_ll addr = { .sll_family = AF_PACKET,
				    .sll_protocol = htons(ETH_P_ALL),
				    .sll_ifindex = if_nametoindex(dev) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) ||
	    bind(fd, (void *)&addr, sizeof(addr))) {
		perror("churn: packet socket of the far end");
		exit(2);
	}
	return fd;
}

static size_t scan_frame(struct bed *b, uint8_t *to, void *arg)
{
	struct scan *s = arg;

	(void)b;
	return frame_udp(to, s->next++, SCAN_BYTES);
}

static size_t call_frame(struct bed *b, uint8_t *to, void *arg)
{
	struct scan *s = arg;
	struct call_stamp stamp = { now_ns(), s->calls++ };

	(void)b;
	return frame_call(to, &stamp);
}

static void hear(struct scan *s)
{
	struct call_stamp stamp;
	uint8_t frame[256];
	uint64_t ms;

	while (recv(s->far, frame, sizeof(frame), 0) >= CALL_STAMP_AT + (int)sizeof(stamp)) {
		memcpy(&stamp, frame + CALL_STAMP_AT, sizeof(stamp));
		ms = (now_ns() - stamp.sent_ns) / MS;
		s->delay_ms[ms < 1000 ? ms : 1000]++;
		s->heard++;
	}
}

/* Kernel memory in use that is not free, cached or this program's. */
static long slab_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	long sum = 0, value;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Slab: %ld", &value) == 1 ||
		    sscanf(line, "VmallocUsed: %ld", &value) == 1)
			sum += value;
	if (file)
		fclose(file);
	return sum;
}

static void sample(struct scan *s)
{
	long slab = slab_kb();
	struct view v;
	uint32_t used;

	bed_look(s->b, &v);		/* checks memory_used against memory_limit */
	used = v.figures.of[subject->stats_memory];
	if (used > s->memory_peak)
		s->memory_peak = used;
	if (slab > s->slab_peak)
		s->slab_peak = slab;
}

static unsigned int percentile(const struct scan *s, unsigned int percent)
{
	uint64_t want = (uint64_t)s->heard * percent / 100, seen = 0;

	for (unsigned int ms = 0; ms <= 1000; ms++) {
		seen += s->delay_ms[ms];
		if (seen && seen >= want)
			return ms;
	}
	return 1000;
}

static void judge(struct scan *s)
{
	uint32_t lost = s->calls - s->heard;
	unsigned int late = percentile(s, 99);
	/* KASAN keeps a thirty-second of memory of freed objects in quarantine. */
	long allowed = 2 * 32 * 1024 + 32 * 1024;

	printf("  %u flows; the call: %u packets, %u lost, %u ms median, %u ms p99, %u ms most\n",
	       s->next, s->calls, lost, percentile(s, 50), late, percentile(s, 100));
	printf("  memory_used at most %u bytes; the kernel grew by %ld kB\n", s->memory_peak,
	       s->slab_peak - s->slab_start);
	if (!s->b->ours) {
		printf("  no memory limit and no served call are claimed of %s\n", s->b->kind);
		return;
	}
	if (!subject->one_queue && lost * 1000 > s->calls * LOSS_PER_MILLE)
		bed_fail(s->b, "the call lost %u of %u packets", lost, s->calls);
	if (!subject->one_queue && late > DELAY_MS)
		bed_fail(s->b, "the call's packets took %u ms", late);
	if (s->slab_peak - s->slab_start > allowed)
		bed_fail(s->b, "the kernel's memory grew by more than %ld kB", allowed);
}

int churn_scan(struct bed *b, unsigned int flows, const char *far)
{
	static struct scan s;
	uint64_t start = now_ns();
	struct nl_answer answer;
	unsigned int left;

	s = (struct scan){ .b = b, .far = listen_for_call(far), .flows = flows };
	bed_root(b, ROOT_HTB);
	s.slab_start = slab_kb();
	answer = bed_leaf(b, b->kind, NLM_F_CREATE | NLM_F_EXCL, NULL);
	if (answer.error)
		bed_fail(b, "add: %s (%s)", strerror(answer.error), answer.text);
	for (uint64_t tick = 0; s.next < flows; tick++) {
		if (tick % CALL_EVERY == 0)
			bed_send(b, 1, call_frame, &s);
		left = flows - s.next;
		if (tick >= LEAD_TICKS)
			bed_send(b, left < SCAN_PER_TICK ? left : SCAN_PER_TICK,
				 scan_frame, &s);
		if (tick % 100 == 0)
			sample(&s);
		sleep_until(start + (tick + 1) * TICK);
		hear(&s);
	}
	sleep_until(now_ns() + 1000 * MS);
	hear(&s);
	judge(&s);
	bed_clear(b);
	return b->failures != 0;
}
