// SPDX-License-Identifier: GPL-2.0
/*
 * Sends packets out of a device, through its qdisc, at once:
 *   send DEVICE COUNT [BYTES [FLOWS [SEGMENTS [BACK]]]]
 * UDP packets of BYTES with the IP header, whose flows take turns and differ in their ports; or,
 * with SEGMENTS, COUNT super-packets, each of so many TCP packets of BYTES. With the address BACK
 * they are the answers to those, sent there. They are from 192.0.2.1, or the address that the
 * variable FROM has, and the byte of their DSCP and ECN is that of the variable DSFIELD. Packets of
 * a packet socket need no route, no address and no neighbour. pktgen will not do: it waits until its
 * last packet has left the queue.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define LARGEST 1500
#define LARGEST_SUPER 65535
#define HEADERS (sizeof(struct iphdr) + sizeof(struct tcphdr))

static union {
	struct {
		struct virtio_net_hdr vnet;
		struct ethhdr eth;
		struct iphdr ip;
		union {
			struct udphdr udp;
			struct tcphdr tcp;
		};
	} __attribute__((packed, aligned(4))) head;
	char bytes[sizeof(struct virtio_net_hdr) + ETH_HLEN + LARGEST_SUPER];
} packet;

static unsigned short checksum(const void *from, size_t count)
{
	const char *bytes = from;
	unsigned int sum = 0;

	for (; count; count--, bytes += 2)
		sum += ((unsigned char)bytes[0] << 8) + (unsigned char)bytes[1];
	sum = (sum >> 16) + (sum & 0xffff);
	return htons(~(sum + (sum >> 16)));
}

static void put_udp(int bytes)
{
	packet.head.udp.len = htons(bytes - sizeof(packet.head.ip));
}

/* Tells the kernel how to segment it, and to compute checksums. */
static void put_super(int bytes)
{
	packet.head.vnet = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = ETH_HLEN + HEADERS,
		.gso_size = bytes - HEADERS,
		.csum_start = ETH_HLEN + sizeof(struct iphdr),
		.csum_offset = offsetof(struct tcphdr, check),
	};
	packet.head.ip.protocol = IPPROTO_TCP;
	packet.head.tcp = (struct tcphdr){ .doff = 5, .ack = 1 };
}

static int open_socket(void)
{
	int s = socket(AF_PACKET, SOCK_RAW, 0);
	int buffer = 1 << 30, one = 1;

	/* Packets waiting in the qdisc count as the socket's. */
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer)) ||
	    setsockopt(s, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one))) {
		perror("send");
		exit(1);
	}
	return s;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;
	int bytes = argc > 3 ? atoi(argv[3]) : 500;
	int flows = argc > 4 ? atoi(argv[4]) : 1;
	int segments = argc > 5 ? atoi(argv[5]) : 1;
	const char *back = argc > 6 ? argv[6] : NULL;
	const char *from = getenv("FROM"), *dsfield = getenv("DSFIELD");
	int total = segments > 1 ? HEADERS + segments * (bytes - HEADERS) : (size_t)bytes;
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = argc > 1 ? if_nametoindex(argv[1]) : 0,
	};
	int s;

	if (!to.sll_ifindex || count < 1 || bytes <= (int)HEADERS || bytes > LARGEST ||
	    flows < 1 || flows > 60000 || segments < 1 || total > LARGEST_SUPER) {
		fprintf(stderr, "usage: send DEVICE COUNT [BYTES [FLOWS [SEGMENTS [BACK]]]]\n");
		return 2;
	}
	s = open_socket();
	packet.head.eth = (struct ethhdr){
		.h_dest = { 2, 0, 0, 0, 0, 1 }, .h_proto = htons(ETH_P_IP),
	};
	packet.head.ip = (struct iphdr){
		.version = 4, .ihl = 5, .tot_len = htons(total), .ttl = 64,
		.tos = dsfield ? strtoul(dsfield, NULL, 0) : 0,
		.protocol = IPPROTO_UDP, .saddr = inet_addr(from ? from : "192.0.2.1"),
		.daddr = inet_addr("198.51.100.1"),
	};
	if (back) {
		packet.head.ip.saddr = packet.head.ip.daddr;
		packet.head.ip.daddr = inet_addr(back);
	}
	if (segments > 1)
		put_super(bytes);
	else
		put_udp(bytes);
	packet.head.ip.check = checksum(&packet.head.ip, sizeof(packet.head.ip) / 2);
	for (int i = 0; i < count; i++) {
		/* Ports are at the same place in both protocols. */
		packet.head.udp.source = htons(back ? 9 : 1024 + i % flows);
		packet.head.udp.dest = htons(back ? 1024 + i % flows : 9);
		/* A qdisc that drops it makes this ENOBUFS, as it should. */
		sendto(s, &packet, sizeof(packet.head.vnet) + ETH_HLEN + total, MSG_DONTWAIT,
		       (struct sockaddr *)&to, sizeof(to));
	}
	return 0;
}
