/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file in debugfs that replays traces: lines of a trace are written to it,
 * the decisions are read from it. For tests, where only root may write.
 *
 * It shows that a core decides as in Rust when this kernel's compiler and
 * division routines have made it; in-kernel.sh compares.
 */
#ifndef __CONFUCIUS_REPLAY_FILE_H
#define __CONFUCIUS_REPLAY_FILE_H

#include <linux/bitops.h>
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#define REPLAY_OUTPUT	(32 << 20)	/* bytes of decisions that are kept */
#define REPLAY_LINE	512

#define trace_alloc(size)	kvmalloc(size, GFP_KERNEL)
#define trace_free		kvfree

static DEFINE_MUTEX(replay_lock);
static char *replay_output;
static size_t replay_printed;
static bool replay_full;
static char replay_line[REPLAY_LINE];
static size_t replay_line_len;
static struct dentry *replay_file;

/*
 * The including file's: executes a line; an error's text if it cannot be
 * parsed.
 */
static const char *replay_follow(const char *line);

static void trace_print(const char *format, ...) __printf(1, 2);

static void trace_print(const char *format, ...)
{
	size_t room = REPLAY_OUTPUT - replay_printed;
	va_list args;
	size_t len;

	va_start(args, format);
	len = vsnprintf(replay_output + replay_printed, room, format, args);
	va_end(args);
	if (len < room)
		replay_printed += len;
	else
		replay_full = true;
}

/* Takes one character; false if the line that it ends cannot be followed. */
static bool replay_take(char character)
{
	const char *error;

	if (character != '\n' && replay_line_len < REPLAY_LINE - 1) {
		replay_line[replay_line_len++] = character;
		return true;
	}
	replay_line[replay_line_len] = '\0';
	replay_line_len = 0;
	error = character == '\n' ? replay_follow(replay_line) : "line too long";
	if (!error && replay_full)
		error = "more decisions than there is room for";
	if (error)
		pr_err("%s, found: %.60s\n", error, replay_line);
	return !error;
}

static ssize_t replay_write(struct file *file, const char __user *from, size_t len, loff_t *offset)
{
	char chunk[256];
	size_t done, at;
	int err = 0;

	mutex_lock(&replay_lock);
	for (done = 0; done < len && !err; done += at) {
		size_t part = min(len - done, sizeof(chunk));

		if (copy_from_user(chunk, from + done, part)) {
			err = -EFAULT;
			break;
		}
		for (at = 0; at < part && !err; at++)
			if (!replay_take(chunk[at]))
				err = -EINVAL;
	}
	mutex_unlock(&replay_lock);
	return err ? err : len;
}

static ssize_t replay_read(struct file *file, char __user *to, size_t len, loff_t *offset)
{
	ssize_t read;

	mutex_lock(&replay_lock);
	read = simple_read_from_buffer(to, len, offset, replay_output, replay_printed);
	mutex_unlock(&replay_lock);
	return read;
}

/* Opening it for writing discards earlier output. */
static int replay_open(struct inode *inode, struct file *file)
{
	if (file->f_mode & FMODE_WRITE) {
		mutex_lock(&replay_lock);
		replay_printed = 0;
		replay_full = false;
		replay_line_len = 0;
		mutex_unlock(&replay_lock);
	}
	return 0;
}

static const struct file_operations replay_operations = {
	.owner	= THIS_MODULE,
	.open	= replay_open,
	.read	= replay_read,
	.write	= replay_write,
	.llseek	= default_llseek,
};

static int replay_begin(const char *name)
{
	replay_output = kvmalloc(REPLAY_OUTPUT, GFP_KERNEL);
	if (!replay_output)
		return -ENOMEM;
	replay_file = debugfs_create_file(name, 0600, NULL, NULL, &replay_operations);
	return 0;
}

static void replay_end(void)
{
	debugfs_remove(replay_file);
	kvfree(replay_output);
}

#endif
