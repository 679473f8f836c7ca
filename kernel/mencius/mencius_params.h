/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of Mencius, declared once: policy, defaults, parsing and dumps,
 * tc's words, the fields of traces and the tests' values are generated from
 * them. Included again for each of them, so that there is no include guard.
 *
 * PARAM(attribute, word, member of struct mencius_params, kind, least, most,
 *	 default): times are in us. OWN(...): the same, but the code between
 *	 word and member is written by hand. RAW is no parameter of its own: it
 *	 stands for no overhead. AROUND(...): the same as PARAM, of struct
 *	 mencius_settings.
 */
PARAM(LIMIT, limit, limit, PACKETS, 1, 1000000, 10240)
PARAM(MEMORY_LIMIT, memory_limit, memory_limit, SIZE, 4000, 1000000000, 1 << 25)
PARAM(FLOWS, flows, flows, NUMBER, 8, 65536, 4096)
PARAM(HOSTS, hosts, hosts, CHOICE, 0, TC_MENCIUS_HOSTS_SOURCE,
	TC_MENCIUS_HOSTS_NONE)
PARAM(QUANTUM, quantum, quantum, SIZE, 256, 65536, 1514)
PARAM(TARGET, target, target, TIME, 1, 10000000, 20000)
PARAM(INTERVAL, interval, interval, TIME, 1, 100000000, 100000)
PARAM(ECN, ecn, ecn, FLAG, 0, 1, 1)
PARAM(MIN_WAIT, min_wait, min_wait, TIME, 1000, 1000000, 20000)
PARAM(MAX_WAIT, max_wait, max_wait, TIME, 1000, 1000000, 80000)
PARAM(RISE, rise, rise, TIME, 1000, 10000000, 400000)
PARAM(DOUBLING, doubling, doubling, TIME, 10000, 60000000, 3000000)
PARAM(SETTLED_SHARE, settled_share, settled_share, NUMBER, 0, 256, 128)
AROUND(NAT, nat, nat, FLAG, 0, 1, 1)
AROUND(SPLIT_GSO, split_gso, split_gso, FLAG, 0, 1, 1)
OWN(BANDWIDTH, bandwidth, bandwidth, 1000, 125000000000ULL, 0)
OWN(OVERHEAD, overhead, framing.overhead, -64, 256, 0)
PARAM(MPU, mpu, framing.mpu, SIZE, 0, 256, 0)
PARAM(FRAMING, framing, framing.atm, CHOICE, 0, TC_MENCIUS_FRAMING_PTM,
	TC_MENCIUS_FRAMING_NOATM)
PARAM(INGRESS, ingress, ingress, FLAG, 0, 1, 0)
#ifndef MENCIUS_RFC
AROUND(SHARED, shared, shared, FLAG, 0, 1, 0)
#endif
