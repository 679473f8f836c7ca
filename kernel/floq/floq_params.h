/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of FLOQ, declared once: policy, defaults, parsing and dumps, tc's
 * words, the fields of traces and the tests' values are generated from them.
 * Included again for each of them, so that there is no include guard. The
 * sources of the defaults are in crates/core/qdisc/src/floq/params.rs.
 *
 * PARAM(attribute, word, member of struct floq_params, kind, least, most,
 *	 default): times are in us.
 * AROUND(...): the same, of struct floq_settings.
 */
PARAM(LIMIT, limit, limit, PACKETS, 1, 1000000, 1000)
PARAM(FLOWS, flows, flows, NUMBER, 8, 65536, 1024)
PARAM(VARIANT, variant, variant, CHOICE, 0, TC_FLOQ_ALGORITHM_DROP,
	TC_FLOQ_READING)
PARAM(RESPONSIVE, responsive, own[0], PERCENT, 0, 100, 50)
PARAM(UNRESPONSIVE, unresponsive, own[1], PERCENT, 0, 100, 30)
PARAM(THRESHOLD, threshold, threshold, PERCENT, 0, 100, 80)
PARAM(DROP_RESPONSIVE, drop_responsive, base[0], PERCENT, 0, 100, 2)
PARAM(DROP_UNRESPONSIVE, drop_unresponsive, base[1], PERCENT, 0, 100, 5)
PARAM(G, g, g, NUMBER, 0, 1000, 30)
PARAM(F_R, f_r, f_r, PERCENT, 0, 100, 100)
PARAM(INITIAL, initial, initial, PACKETS, 0, 1000000, 10)
PARAM(IDLE, idle, idle, TIME, 100000, 3600000000U, 10000000)
PARAM(WINDOW, window, window, TIME, 10000, 10000000, 50000)
PARAM(WINDOWS, windows, windows, NUMBER, 1, 100, 8)
PARAM(FALL, fall, fall, PERCENT, 1, 99, 10)
PARAM(STRIKES, strikes, strikes, NUMBER, 1, 1000, 3)
PARAM(PARDON, pardon, pardon, NUMBER, 0, 1000, 3)
PARAM(ECN, ecn, ecn, FLAG, 0, 1, 0)
AROUND(NAT, nat, nat, FLAG, 0, 1, 0)
AROUND(SPLIT_GSO, split_gso, split_gso, FLAG, 0, 1, 1)
