/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <linux/unroll.h>, for kernels before 6.15. In tree it is that header.
 */
#ifndef __FLOW_UNROLL_H
#define __FLOW_UNROLL_H

#if __has_include(<linux/unroll.h>)
#include <linux/unroll.h>
#endif

#ifndef unrolled_count
#define flow_pragma(words)	_Pragma(#words)
#ifdef __clang__
#define unrolled_count(n)	flow_pragma(clang loop unroll_count(n))
#else
#define unrolled_count(n)	flow_pragma(GCC unroll n)
#endif
#endif

#endif
