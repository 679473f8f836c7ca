// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps the qdiscs and classes of a device, with statistics, again and again:
 *   dump DEVICE COUNT The output is discarded: this is for races, and tc would
 *   only print most of the time.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nl.h"

static void ignore(void *arg, const struct tcmsg *tc, struct rtattr **tca)
{
	(void)arg, (void)tc, (void)tca;
}

int main(int argc, char **argv)
{
	int ifindex = argc > 1 ? if_nametoindex(argv[1]) : 0;
	int count = argc > 2 ? atoi(argv[2]) : 0;
	struct nl_socket nl;
	int error = 0;

	if (!ifindex || count < 1) {
		fprintf(stderr, "usage: dump DEVICE COUNT\n");
		return 2;
	}
	nl_open(&nl);
	for (int i = 0; i < count && !error; i++) {
		error = nl_dump(&nl, RTM_GETQDISC, ifindex, ignore, NULL);
		if (!error)
			error = nl_dump(&nl, RTM_GETTCLASS, ifindex, ignore,
					NULL);
	}
	if (error)
		fprintf(stderr, "dump: %s\n", strerror(error));
	return error != 0;
}
