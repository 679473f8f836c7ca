/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Printing through tc, in text or JSON as its user asked; iproute2's include/json_print.h.
 *
 * OpenWrt's tc exports little more than addattr_l() to plugins, so each
 * function is checked before it is called: without them text is printed
 * directly, and JSON lacks our part, since it cannot be extended from outside.
 */
#ifndef TC_PRINT_H
#define TC_PRINT_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

/* Text only, JSON only, or whichever was asked for. */
enum output_type { PRINT_FP = 1, PRINT_JSON = 2, PRINT_ANY = 4 };
enum { COLOR_NONE = 6 };

#define TC_OPTIONAL __attribute__((weak))

void open_json_object(const char *name) TC_OPTIONAL;
void close_json_object(void) TC_OPTIONAL;
void open_json_array(enum output_type type, const char *name) TC_OPTIONAL;
void close_json_array(enum output_type type, const char *delim) TC_OPTIONAL;
void print_nl(void) TC_OPTIONAL;
int print_color_string(enum output_type type, int color, const char *key, const char *fmt,
		       const char *value) TC_OPTIONAL;
int print_color_uint(enum output_type type, int color, const char *key, const char *fmt,
		     unsigned int value) TC_OPTIONAL;
int print_color_u64(enum output_type type, int color, const char *key, const char *fmt,
		    __u64 value) TC_OPTIONAL;
int print_color_s64(enum output_type type, int color, const char *key, const char *fmt,
		    __s64 value) TC_OPTIONAL;
int print_color_float(enum output_type type, int color, const char *key, const char *fmt,
		      double value) TC_OPTIONAL;
int print_color_bool(enum output_type type, int color, const char *key, const char *fmt,
		     bool value) TC_OPTIONAL;

/* Text, in text output only. */
void put_text(const char *text);
void put_newline(void);

/* A field in JSON output only; without @key an element of an array. */
void put_json_string(const char *key, const char *value);
void put_json_u64(const char *key, __u64 value);
void put_json_s64(const char *key, __s64 value);
void put_json_float(const char *key, double value);
void put_json_bool(const char *key, bool value);
void put_json_array(const char *name);
void put_json_array_end(void);
void put_json_object(void);
void put_json_object_end(void);

#endif
