/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that replays traces, after the discipline: lines from standard input.
 */
#ifndef __REPLAY_MAIN_H
#define __REPLAY_MAIN_H

#include "lines.h"

static struct trace replay;

static const char *replay_follow(const char *line)
{
	return trace_line(&replay, line);
}

int main(void)
{
	const char *error;

	if (!follow_lines(replay_follow))
		return 1;
	error = trace_finish(&replay);
	if (error)
		fprintf(stderr, "%s\n", error);
	return !!error;
}

#endif
