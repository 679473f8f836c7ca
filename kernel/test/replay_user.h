/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that replays traces, before the discipline: what it is written in.
 */
#ifndef __REPLAY_USER_H
#define __REPLAY_USER_H

#include <stdio.h>
#include <stdlib.h>

#include "user.h"

#define trace_print	printf
#define trace_alloc	malloc
#define trace_free	free

#endif
