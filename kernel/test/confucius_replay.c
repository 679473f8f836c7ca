// SPDX-License-Identifier: GPL-2.0
/*
 * Replays recorded operations of Confucius inside a kernel, by the file confucius_replay in debugfs:
 * see replay_file.h and trace_confucius.h.
 */
#include "replay_file.h"
#include "../confucius/confucius.h"
#include "trace_confucius.h"
#include "replay_module.h"

MODULE_DESCRIPTION("Replays traces of Confucius, for tests");
