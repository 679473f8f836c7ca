// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics in nested attributes, see tc_figures.h.
 */
#include <string.h>

#include "tc_figures.h"
#include "tc_print.h"

void tc_read_figures(struct tc_figures *to, const struct rtattr *nest)
{
	const struct rtattr *attr = RTA_DATA(nest);
	int len = RTA_PAYLOAD(nest);

	memset(to, 0, sizeof(*to));
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len))
		if ((attr->rta_type & NLA_TYPE_MASK) <= TC_FIGURES_MAX)
			to->attr[attr->rta_type & NLA_TYPE_MASK] = attr;
}

const struct rtattr *tc_next(const struct rtattr *list, const struct rtattr *after, int type)
{
	const struct rtattr *attr = RTA_DATA(list);
	int len = RTA_PAYLOAD(list);

	if (after) {
		len -= (const char *)after - (const char *)attr;
		attr = RTA_NEXT(after, len);
	}
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len))
		if ((attr->rta_type & NLA_TYPE_MASK) == type)
			return attr;
	return NULL;
}

__u64 tc_figure(const struct tc_figures *from, int type)
{
	const struct rtattr *attr = from->attr[type];
	__u64 wide = 0;
	__u32 word = 0;
	__u16 half = 0;

	switch (attr ? RTA_PAYLOAD(attr) : 0) {
	case sizeof(wide):
		memcpy(&wide, RTA_DATA(attr), sizeof(wide));
		return wide;
	case sizeof(word):
		memcpy(&word, RTA_DATA(attr), sizeof(word));
		return word;
	case sizeof(half):
		memcpy(&half, RTA_DATA(attr), sizeof(half));
		return half;
	case sizeof(__u8):
		return *(__u8 *)RTA_DATA(attr);
	}
	return 0;
}

void tc_print_figures(const struct tc_figures *st, const struct tc_figure *figures, size_t count)
{
	char text[64];

	put_text(" ");
	for (size_t i = 0; i < count; i++) {
		__u64 value;

		if (!figures[i].key) {
			put_newline();
			put_text(" ");
			continue;
		}
		value = tc_figure(st, figures[i].type);
		snprintf(text, sizeof(text), " %s %llu", figures[i].key,
			 (unsigned long long)value);
		put_text(text);
		put_json_u64(figures[i].key, value);
	}
}
