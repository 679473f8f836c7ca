/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a trace-replaying program before the discipline: its environment.
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
