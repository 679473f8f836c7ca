/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's words that the cores are written in, for user space.
 */
#ifndef __CONFUCIUS_USER_H
#define __CONFUCIUS_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define ARRAY_SIZE(x)		(sizeof(x) / sizeof((x)[0]))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define noinline		__attribute__((noinline))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define min_t(type, a, b)	({ type _a = (a), _b = (b); _a < _b ? _a : _b; })
#define max_t(type, a, b)	({ type _a = (a), _b = (b); _a > _b ? _a : _b; })
#define min(a, b)		min_t(__typeof__(a), a, b)
#define max(a, b)		max_t(__typeof__(a), a, b)
#define clamp_t(type, x, a, b)	min_t(type, max_t(type, x, a), b)
#define div_u64(a, b)		((u64)(a) / (u32)(b))
#define div64_u64(a, b)		((u64)(a) / (u64)(b))

/* Of a product that needs more than 64 bits; @shift is at most 32. */
static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	return ((a >> 32) * mul << (32 - shift)) + ((u64)(u32)a * mul >> shift);
}

#define __ffs(x)		((u32)__builtin_ctzl(x))
#define __ffs64(x)		((u32)__builtin_ctzll(x))

static inline int fls(u32 x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline u64 ror64(u64 x, u32 bits)
{
	return x >> (bits & 63) | x << (-bits & 63);
}

#endif
