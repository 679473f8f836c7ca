// SPDX-License-Identifier: GPL-2.0
/* Ends the sanitizer kernel: the host's own poweroff needs an init system. */
#include <stdio.h>
#include <sys/reboot.h>

int main(void)
{
	reboot(RB_POWER_OFF);
	perror("poweroff");
	return 1;
}
