/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The size of a packet on the link behind: the parts of a super-packet each
 * have headers there, and cells of their own.
 */
#ifndef __MENCIUS_WIRE_H
#define __MENCIUS_WIRE_H

#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "mencius_sched.h"
#include "mencius_shaper.h"

/* Bytes from @start to the payload of each part. */
static u32 mencius_headers(const struct sk_buff *skb, int start)
{
	unsigned int type = skb_shinfo(skb)->gso_type;
	int offset = skb->encapsulation ? skb_inner_transport_offset(skb) :
					  skb_transport_offset(skb);
	u32 len = sizeof(struct udphdr);
	struct tcphdr header, *tcp;

	if (type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)) {
		tcp = skb_header_pointer(skb, offset, sizeof(header), &header);
		len = tcp ? __tcp_hdrlen(tcp) : sizeof(header);
	}
	return max_t(int, offset - start, 0) + len;
}

/* mn_framed() of each part of a super-packet, from @start on. */
static noinline u32 mencius_wire_of_parts(const struct mn_framing *framing,
					  const struct sk_buff *skb, int start)
{
	u32 size = skb_shinfo(skb)->gso_size, len = skb->len - start;
	u32 headers, payload, parts;

	headers = min(mencius_headers(skb, start), len);
	payload = len - headers;
	if (!size || payload <= size)
		return mn_framed(framing, len);
	parts = (payload - 1) / size;
	return min_t(u64, U32_MAX,
		     (u64)mn_framed(framing, headers + size) * parts +
		     mn_framed(framing, headers + payload - parts * size));
}

/*
 * @len is the scheduler's count: by a size table, and with the headers that the
 * parts of a super-packet will have.
 */
static u32 mencius_wire_len(const struct mencius_sched *q,
			    const struct sk_buff *skb, u32 len)
{
	const struct mn_framing *framing = &q->core.params.framing;
	int start = q->raw ? 0 : skb_network_offset(skb);

	if (q->raw && !framing->atm && !framing->mpu)
		return len;
	start = clamp_t(int, start, 0, skb->len);
	if (skb_is_gso(skb) && skb_transport_header_was_set(skb))
		return mencius_wire_of_parts(framing, skb, start);
	return mn_framed(framing, skb->len - start);
}

#endif
