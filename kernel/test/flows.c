// SPDX-License-Identifier: GPL-2.0
/*
 * Sends datagrams of many flows and checks what conntrack has counted of each:
 *   flows FLOWS PACKETS. Each flow sends one datagram, and the rest are of
 *   flows that are drawn. A flow is an address of 198.18.0.0/16 and a port.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nl.h"

#define ADDRESSES 250
#define FIRST_ADDRESS 0xc6120001u
#define FIRST_PORT 1024
#define MOST 1400
/* Of IPv4 and UDP, which conntrack counts. */
#define HEADERS 28

static uint64_t state = 1;

static int sent(int fd, uint32_t flow, uint64_t *bytes)
{
	static unsigned char payload[MOST];
	uint32_t length = rnd_between(&state, 1, MOST);
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(FIRST_PORT + flow / ADDRESSES),
		.sin_addr.s_addr = htonl(FIRST_ADDRESS + flow % ADDRESSES),
	};

	bytes[flow] += HEADERS + length;
	return sendto(fd, payload, length, 0, (struct sockaddr *)&to, sizeof(to)) ==
	       (ssize_t)length;
}

struct tally {
	const uint64_t	*bytes;
	uint32_t	flows;
	uint32_t	found;
	uint32_t	other;
};

/* The attribute of this type in a nest, or NULL; of no nest, NULL too. */
static struct rtattr *inside(struct rtattr *nest, int type)
{
	struct rtattr *attrs[CTA_MAX + 1];

	if (!nest)
		return NULL;
	nl_parse(attrs, CTA_MAX, RTA_DATA(nest), RTA_PAYLOAD(nest));
	return attrs[type];
}

static void note(struct tally *tally, struct nlmsghdr *message)
{
	int head = NLMSG_SPACE(sizeof(struct nfgenmsg));
	struct rtattr *attrs[CTA_MAX + 1], *tuple, *to, *port, *bytes;
	uint64_t counted;
	uint32_t flow;

	nl_parse(attrs, CTA_MAX, (void *)message + head,
		 (int)message->nlmsg_len - head);
	tuple = attrs[CTA_TUPLE_ORIG];
	to = inside(inside(tuple, CTA_TUPLE_IP), CTA_IP_V4_DST);
	port = inside(inside(tuple, CTA_TUPLE_PROTO), CTA_PROTO_DST_PORT);
	bytes = inside(attrs[CTA_COUNTERS_ORIG], CTA_COUNTERS_BYTES);
	if (!to || !port || !bytes)
		return;
	memcpy(&counted, RTA_DATA(bytes), sizeof(counted));
	flow = ntohl(*(uint32_t *)RTA_DATA(to)) - FIRST_ADDRESS +
	       (ntohs(*(uint16_t *)RTA_DATA(port)) - FIRST_PORT) * ADDRESSES;
	if (flow >= tally->flows)
		return;
	tally->found++;
	tally->other += be64toh(counted) != tally->bytes[flow];
}

/* Asks conntrack for all connections; -1 if it gives no answer. */
static int conntrack(struct tally *tally)
{
	static char answer[1 << 16] __attribute__((aligned(NLMSG_ALIGNTO)));
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
	struct {
		struct nlmsghdr	head;
		struct nfgenmsg	of;
	} ask = {
		.head.nlmsg_len = sizeof(ask),
		.head.nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET,
		.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.of.nfgen_family = AF_INET,
	};
	ssize_t len;

	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) < 0)
		return -1;
	while ((len = recv(fd, answer, sizeof(answer), 0)) > 0) {
		struct nlmsghdr *message = (void *)answer;

		for (; NLMSG_OK(message, len); message = NLMSG_NEXT(message, len)) {
			if (message->nlmsg_type == NLMSG_DONE)
				return 0;
			if (message->nlmsg_type == NLMSG_ERROR)
				return -1;
			note(tally, message);
		}
	}
	return -1;
}

static int compare(const uint64_t *bytes, uint32_t flows)
{
	struct tally tally = { .bytes = bytes, .flows = flows };

	if (conntrack(&tally)) {
		perror("conntrack");
		return 1;
	}
	printf("%u flows, %u in conntrack, %u of them with other bytes\n", flows,
	       tally.found, tally.other);
	return tally.found != flows || tally.other;
}

int main(int argc, char **argv)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint32_t flows, packets, flow, i;
	uint64_t *bytes;

	if (argc != 3 || fd < 0) {
		fprintf(stderr, "usage: flows FLOWS PACKETS\n");
		return 2;
	}
	flows = atoi(argv[1]);
	packets = atoi(argv[2]);
	bytes = calloc(flows, sizeof(*bytes));
	if (!bytes)
		return 2;
	for (i = 0; i < packets; i++) {
		flow = i < flows ? i : rnd_between(&state, 0, flows - 1);
		if (!sent(fd, flow, bytes)) {
			perror("sending");
			return 1;
		}
	}
	return compare(bytes, flows);
}
