// SPDX-License-Identifier: GPL-2.0
/*
 * Reads recorded operations from standard input and prints Mencius's decisions
 * on them: see trace_mencius.h. crates/core/qdisc/tests/it/kernel_c/mencius.rs
 * compares it with the discipline in Rust.
 */
#include "replay_user.h"
#include "../mencius/mencius.h"
#include "trace_mencius.h"
#include "replay_main.h"
