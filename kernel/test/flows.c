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
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ADDRESSES 250
#define FIRST_ADDRESS 0xc6120001u
#define FIRST_PORT 1024
#define MOST 1400
/* Of IPv4 and UDP, which conntrack counts. */
#define HEADERS 28

static uint64_t state = 1;

/* Knuth's MMIX generator. */
static uint32_t drawn(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static int sent(int fd, uint32_t flow, uint64_t *bytes)
{
	static unsigned char payload[MOST];
	uint32_t length = 1 + drawn(MOST);
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(FIRST_PORT + flow / ADDRESSES),
		.sin_addr.s_addr = htonl(FIRST_ADDRESS + flow % ADDRESSES),
	};

	bytes[flow] += HEADERS + length;
	return sendto(fd, payload, length, 0, (struct sockaddr *)&to, sizeof(to)) ==
	       (ssize_t)length;
}

/* The attribute of this type among LEN bytes, or NULL. */
static struct nlattr *found(void *from, int len, int type)
{
	struct nlattr *at = from;

	while (len >= NLA_HDRLEN && at->nla_len >= NLA_HDRLEN &&
	       at->nla_len <= len) {
		if ((at->nla_type & NLA_TYPE_MASK) == type)
			return at;
		len -= NLA_ALIGN(at->nla_len);
		at = (void *)at + NLA_ALIGN(at->nla_len);
	}
	return NULL;
}

static struct nlattr *inside(struct nlattr *nest, int type)
{
	if (!nest)
		return NULL;
	return found((void *)nest + NLA_HDRLEN, nest->nla_len - NLA_HDRLEN, type);
}

static void *value(struct nlattr *attr)
{
	return (void *)attr + NLA_HDRLEN;
}

struct tally {
	const uint64_t	*bytes;
	uint32_t	flows;
	uint32_t	found;
	uint32_t	other;
};

static void note(struct tally *tally, struct nlmsghdr *message)
{
	int head = NLMSG_SPACE(sizeof(struct nfgenmsg));
	void *from = (void *)message + head;
	int len = message->nlmsg_len - head;
	struct nlattr *tuple = found(from, len, CTA_TUPLE_ORIG);
	struct nlattr *to = inside(inside(tuple, CTA_TUPLE_IP), CTA_IP_V4_DST);
	struct nlattr *proto = inside(tuple, CTA_TUPLE_PROTO);
	struct nlattr *port = inside(proto, CTA_PROTO_DST_PORT);
	struct nlattr *counters = found(from, len, CTA_COUNTERS_ORIG);
	struct nlattr *bytes = inside(counters, CTA_COUNTERS_BYTES);
	uint64_t counted;
	uint32_t flow;

	if (!to || !port || !bytes)
		return;
	memcpy(&counted, value(bytes), sizeof(counted));
	flow = ntohl(*(uint32_t *)value(to)) - FIRST_ADDRESS +
	       (ntohs(*(uint16_t *)value(port)) - FIRST_PORT) * ADDRESSES;
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
		flow = i < flows ? i : drawn(flows);
		if (!sent(fd, flow, bytes)) {
			perror("sending");
			return 1;
		}
	}
	return compare(bytes, flows);
}
