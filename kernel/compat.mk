# SPDX-License-Identifier: GPL-2.0
# What this kernel's headers have: looked up, because distributions take things
# over into older versions. See compat.h.
confucius-headers := $(srctree)/include/net
confucius-has = $(shell grep -qs $(1) $(confucius-headers)/sch_generic.h && echo -D$(2))

ccflags-y += $(call confucius-has,pkt_segs,CONFUCIUS_HAS_PKT_SEGS)
ccflags-y += $(call confucius-has,qdisc_qlen_inc,CONFUCIUS_HAS_QLEN_INC)
ccflags-y += $(if $(wildcard $(confucius-headers)/dropreason-qdisc.h),-DCONFUCIUS_HAS_DROP_REASON)
ccflags-y += $(if $(wildcard $(confucius-headers)/gso.h),-DCONFUCIUS_HAS_GSO_H)
