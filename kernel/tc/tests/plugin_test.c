// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin without tc and without a kernel: words become attributes and words again,
 * and no answer of a kernel, however short or wild, makes it read out of bounds (built
 * with the address sanitizer). The functions that tc would provide stand first.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

extern struct qdisc_util confucius_qdisc_util;

static char out[16384];
static size_t out_len;
static int depth;

static void append(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	out_len += vsnprintf(out + out_len, sizeof(out) - out_len, fmt, args);
	va_end(args);
	assert(out_len < sizeof(out));
}

void open_json_object(const char *name) { (void)name; depth++; }
void close_json_object(void) { depth--; }
void open_json_array(enum output_type type, const char *name) { (void)type; (void)name; depth++; }
void close_json_array(enum output_type type, const char *delim) { (void)type; (void)delim; depth--; }
void print_nl(void) { append("\n"); }

/* Text is kept, JSON is not: that is tested with a real tc. */
#define PRINT(name, ctype) \
	int print_color_##name(enum output_type type, int color, const char *key, \
			       const char *fmt, ctype value) \
	{ \
		(void)color; \
		(void)key; \
		if (type != PRINT_JSON) \
			append(fmt, value); \
		return 0; \
	}
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
PRINT(string, const char *)
PRINT(uint, unsigned int)
PRINT(u64, __u64)
PRINT(float, double)
PRINT(bool, bool)

static union {
	struct nlmsghdr n;
	char bytes[ANSWER_MAX];
} request;

/* The options that @line makes, or NULL if it was refused. */
static struct rtattr *parse(const char *line)
{
	static char copy[1024];
	char *argv[64];
	int argc = 0;

	strcpy(copy, line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	memset(&request, 0, sizeof(request));
	request.n.nlmsg_len = NLMSG_HDRLEN;
	if (confucius_qdisc_util.parse_qopt(&confucius_qdisc_util, argc, argv, &request.n, "lo"))
		return NULL;
	return (struct rtattr *)(request.bytes + NLMSG_HDRLEN);
}

static const char *print(struct rtattr *opt)
{
	out_len = 0;
	out[0] = 0;
	assert(!confucius_qdisc_util.print_qopt(&confucius_qdisc_util, stdout, opt));
	assert(!depth);
	return out;
}

static void same(const char *line, const char *printed)
{
	struct rtattr *opt = parse(line);

	if (!opt || strcmp(print(opt), printed)) {
		fprintf(stderr, "\"%s\" became \"%s\", not \"%s\"\n", line, opt ? out : "an error",
			printed);
		exit(1);
	}
}

static void words(void)
{
	static const char all[] =
		"limit 1000p memory_limit 32Mb flows 1024 quantum 1514b targets 10/50/90 "
		"occupancy delay scale 100ms doubling 250ms head_start 0 alpha 10% "
		"interval 100ms idle 1s ecn nonat no-split-gso ";

	same("", "");
	same(all, all);
	same("limit 7 memory_limit 4000 quantum 1k", "limit 7p memory_limit 4000b quantum 1Kb ");
	same("classes 5%/1000% occupancy buffer", "targets 5/1000 occupancy buffer ");
	same("interval 1.5ms idle .01s scale 1001us", "scale 1001us interval 1500us idle 10ms ");
	same("no_split_gso nat noecn", "noecn nat no-split-gso ");
}

static void bounds(void)
{
	static const char *const good[] = {
		"limit 1", "limit 1000000", "memory_limit 4000", "memory_limit 1000000000",
		"flows 8", "flows 65536", "quantum 256", "quantum 64000", "targets 0",
		"targets 1/2/3/4/5/6/7", "targets 1000", "scale 1ms", "scale 10s", "doubling 1ms",
		"doubling 60s", "head_start 0", "head_start 6", "alpha 1", "alpha 50%",
		"interval 1ms", "interval 10s", "idle 10ms", "idle 3600s",
	};
	static const char *const bad[] = {
		"limit", "limit 0", "limit 1000001", "limit 1.5", "limit -1", "limit x",
		"limit 99999999999999999999999", "limit 4294967297", "memory_limit 3999",
		"memory_limit 1g", "flows 7", "flows 65537", "quantum 255", "quantum 64001",
		"targets", "targets 10/", "targets /", "targets 10/10", "targets 50/10",
		"targets 1001", "targets 1/2/3/4/5/6/7/8", "targets 1.5", "occupancy",
		"occupancy full", "scale 999us", "scale 10001ms", "doubling 999us",
		"doubling 60001ms", "head_start 7", "head_start -1", "alpha 0", "alpha 51",
		"interval 999", "interval 11s", "interval inf", "interval nan", "interval 0x1000",
		"interval 1e4", "idle 9ms", "idle 3601s", "idle 1h", "ecn noecn",
		"limit 5 limit 5", "lim 5", "help",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!parse(good[i])) {
			fprintf(stderr, "refused: %s\n", good[i]);
			exit(1);
		}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i])) {
			fprintf(stderr, "taken: %s\n", bad[i]);
			exit(1);
		}
}

