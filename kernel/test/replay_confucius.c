// SPDX-License-Identifier: GPL-2.0
/*
 * Reads recorded operations from standard input and prints Confucius's
 * decisions on them: see trace_confucius.h.
 * crates/core/qdisc/tests/it/kernel_c/confucius.rs compares it with the discipline
 * in Rust.
 */
#include "replay_user.h"
#include "../confucius/confucius.h"
#include "trace_confucius.h"
#include "replay_main.h"
