/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of Confucius, declared once: policy, defaults, parsing and dumps,
 * tc's words, the fields of traces and the tests' values are generated from
 * them. Included again for each of them, so that there is no include guard.
 *
 * PARAM(attribute, word, member of struct confucius_params, kind, least, most,
 *	 default): times are in us. OWN(...): the same, but the code between
 *	 word and member is written by hand. AROUND(...): the same as PARAM, of
 *	 struct confucius_settings.
 */
PARAM(LIMIT, limit, limit, PACKETS, 1, 1000000, 1000)
PARAM(MEMORY_LIMIT, memory_limit, memory_limit, SIZE, 4000, 1000000000, 1 << 25)
PARAM(FLOWS, flows, flows, NUMBER, 8, 65536, 1024)
PARAM(QUANTUM, quantum, quantum, SIZE, 256, 64000, 1514)
OWN(TARGETS, targets, targets, 0, 1000, 0)
PARAM(OCCUPANCY, occupancy, occupancy, CHOICE, 0, TC_CONFUCIUS_BUFFER,
	TC_CONFUCIUS_DELAY)
PARAM(SCALE, scale, scale, TIME, 1000, 10000000, 100000)
PARAM(DOUBLING, doubling, doubling, TIME, 1000, 60000000, 250000)
PARAM(HEAD_START, head_start, head_start, NUMBER, 0, 6, 0)
PARAM(ALPHA, alpha, alpha, PERCENT, 1, 50, 10)
PARAM(INTERVAL, interval, interval, TIME, 1000, 10000000, 100000)
PARAM(IDLE, idle, idle, TIME, 10000, 3600000000U, 1000000)
PARAM(ECN, ecn, ecn, FLAG, 0, 1, 0)
AROUND(NAT, nat, nat, FLAG, 0, 1, 0)
AROUND(SPLIT_GSO, split_gso, split_gso, FLAG, 0, 1, 1)
