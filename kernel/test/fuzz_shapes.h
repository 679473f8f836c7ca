/* SPDX-License-Identifier: GPL-2.0 */
/* The shapes of hostile messages: one function for each way to be wrong. */
#ifndef CONFUCIUS_TEST_FUZZ_SHAPES_H
#define CONFUCIUS_TEST_FUZZ_SHAPES_H

#include "settings.h"

enum expect { EITHER, REJECT, ACCEPT };
enum op { ADD, REPLACE, CHANGE };

struct fuzz {
	struct nl_socket nl;
	uint64_t	rng;
	const char	*kind;
	bool		ours;		/* a subject of ours: its rules are checked */
	int		ifindex;
	enum op		op;
	enum expect	expect;
	bool		about_options;	/* a rejection is the discipline's: it owes a text */
	struct settings	legal;		/* the settings of a legal message */
};

/*
 * Completes a message that nl_begin() began, and returns the expected outcome.
 */
struct shape {
	const char *name;
	void (*build)(struct fuzz *f, struct nl_msg *m);
};

#define SHAPES	21
extern const struct shape shapes[SHAPES];

#endif
