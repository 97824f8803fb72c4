// SPDX-License-Identifier: GPL-2.0
/// A driver that has SRPIC begins a poll, cleans its rings, ends it, and only
/// then completes; all that it receives goes through srpic_receive(), and its
/// NAPI is disabled by srpic_stop().
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
 ... when != srpic_end(...)
     when != if (budget) srpic_end(...);
 return@p ...;

@script:python depends on report@
p << kept.p;
@@
coccilib.report.print_report(p[0], "the poll can end without srpic_end()")

@early exists@
symbol budget;
position p;
identifier complete =~ "(napi|rxfence)_complete";
@@
 srpic_begin(...);
 ... when != srpic_end(...)
     when != if (budget) srpic_end(...);
 complete@p(...)

@script:python depends on report@
p << early.p;
@@
coccilib.report.print_report(p[0], "NAPI completes before srpic_end()")

@ends@
identifier f;
@@
 f(...)
 {
 <+...
 srpic_end(...)
 ...+>
 }

@bare@
identifier ends.f;
identifier complete =~ "(napi|rxfence)_complete";
position p;
@@
 f(...)
 {
 <...
 if (...) {
 ... when != srpic_end(...)
 complete@p(...);
 return ...;
 }
 ...>
 }

@script:python depends on report@
p << bare.p;
@@
coccilib.report.print_report(p[0], "NAPI completes without srpic_end()")

// What was said to be polled again is not.
@left@
identifier E;
identifier complete =~ "(napi|rxfence)_complete";
position p;
@@
 if (!E) { <+... complete@p(...) ...+> }

@unfinished exists@
symbol true;
expression S;
identifier left.E;
identifier complete =~ "(napi|rxfence)_complete";
position left.p, q;
@@
 srpic_end(S, E);
 ... when != srpic_end(S, true)
 complete@p@q(...)

@script:python depends on report@
q << unfinished.q;
@@
coccilib.report.print_report(q[0], "NAPI completes with work left, without srpic_end(..., true)")

@denied exists@
symbol true, false;
expression S;
identifier complete =~ "(napi|rxfence)_complete";
position p;
@@
 srpic_end(S, false);
 ... when != srpic_end(S, true)
 complete@p(...)

@script:python depends on report@
p << denied.p;
@@
coccilib.report.print_report(p[0], "NAPI completes after srpic_end(..., false) only")

// Another CPU may poll then.
@late exists@
position p;
identifier ends.f;
identifier complete =~ "(napi|rxfence)_complete";
@@
 complete(...)
 ... when any
(
 srpic_end@p(...)
|
 f@p(...)
)

@script:python depends on report@
p << late.p;
@@
coccilib.report.print_report(p[0], "srpic_end() after NAPI completes")

// A poll that receives nothing delivers what earlier ones left.
@drained@
symbol budget, true;
expression S;
identifier complete =~ "(napi|rxfence)_complete";
position p;
@@
 if (budget) srpic_end@p(S, true);
 complete(...);
 return ...;

@unbegun exists@
symbol budget;
identifier f;
position p != drained.p;
@@
 f(...)
 {
 ... when != srpic_begin(...)
     when != if (budget) srpic_begin(...);
 srpic_end@p(...)
 ... when any
 }

@script:python depends on report@
p << unbegun.p;
@@
coccilib.report.print_report(p[0], "srpic_end() without srpic_begin()")

// Netpoll polls with a budget of 0, and another CPU may be in the same poll
// then. A budget is there in a branch of "if (budget)", and behind an exit of
// those who have none.
@under@
symbol budget;
identifier call = {srpic_begin, srpic_end};
position p;
@@
 if (budget) { <+... call@p(...) ...+> }

@unguarded exists@
symbol budget;
identifier f, label;
identifier call = {srpic_begin, srpic_end};
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

// What is received after the end is held beyond the poll.
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

@again exists@
position p;
identifier takes.f, cleans.g;
@@
 srpic_end(...);
 ... when != srpic_begin(...)
(
 f@p(...)
|
 g@p(...)
)

@script:python depends on report@
p << again.p;
@@
coccilib.report.print_report(p[0], "receives after srpic_end()")

@nothing@
position p;
@@
 srpic_begin(...);
 srpic_end@p(...);

@script:python depends on report@
p << nothing.p;
@@
coccilib.report.print_report(p[0], "receives nothing before srpic_end()")

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

// Such instances have no SRPIC.
@others@
struct mlx5e_ptp *E;
struct mlx5e_trap *F;
identifier disable = {napi_disable, napi_disable_locked};
position p;
@@
(
 disable@p(&E->napi)
|
 disable@p(&F->napi)
)

@transmit@
identifier f =~ "_tx_";
identifier disable = {napi_disable, napi_disable_locked};
position p;
@@
 f(...)
 {
 <...
 disable@p(...)
 ...>
 }

// Nothing is held behind a function that has stopped it.
@stops@
identifier f;
@@
 f(...)
 {
 <+...
 srpic_stop(...)
 ...+>
 }

@stopped exists@
identifier stops.f;
identifier disable = {napi_disable, napi_disable_locked};
position p;
@@
 f(...);
 ... when any
 disable@p(...)

@strands@
identifier disable = {napi_disable, napi_disable_locked};
position p != {others.p, transmit.p, stopped.p};
@@
 disable@p(...)

@script:python depends on report@
p << strands.p;
disable << strands.disable;
@@
coccilib.report.print_report(p[0], f"{disable}() strands what SRPIC holds")
