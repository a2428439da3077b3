// RUN: weir-opt --weir-strategy="mesh=dp=2,tp=2 zero=1 recompute=h.*,*.mlp rates=1TFLOP/s,1GB/s,tp=1GB/s,1GB/s,1us" %s | FileCheck %s
// RUN: weir-opt --weir-strategy="zero=0" %s | FileCheck %s --check-prefix=GIVEN
// RUN: weir-opt --weir-strategy="zero=1" --weir-strategy="overlap=off" %s | FileCheck %s --check-prefix=LAST
// RUN: weir-opt --weir-strategy="mesh=dp=2,tp=2 zero=1" %s | weir-opt | FileCheck %s --check-prefix=AGAIN
// RUN: not weir-opt --weir-strategy="zero=4" %s 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not weir-opt --weir-strategy="zer=1" %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed "s/^module/module attributes {weir.strategy = #weir.strategy<\"mesh=xp=2\">}/" %s | not weir-opt 2>&1 | FileCheck %s --check-prefix=TEXT
// The text of a strategy is the same in the option and in the attribute.

// CHECK: module attributes {weir.strategy = #weir.strategy<"mesh=dp=2,tp=2 zero=1 recompute=h.* recompute=*.mlp rates=1TFLOP/s,1GB/s,tp=1GB/s,1GB/s,1us">}
// GIVEN: weir.strategy = #weir.strategy<"zero=0">
// LAST: weir.strategy = #weir.strategy<"overlap=off">
// AGAIN: weir.strategy = #weir.strategy<"mesh=dp=2,tp=2 zero=1">
// WRONG: error: zero: expected a whole number from 0 to 3, but found 4
// UNKNOWN: no such option zer
// TEXT: error: mesh: xp is not a mesh axis: expected dp (data parallel), tp (tensor parallel), pp (pipeline parallel), ep (expert parallel) or cp (context parallel)
module {
}
