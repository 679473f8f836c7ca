// SPDX-License-Identifier: GPL-2.0
/*
 * Sends frames as lines have them in front of IP, out of a device: tagged
 *   DEVICE KIND COUNT COUNT frames of UDP from two computers, fifty flows of
 *   each. KIND is `plain`, `vlan` (one tag), `qinq` (two), `pppoe` or `mpls`.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BYTES 100
#define COMPUTERS 2
#define FLOWS 50

/* From the type of the frame to the header of IP. */
static const struct shim {
	const char *kind;
	size_t len;
	unsigned char bytes[10];
} shims[] = {
	{ "plain", 2, { 0x08, 0x00 } },
	{ "vlan", 6, { 0x81, 0x00, 0, 5, 0x08, 0x00 } },
	{ "qinq", 10, { 0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 6, 0x08, 0x00 } },
	{ "pppoe", 10, { 0x88, 0x64, 0x11, 0, 0, 1, 0, BYTES + 2, 0x00, 0x21 } },
	{ "mpls", 6, { 0x88, 0x47, 0, 0, 0x11, 0x40 } },
};

static const struct shim *shim_of(const char *kind)
{
	for (size_t i = 0; i < sizeof(shims) / sizeof(*shims); i++)
		if (!strcmp(shims[i].kind, kind))
			return &shims[i];
	return NULL;
}

static unsigned short checksum(const unsigned char *bytes, size_t count)
{
	unsigned int sum = 0;

	for (; count; count -= 2, bytes += 2)
		sum += (bytes[0] << 8) + bytes[1];
	sum = (sum >> 16) + (sum & 0xffff);
	return htons(~(sum + (sum >> 16)));
}

static void put_ip(unsigned char *at, int i)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .tot_len = htons(BYTES), .ttl = 64, .protocol = IPPROTO_UDP,
		/* Whoever reads at a wrong offset finds another address in each. */
		.id = htons(i),
		/* 192.0.2.1 and on, to 198.51.100.1. */
		.saddr = htonl(0xc0000201 + i % COMPUTERS), .daddr = htonl(0xc6336401),
	};
	struct udphdr udp = {
		.source = htons(1024 + i / COMPUTERS % FLOWS), .dest = htons(9),
		.len = htons(BYTES - sizeof(ip)),
	};

	ip.check = checksum((unsigned char *)&ip, sizeof(ip));
	memcpy(at, &ip, sizeof(ip));
	memcpy(at + sizeof(ip), &udp, sizeof(udp));
}

int main(int argc, char **argv)
{
	const struct shim *shim = argc > 2 ? shim_of(argv[2]) : NULL;
	int count = argc > 3 ? atoi(argv[3]) : 0;
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = argc > 1 ? if_nametoindex(argv[1]) : 0,
	};
	/* To a group, so that every device takes it. */
	unsigned char frame[2 * ETH_ALEN + sizeof(shim->bytes) + BYTES] = {
		0x33, 0x33, 1, 2, 3, 4, 2, 0, 0, 0, 0, 1,
	};
	int s = socket(AF_PACKET, SOCK_RAW, 0);

	if (!to.sll_ifindex || !shim || count < 1) {
		fprintf(stderr, "usage: tagged DEVICE plain|vlan|qinq|pppoe|mpls COUNT\n");
		return 2;
	}
	memcpy(frame + 2 * ETH_ALEN, shim->bytes, shim->len);
	for (int i = 0; i < count; i++) {
		put_ip(frame + 2 * ETH_ALEN + shim->len, i);
		if (sendto(s, frame, 2 * ETH_ALEN + shim->len + BYTES, 0, (struct sockaddr *)&to,
			   sizeof(to)) < 0) {
			perror("tagged");
			return 1;
		}
	}
	return 0;
}
