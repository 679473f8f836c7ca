/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A plugin without tc and without a kernel: words become attributes and words
 * again, and no answer of a kernel, however short or wild, makes it read out of
 * bounds (built with the address sanitizer). The including file names the
 * plugin, PLUGIN. The functions that tc would provide stand first.
 */
#ifndef TEST_PLUGIN_H
#define TEST_PLUGIN_H

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addattr.h"
#include "../tc_print.h"

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
	if (PLUGIN.parse_qopt(&PLUGIN, argc, argv, &request.n, "lo"))
		return NULL;
	return (struct rtattr *)(request.bytes + NLMSG_HDRLEN);
}

static const char *print(struct rtattr *opt)
{
	out_len = 0;
	out[0] = 0;
	assert(!PLUGIN.print_qopt(&PLUGIN, stdout, opt));
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

/* Values that are accepted, and those that are refused. */
static void bounds_of(const char *const *good, size_t good_count, const char *const *bad,
		      size_t bad_count)
{
	for (size_t i = 0; i < good_count; i++)
		if (!parse(good[i])) {
			fprintf(stderr, "refused: %s\n", good[i]);
			exit(1);
		}
	for (size_t i = 0; i < bad_count; i++)
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
	assert(!PLUGIN.print_xstats(&PLUGIN, stdout, attr));
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

/* The answer that @request holds, cut anywhere. */
static void short_xstats(void)
{
	size_t len = request.n.nlmsg_len - NLMSG_HDRLEN;

	for (size_t i = 0; i <= len; i++)
		print_xstats(request.bytes + NLMSG_HDRLEN, i);
	assert(!PLUGIN.print_xstats(&PLUGIN, stdout, NULL));
}

/* The kernel's answer for the settings of @line, cut anywhere. */
static void short_options(const char *line)
{
	struct rtattr *opt = parse(line);
	size_t len = RTA_PAYLOAD(opt);
	char *options = RTA_DATA(opt);

	assert(!PLUGIN.print_qopt(&PLUGIN, stdout, NULL));
	for (size_t i = 0; i <= len; i++) {
		struct rtattr *cut = exact(options, i);

		print(cut);
		free(cut);
	}
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

#endif
