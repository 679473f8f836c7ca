// SPDX-License-Identifier: GPL-2.0
/*
 * Proof that detectors are alive: does one forbidden thing, named by `what`,
 * when it is loaded. scripts/kernel-sanitizers.sh expects a report for each of
 * the sanitizer kernel, scripts/kernel-races.sh for those of a race and of
 * locks, scripts/test-kernel.sh for a warning in each stock kernel. Never load
 * it on a kernel that you need.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

static char *what = "";
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "order, atomic, race, leak, shift, slab, vmalloc, freed, warn or none");

static int bytes = 24;
module_param(bytes, int, 0);
MODULE_PARM_DESC(bytes, "size of the allocations; a parameter, so that the compiler cannot tell");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);
static volatile char sink;
static volatile int shifted;
static int counted;

static void lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void sleep_in_atomic(void)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
}

static int count(void *unused)
{
	while (!kthread_should_stop()) {
		counted++;
		cond_resched();
	}
	return 0;
}

/* Two processors count in one word, without a lock. */
static int race(void)
{
	struct task_struct *one, *other;

	one = kthread_run_on_cpu(count, NULL, cpumask_first(cpu_online_mask),
				 "count/%u");
	if (IS_ERR(one))
		return PTR_ERR(one);
	other = kthread_run_on_cpu(count, NULL, cpumask_last(cpu_online_mask),
				   "count/%u");
	msleep(1000);
	kthread_stop(one);
	if (IS_ERR(other))
		return PTR_ERR(other);
	kthread_stop(other);
	return 0;
}

static int leak(void)
{
	int i;

	/*
	 * Several, and zeroed: a value on a stack or a free list may look like a
	 * reference to one of them.
	 */
	for (i = 0; i < 8; i++)
		if (!kzalloc(bytes, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

static int read_behind(bool freed)
{
	char *p = kmalloc(bytes, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	if (freed) {
		kfree(p);
		sink = READ_ONCE(*p);
	} else {
		sink = READ_ONCE(p[bytes]);
		kfree(p);
	}
	return 0;
}

static int read_behind_vmalloc(void)
{
	char *p = vmalloc(bytes);

	if (!p)
		return -ENOMEM;
	sink = READ_ONCE(p[bytes]);
	vfree(p);
	return 0;
}

static int __init broken_init(void)
{
	if (!strcmp(what, "order"))
		lock_order();
	else if (!strcmp(what, "atomic"))
		sleep_in_atomic();
	else if (!strcmp(what, "race"))
		return race();
	else if (!strcmp(what, "leak"))
		return leak();
	else if (!strcmp(what, "shift"))
		shifted = 1 << (bytes + 32);
	else if (!strcmp(what, "slab"))
		return read_behind(false);
	else if (!strcmp(what, "freed"))
		return read_behind(true);
	else if (!strcmp(what, "vmalloc"))
		return read_behind_vmalloc();
	else if (!strcmp(what, "warn"))
		WARN(1, "broken: a warning on demand\n");
	else if (strcmp(what, "none"))
		return -EINVAL;
	return 0;
}

static void __exit broken_exit(void)
{
}

module_init(broken_init);
module_exit(broken_exit);
MODULE_DESCRIPTION("Breaks rules on demand, to test the kernel's detectors");
MODULE_LICENSE("GPL");
