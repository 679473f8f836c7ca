/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Passes the lines of standard input to a function that replays a trace.
 */
#ifndef __CONFUCIUS_LINES_H
#define __CONFUCIUS_LINES_H

#include <stdio.h>

/*
 * @follow executes a line, and returns an error's text if it cannot. False,
 * with a message, at the first such line.
 */
static bool follow_lines(const char *(*follow)(const char *line))
{
	static char line[512];
	unsigned long number = 0;

	while (fgets(line, sizeof(line), stdin)) {
		const char *error;

		number++;
		error = strchr(line, '\n') ? follow(line) : "line too long";
		if (error) {
			fflush(stdout);
			fprintf(stderr, "line %lu: %s, found: %.60s\n", number, error, line);
			return false;
		}
	}
	return !ferror(stdin);
}

#endif
