// SPDX-License-Identifier: GPL-2.0
/*
 * Reads recorded operations from standard input and prints FLOQ's decisions on
 * them: see trace_floq.h. crates/core/qdisc/tests/it/kernel_c/floq.rs compares it
 * with the discipline in Rust.
 */
#include "replay_user.h"
#include "../floq/floq.h"
#include "trace_floq.h"
#include "replay_main.h"
