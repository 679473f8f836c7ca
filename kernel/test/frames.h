/* SPDX-License-Identifier: GPL-2.0 */
/* Ethernet frames behind a virtio_net_hdr, as a packet socket takes them. */
#ifndef CONFUCIUS_TEST_FRAMES_H
#define CONFUCIUS_TEST_FRAMES_H

#include <linux/virtio_net.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX	(sizeof(struct virtio_net_hdr) + 65536)
#define CALL_PORT	5004

/* The contents of the call's packets. */
struct call_stamp {
	uint64_t	sent_ns;	/* CLOCK_MONOTONIC */
	uint32_t	seq;
};

/*
 * Any frame: of one of `flows` flows and of a random size, IPv4 or IPv6, UDP or
 * TCP, some of them GSO super-packets, with a VLAN, fragments, truncated or
 * nonsense. Returns its length with the virtio_net_hdr.
 */
size_t frame_any(uint8_t *to, uint64_t *rng, uint32_t flows);

/*
 * A datagram of IPv4, `len` bytes of frame, with the addresses and ports of
 * `flow`.
 */
size_t frame_udp(uint8_t *to, uint32_t flow, size_t len);

/* A packet of the call: 200 bytes of frame, empty except for its stamp. */
size_t frame_call(uint8_t *to, const struct call_stamp *stamp);

/* Where frame_call() put the stamp, from the start of the Ethernet frame. */
#define CALL_STAMP_AT	(14 + 20 + 8)

#endif
