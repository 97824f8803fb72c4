// SPDX-License-Identifier: GPL-2.0
/// A driver that has SRPIC begins a poll, cleans its rings, flushes, and only
/// then completes; all that it receives goes through srpic_receive().
//
// In a kernel tree: make coccicheck COCCI=.../srpic.cocci MODE=report M=dir
//
// Confidence: High
// Options: --no-includes --include-headers

virtual report

@kept exists@
symbol budget;
position p;
@@
 srpic_begin(...);
 ... when != srpic_flush(...)
     when != if (budget) srpic_flush(...);
 return@p ...;

@script:python depends on report@
p << kept.p;
@@
coccilib.report.print_report(p[0], "the poll can end without srpic_flush()")

@early exists@
symbol budget;
position p;
identifier complete = {napi_complete, napi_complete_done,
		       virtqueue_napi_complete};
@@
 srpic_begin(...);
 ... when != srpic_flush(...)
     when != if (budget) srpic_flush(...);
 complete@p(...)

@script:python depends on report@
p << early.p;
@@
coccilib.report.print_report(p[0], "NAPI completes before srpic_flush()")

@flushes@
identifier f;
@@
 f(...)
 {
 <+...
 srpic_flush(...)
 ...+>
 }

// Another CPU may poll then.
@late exists@
position p;
identifier flushes.f;
identifier complete = {napi_complete, napi_complete_done,
		       virtqueue_napi_complete};
@@
 complete(...)
 ... when any
(
 srpic_flush@p(...)
|
 f@p(...)
)

@script:python depends on report@
p << late.p;
@@
coccilib.report.print_report(p[0], "srpic_flush() after NAPI completes")

@unbegun exists@
symbol budget;
identifier f;
position p;
@@
 f(...)
 {
 ... when != srpic_begin(...)
     when != if (budget) srpic_begin(...);
 srpic_flush@p(...)
 ... when any
 }

@script:python depends on report@
p << unbegun.p;
@@
coccilib.report.print_report(p[0], "srpic_flush() without srpic_begin()")

// Netpoll polls with a budget of 0, and another CPU may be in the same poll
// then. A budget is there in a branch of "if (budget)", and behind an exit of
// those who have none.
@under@
symbol budget;
identifier call = {srpic_begin, srpic_flush};
position p;
@@
 if (budget) { <+... call@p(...) ...+> }

@unguarded exists@
symbol budget;
identifier f, label;
identifier call = {srpic_begin, srpic_flush};
position p != under.p;
@@
 f(...)
 {
 ... when != if (\(budget <= 0\|!budget\|unlikely(budget <= 0)\|unlikely(!budget)\)) return ...;
     when != if (\(budget <= 0\|!budget\|unlikely(budget <= 0)\|unlikely(!budget)\)) goto label;
     when != if (\(budget <= 0\|!budget\|unlikely(budget <= 0)\|unlikely(!budget)\)) { ... return ...; }
 call@p(...)
 ... when any
 }

@script:python depends on report@
p << unguarded.p;
call << unguarded.call;
@@
coccilib.report.print_report(p[0], f"{call}() with a budget of 0")

// What is received after the flush is held beyond the poll.
@takes@
identifier f;
@@
 f(...)
 {
 <+...
 srpic_receive(...)
 ...+>
 }

@cleans@
identifier takes.f, g;
@@
 g(...)
 {
 <+...
 f(...)
 ...+>
 }

@more exists@
position p;
identifier takes.f;
@@
 srpic_flush(...);
 ... when != srpic_begin(...)
 f@p(...)

@script:python depends on report@
p << more.p;
@@
coccilib.report.print_report(p[0], "receives after srpic_flush()")

@again exists@
position p;
identifier cleans.g;
@@
 srpic_flush(...);
 ... when != srpic_begin(...)
 g@p(...)

@script:python depends on report@
p << again.p;
@@
coccilib.report.print_report(p[0], "receives after srpic_flush()")

@nothing@
position p;
@@
 srpic_begin(...);
 srpic_flush@p(...);

@script:python depends on report@
p << nothing.p;
@@
coccilib.report.print_report(p[0], "receives nothing before srpic_flush()")

// Such instances of NAPI do not sort.
@other@
identifier up = {napi_gro_receive, napi_gro_frags, netif_receive_skb,
		 netif_receive_skb_list};
position p;
@@
 if (...) srpic_receive(...); else up@p(...);

@stray@
position p != other.p;
identifier up = {napi_gro_receive, napi_gro_frags, netif_receive_skb,
		 netif_receive_skb_list};
@@
 up@p(...)

@script:python depends on report@
p << stray.p;
up << stray.up;
@@
coccilib.report.print_report(p[0], f"{up}() overtakes what SRPIC holds")
