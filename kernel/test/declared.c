// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the lists of parameters, for crates/host/netcfg/tests/declared.rs: discipline, word, which
 * macro, kind, least, most, default as a number and as it is written.
 */
#include <stdio.h>

#include "../confucius/pkt_sched_confucius.h"
#include "../floq/pkt_sched_floq.h"
#include "../mencius/pkt_sched_mencius.h"

#define SAY(which, word, kind, least, most, preset) \
	printf("%s %s " which " %s %lld %lld %lld %s\n", discipline, #word, #kind, \
	       (long long)(least), (long long)(most), (long long)(preset), #preset);
#define PARAM(attribute, word, member, kind, least, most, preset) \
	SAY("core", word, kind, least, most, preset)
#define OWN(attribute, word, member, least, most, preset) SAY("own", word, OWN, least, most, preset)
#define AROUND(attribute, word, member, kind, least, most, preset) \
	SAY("around", word, kind, least, most, preset)

int main(void)
{
	const char *discipline = "confucius";

#include "../confucius/confucius_params.h"
	discipline = "mencius";
#include "../mencius/mencius_params.h"
	discipline = "floq";
#include "../floq/floq_params.h"
	return 0;
}
