// SPDX-License-Identifier: GPL-2.0
/*
 * Sends packets whose flow does not follow from their ports, out of a device,
 *   through its qdisc, at once: odd DEVICE COUNT HOST KIND COUNT packets of 500
 *   bytes from the host of that number, whose source ports go through eight.
 *   KIND is `plain` (IPv6, no flow label), `rotate` (another flow label for
 *   each), `same` (one flow label for all), `fragments` or `fragments6` (first
 *   and last fragments in turn), or `tunnel` (IPv6 in IPv6, from thirty
 *   computers inside).
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BYTES 500
#define FLOWS 8
#define INSIDE 30
#define VERSION6 (6u << 28)

static unsigned char packet[BYTES];

static unsigned short checksum(const void *from, size_t count)
{
	const unsigned char *bytes = from;
	unsigned int sum = 0;

	for (; count; count--, bytes += 2)
		sum += (bytes[0] << 8) + bytes[1];
	sum = (sum >> 16) + (sum & 0xffff);
	return htons(~(sum + (sum >> 16)));
}

static void put_ports(unsigned char *at, int i)
{
	struct udphdr udp = {
		.source = htons(1024 + i % FLOWS), .dest = htons(9), .len = htons(BYTES),
	};

	memcpy(at, &udp, sizeof(udp));
}

static void put6(int host, unsigned int label, int fragment, int i)
{
	struct ip6_hdr ip = { .ip6_flow = htonl(VERSION6 | label) };
	struct ip6_frag part = {
		.ip6f_nxt = IPPROTO_UDP, .ip6f_ident = htonl(i / 2),
		.ip6f_offlg = i % 2 ? htons(BYTES / 8 * 8) : IP6F_MORE_FRAG,
	};
	unsigned char *next = packet + sizeof(ip);

	ip.ip6_plen = htons(BYTES - sizeof(ip));
	ip.ip6_nxt = fragment ? IPPROTO_FRAGMENT : IPPROTO_UDP;
	ip.ip6_hlim = 64;
	inet_pton(AF_INET6, "2001:db8::", &ip.ip6_src);
	inet_pton(AF_INET6, "2001:db8:1::1", &ip.ip6_dst);
	ip.ip6_src.s6_addr[15] = host;
	memcpy(packet, &ip, sizeof(ip));
	if (fragment) {
		memcpy(next, &part, sizeof(part));
		next += sizeof(part);
	}
	/* The last fragment has payload where ports would be. */
	put_ports(next, i);
}

static void put_tunnel(int host, int i)
{
	struct ip6_hdr outer;

	put6(host, 0, 0, i);
	memcpy(&outer, packet, sizeof(outer));
	outer.ip6_nxt = IPPROTO_IPV6;
	put6(100 + i % INSIDE, 0, 0, i);
	memmove(packet + sizeof(outer), packet, BYTES - sizeof(outer));
	memcpy(packet, &outer, sizeof(outer));
}

static void put4(int host, int i)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .tot_len = htons(BYTES), .ttl = 64, .protocol = IPPROTO_UDP,
		.id = htons(i / 2), .frag_off = htons(i % 2 ? BYTES / 8 : IP_MF),
		.saddr = htonl(0xc0000200 + host), .daddr = htonl(0xc6336401),
	};

	ip.check = checksum(&ip, sizeof(ip) / 2);
	memcpy(packet, &ip, sizeof(ip));
	put_ports(packet + sizeof(ip), i);
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;
	int host = argc > 3 ? atoi(argv[3]) : 0;
	const char *kind = argc > 4 ? argv[4] : "";
	int rotate = !strcmp(kind, "rotate"), same = !strcmp(kind, "same");
	int tunnel = !strcmp(kind, "tunnel");
	int old = !strcmp(kind, "fragments"), fragments6 = !strcmp(kind, "fragments6");
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = htons(old ? ETH_P_IP : ETH_P_IPV6),
		.sll_ifindex = argc > 1 ? if_nametoindex(argv[1]) : 0,
		.sll_halen = ETH_ALEN, .sll_addr = { 2, 0, 0, 0, 0, 1 },
	};
	int s = socket(AF_PACKET, SOCK_DGRAM, 0), buffer = 1 << 30;

	if (!to.sll_ifindex || count < 1 || host < 1 || host > 254 ||
	    !(rotate || same || old || fragments6 || tunnel || !strcmp(kind, "plain"))) {
		fprintf(stderr, "usage: odd DEVICE COUNT HOST "
				"plain|rotate|same|fragments|fragments6|tunnel\n");
		return 2;
	}
	/* Packets waiting in the qdisc count as the socket's. */
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer))) {
		perror("odd");
		return 1;
	}
	for (int i = 0; i < count; i++) {
		if (old)
			put4(host, i);
		else if (tunnel)
			put_tunnel(host, i);
		else
			put6(host, rotate ? i + 1 : same, fragments6, i);
		/* A qdisc that drops it makes this ENOBUFS, as it should. */
		sendto(s, packet, BYTES, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));
	}
	return 0;
}
