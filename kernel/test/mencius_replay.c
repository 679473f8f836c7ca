// SPDX-License-Identifier: GPL-2.0
/*
 * Replays recorded operations of Mencius inside a kernel, by the file mencius_replay in debugfs:
 * see replay_file.h and trace_mencius.h.
 */
#include "replay_file.h"
#include "../mencius/mencius.h"
#include "trace_mencius.h"
#include "replay_module.h"

MODULE_DESCRIPTION("Replays traces of Mencius, for tests");
