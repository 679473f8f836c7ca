// SPDX-License-Identifier: GPL-2.0
/*
 * Replays recorded operations of FLOQ inside a kernel, by the file floq_replay in debugfs:
 * see replay_file.h and trace_floq.h.
 */
#include "replay_file.h"
#include "../floq/floq.h"
#include "trace_floq.h"
#include "replay_module.h"

MODULE_DESCRIPTION("Replays traces of FLOQ, for tests");
