// SPDX-License-Identifier: GPL-2.0
/*
 * Sends UDP packets out of a device, through its qdisc, at once:
 *   send DEVICE COUNT [BYTES [FLOWS]]
 * BYTES are of the IP packet; the flows take turns and differ in their ports. Packets of a
 * packet socket need no route, no address and no neighbour. pktgen will not do: it waits until
 * its last packet has left the queue.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define LARGEST 1500

static unsigned short checksum(const unsigned short *words, size_t count)
{
	unsigned int sum = 0;

	while (count--)
		sum += *words++;
	sum = (sum >> 16) + (sum & 0xffff);
	return ~(sum + (sum >> 16));
}

int main(int argc, char **argv)
{
	static union {
		struct {
			struct iphdr ip;
			struct udphdr udp;
		} head;
		unsigned short words[sizeof(struct iphdr) / 2];
		char bytes[LARGEST];
	} packet;
	int count = argc > 2 ? atoi(argv[2]) : 0;
	int bytes = argc > 3 ? atoi(argv[3]) : 500;
	int flows = argc > 4 ? atoi(argv[4]) : 1;
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(0x0800),
		.sll_ifindex = argc > 1 ? if_nametoindex(argv[1]) : 0,
		.sll_halen = 6,
		.sll_addr = { 2, 0, 0, 0, 0, 1 },
	};
	int buffer = 1 << 30;
	int s = socket(AF_PACKET, SOCK_DGRAM, 0);

	if (!to.sll_ifindex || count < 1 || bytes < (int)sizeof(packet.head) || bytes > LARGEST ||
	    flows < 1 || flows > 60000) {
		fprintf(stderr, "usage: send DEVICE COUNT [BYTES [FLOWS]]\n");
		return 2;
	}
	/* What waits in the qdisc counts as the socket's. */
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer))) {
		perror("send");
		return 1;
	}
	packet.head.ip = (struct iphdr){
		.version = 4, .ihl = 5, .tot_len = htons(bytes), .ttl = 64,
		.protocol = IPPROTO_UDP, .saddr = inet_addr("192.0.2.1"),
		.daddr = inet_addr("198.51.100.1"),
	};
	packet.head.ip.check = checksum(packet.words, sizeof(packet.head.ip) / 2);
	packet.head.udp.dest = htons(9);
	packet.head.udp.len = htons(bytes - sizeof(packet.head.ip));
	for (int i = 0; i < count; i++) {
		packet.head.udp.source = htons(1024 + i % flows);
		/* A qdisc that drops it makes this ENOBUFS, as it should. */
		sendto(s, &packet, bytes, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));
	}
	return 0;
}
