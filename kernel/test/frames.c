// SPDX-License-Identifier: GPL-2.0
#include "frames.h"
#include "nl.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <string.h>

/* Not an address of either end: the far stack drops frames to it. */
static const uint8_t far_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 2 };
static const uint8_t near_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };

struct frame {
	struct virtio_net_hdr vnet;
	uint8_t		eth[65536];
};

/* The choices for a frame; drawn first, then written. */
struct recipe {
	uint32_t	flow;
	bool		v6, tcp, gso, vlan;
	uint8_t		tos;
	size_t		payload;
};

static size_t put_ethernet(uint8_t *eth, uint16_t type, bool vlan)
{
	uint16_t words[3] = { htons(ETH_P_8021Q), htons(7), htons(type) };
	size_t len = vlan ? 6 : 2;

	memcpy(eth, far_mac, ETH_ALEN);
	memcpy(eth + ETH_ALEN, near_mac, ETH_ALEN);
	memcpy(eth + 2 * ETH_ALEN, vlan ? words : words + 2, len);
	return 2 * ETH_ALEN + len;
}

static size_t put_ipv4(uint8_t *at, const struct recipe *r, size_t transport)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .tos = r->tos, .ttl = 64,
		.protocol = r->tcp ? IPPROTO_TCP : IPPROTO_UDP,
		.tot_len = htons(sizeof(ip) + transport),
		.saddr = htonl(0x0a000000 | (r->flow >> 16)),
		.daddr = htonl(0xc0000200 | ((r->flow >> 8) & 0xff)),
	};

	memcpy(at, &ip, sizeof(ip));
	return sizeof(ip);
}

static size_t put_ipv6(uint8_t *at, const struct recipe *r, size_t transport)
{
	struct ipv6hdr ip = {
		.version = 6, .priority = r->tos >> 4, .flow_lbl = { r->tos << 4, 0, 0 },
		.hop_limit = 64, .nexthdr = r->tcp ? IPPROTO_TCP : IPPROTO_UDP,
		.payload_len = htons(transport),
	};

	ip.saddr.s6_addr[0] = 0xfd;
	memcpy(ip.saddr.s6_addr + 12, &r->flow, sizeof(r->flow));
	ip.daddr.s6_addr[0] = 0xfd;
	ip.daddr.s6_addr[15] = 1;
	memcpy(at, &ip, sizeof(ip));
	return sizeof(ip);
}

static size_t put_transport(uint8_t *at, const struct recipe *r)
{
	uint16_t port = htons(1024 + (r->flow & 0xffff) % 64000);
	struct tcphdr tcp = { .source = port, .dest = htons(443), .doff = 5, .ack = 1 };
	struct udphdr udp = { .source = port, .dest = htons(443),
			      .len = htons(sizeof(udp) + r->payload) };

	if (r->tcp)
		memcpy(at, &tcp, sizeof(tcp));
	else
		memcpy(at, &udp, sizeof(udp));
	return r->tcp ? sizeof(tcp) : sizeof(udp);
}

static void put_vnet(struct virtio_net_hdr *vnet, const struct recipe *r,
		     size_t transport_at, size_t headers)
{
	memset(vnet, 0, sizeof(*vnet));
	if (!r->gso)
		return;
	vnet->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	vnet->csum_start = transport_at;
	vnet->csum_offset = r->tcp ? offsetof(struct tcphdr, check) :
				     offsetof(struct udphdr, check);
	vnet->gso_type = !r->tcp ? 5 /* VIRTIO_NET_HDR_GSO_UDP_L4 */ :
			 r->v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
	vnet->hdr_len = headers;
	vnet->gso_size = 1200;
}

/* Writes the frame; its payload is left as it was, at no cost. */
static size_t cook(struct frame *f, const struct recipe *r)
{
	size_t transport = (r->tcp ? sizeof(struct tcphdr) : sizeof(struct udphdr)) +
			   r->payload;
	size_t at = put_ethernet(f->eth, r->v6 ? ETH_P_IPV6 : ETH_P_IP, r->vlan);
	size_t transport_at;

	at += r->v6 ? put_ipv6(f->eth + at, r, transport) :
		      put_ipv4(f->eth + at, r, transport);
	transport_at = at;
	at += put_transport(f->eth + at, r);
	put_vnet(&f->vnet, r, transport_at, at);
	return sizeof(f->vnet) + at + r->payload;
}

/* Breaks a good frame: cut short, or its header's bytes overwritten. */
static size_t spoil(struct frame *f, size_t len, uint64_t *rng)
{
	size_t eth = len - sizeof(f->vnet);

	memset(&f->vnet, 0, sizeof(f->vnet));
	switch (rnd(rng) % 4) {
	case 0:		/* the least that a packet socket takes, to some header bytes */
		eth = rnd_between(rng, ETH_HLEN, ETH_HLEN + 60);
		break;
	case 1:		/* lies about the header: version, length, protocol, fragment */
		f->eth[ETH_HLEN + rnd(rng) % 20] = rnd(rng);
		break;
	case 2:		/* another protocol altogether */
		f->eth[2 * ETH_ALEN] = rnd(rng);
		f->eth[2 * ETH_ALEN + 1] = rnd(rng);
		break;
	case 3:		/* tags to the end */
		for (size_t at = 2 * ETH_ALEN; at + 4 <= 200; at += 4)
			memcpy(f->eth + at, "\x81\0\0\7", 4);
		eth = rnd_between(rng, ETH_HLEN, 200);
		break;
	}
	return sizeof(f->vnet) + eth;
}

size_t frame_any(uint8_t *to, uint64_t *rng, uint32_t flows)
{
	struct frame *f = (struct frame *)to;
	struct recipe r = {
		.flow = (rnd(rng) % flows) * 2654435761U,
		.v6 = rnd(rng) % 4 == 0,
		.tcp = rnd(rng) & 1,
		.gso = rnd(rng) % 32 == 0,
		.vlan = rnd(rng) % 32 == 0,
		.tos = rnd(rng) % 4 ? rnd(rng) % 4 : rnd(rng),
		.payload = rnd_between(rng, 0, 1440),
	};
	size_t len;

	if (r.gso) {
		r.payload = rnd_between(rng, 1201, rnd(rng) % 4 ? 9000 : 60000);
		r.vlan = false;
	}
	len = cook(f, &r);
	return rnd(rng) % 12 ? len : spoil(f, len, rng);
}

size_t frame_udp(uint8_t *to, uint32_t flow, size_t len)
{
	struct recipe r = { .flow = flow, .payload = len - CALL_STAMP_AT };

	return cook((struct frame *)to, &r);
}

size_t frame_call(uint8_t *to, const struct call_stamp *stamp)
{
	struct frame *f = (struct frame *)to;
	uint16_t port = htons(CALL_PORT);
	size_t len = frame_udp(to, 0xffffffff, 200);

	memcpy(f->eth + CALL_STAMP_AT - 6, &port, sizeof(port));
	memcpy(f->eth + CALL_STAMP_AT, stamp, sizeof(*stamp));
	return len;
}
