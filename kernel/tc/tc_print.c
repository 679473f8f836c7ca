// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "tc_print.h"

/*
 * Whether tc was called with -j, -js, ..., used only if tc itself cannot tell:
 * its own words do not begin with -j.
 */
static bool json_asked(void)
{
	static int asked = -1;
	char line[4096] = "";
	size_t len;
	FILE *f;

	if (asked >= 0)
		return asked;
	asked = 0;
	f = fopen("/proc/self/cmdline", "r");
	if (!f)
		return false;
	len = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	for (size_t i = 0; i < len; i += strlen(line + i) + 1) {
		const char *word = line + i;
		size_t dashes = strspn(word, "-");

		if (dashes && dashes <= 2 && word[dashes] == 'j' &&
		    !strncmp(word + dashes, "json", strlen(word + dashes)))
			asked = 1;
	}
	return asked;
}

void put_text(const char *text)
{
	if (print_color_string)
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", text);
	else if (!json_asked())
		fputs(text, stdout);
}

void put_newline(void)
{
	if (print_nl)
		print_nl();
	else
		put_text("\n");
}

void put_json_string(const char *key, const char *value)
{
	if (print_color_string)
		print_color_string(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

void put_json_u64(const char *key, __u64 value)
{
	if (print_color_u64)
		print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

void put_json_s64(const char *key, __s64 value)
{
	if (print_color_s64)
		print_color_s64(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

void put_json_float(const char *key, double value)
{
	if (print_color_float)
		print_color_float(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

void put_json_bool(const char *key, bool value)
{
	if (print_color_bool)
		print_color_bool(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

void put_json_array(const char *name)
{
	if (open_json_array)
		open_json_array(PRINT_JSON, name);
}

void put_json_array_end(void)
{
	if (close_json_array)
		close_json_array(PRINT_JSON, NULL);
}

/*
 * tc's open_json_object() is for both outputs and opens nothing in text, so it needs no type.
 */
void put_json_object(void)
{
	if (open_json_object)
		open_json_object(NULL);
}

void put_json_object_end(void)
{
	if (close_json_object)
		close_json_object();
}