/* A copy that ends where its memory ends, so that the sanitizer sees the first byte too far. */
static struct rtattr *exact(const void *payload, size_t len)
{
	struct rtattr *attr = malloc(RTA_LENGTH(len));

	attr->rta_type = TCA_OPTIONS;
	attr->rta_len = RTA_LENGTH(len);
	memcpy(RTA_DATA(attr), payload, len);
	return attr;
}

static void print_xstats(const void *payload, size_t len)
{
	struct rtattr *attr = exact(payload, len);

	out_len = 0;
	assert(!confucius_qdisc_util.print_xstats(&confucius_qdisc_util, stdout, attr));
	assert(!depth);
	free(attr);
}

static void begin(void)
{
	memset(&request, 0, sizeof(request));
	request.n.nlmsg_len = NLMSG_HDRLEN;
}

static const char *answered(void)
{
	print_xstats(request.bytes + NLMSG_HDRLEN, request.n.nlmsg_len - NLMSG_HDRLEN);
	return out;
}

static void answers(void)
{
	/* A qdisc, of more classes than there are today. */
	begin();
	put_answer(&request.n, 9);
	assert(strstr(answered(), "  flows 0 new_flows 0 "));
	assert(strstr(out, " drop_split 4294967296 drop_filter 0\n"));
	assert(strstr(out, "\n  new        -      0 "));
	assert(strstr(out, "\n  9        13%      0         0       0            0         18 "));
	assert(strstr(out, " 1.500"));

	/* A class: no more than tc does not say itself. */
	begin();
	put_class(&request.n, 50, 7);
	assert(!strcmp(answered(), "  flows 0 marks 0 delay 0us peak 0us weight 1.500"));
}

static void short_answers(void)
{
	struct rtattr *opt = parse("limit 1 targets 10/50/90 ecn");
	size_t len = RTA_PAYLOAD(opt);
	char *options = RTA_DATA(opt);

	assert(!confucius_qdisc_util.print_qopt(&confucius_qdisc_util, stdout, NULL));
	assert(!confucius_qdisc_util.print_xstats(&confucius_qdisc_util, stdout, NULL));
	for (size_t i = 0; i <= len; i++) {
		struct rtattr *cut = exact(options, i);

		print(cut);
		free(cut);
	}
	begin();
	put_answer(&request.n, 3);
	len = request.n.nlmsg_len - NLMSG_HDRLEN;
	for (size_t i = 0; i <= len; i++)
		print_xstats(request.bytes + NLMSG_HDRLEN, i);
}

static void wild_answers(void)
{
	unsigned int state = 1;
	unsigned char noise[600];

	for (int round = 0; round < 100000; round++) {
		size_t len = (state >> 8) % sizeof(noise);
		struct rtattr *opt;

		for (size_t i = 0; i < len; i++) {
			state = state * 1664525 + 1013904223;
			/* Small numbers often, so that types and lengths look right. */
			noise[i] = state >> 30 ? (state >> 16) % 20 : state >> 24;
		}
		opt = exact(noise, len);
		print(opt);
		free(opt);
		print_xstats(noise, len);
		state++;
	}
}

int main(void)
{
	words();
	bounds();
	answers();
	short_answers();
	wild_answers();
	puts("plugin: words, bounds, short answers and 100,000 wild ones: ok");
	return 0;
}
