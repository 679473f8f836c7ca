/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of the kernel that the cores are written in: types, arithmetic and
 * bits. In user space test/user.h has them.
 */
#ifndef __FLOW_WORDS_H
#define __FLOW_WORDS_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#endif

#endif
