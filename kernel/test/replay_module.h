/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A module that replays traces, after the discipline: the file in debugfs of replay_file.h, with the
 * name of the module.
 */
#ifndef __REPLAY_MODULE_H
#define __REPLAY_MODULE_H

static struct trace replay;

static const char *replay_follow(const char *line)
{
	return trace_line(&replay, line);
}

static int __init replay_init(void)
{
	return replay_begin(KBUILD_MODNAME);
}

static void __exit replay_exit(void)
{
	replay_end();
	trace_finish(&replay);
}

module_init(replay_init)
module_exit(replay_exit)
MODULE_LICENSE("GPL");

#endif
