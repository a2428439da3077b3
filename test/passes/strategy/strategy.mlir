// RUN: weir-opt --weir-strategy="mesh=dp=2,tp=2 zero=1 recompute=h.*,*.mlp rates=1TFLOP/s,1GB/s,tp=1GB/s,1GB/s,1us" %s | FileCheck %s
// RUN: weir-opt --weir-strategy="zero=0" %s | FileCheck %s --check-prefix=GIVEN
// RUN: weir-opt --weir-strategy="zero=1" --weir-strategy="overlap=off" %s | FileCheck %s --check-prefix=LAST
// RUN: weir-opt --weir-strategy="mesh=dp=2,tp=2 zero=1" %s | weir-opt | FileCheck %s --check-prefix=AGAIN
// RUN: not weir-opt --weir-strategy="zero=4" %s 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not weir-opt --weir-strategy="zer=1" %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weir-opt --weir-strategy="ZERO=1" %s 2>&1 | FileCheck %s --check-prefix=CASE
// RUN: not weir-opt --weir-strategy="zero=1 zero=2" %s 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not weir-opt --weir-strategy="=1" %s 2>&1 | FileCheck %s --check-prefix=NAMELESS
// RUN: not weir-opt --weir-strategy="zero" %s 2>&1 | FileCheck %s --check-prefix=VALUELESS
// RUN: not weir-opt --weir-strategy="overlap=" %s 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not weir-opt --weir-strategy="recompute=" %s 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not weir-opt --weir-strategy='recompute="a b"' %s 2>&1 | FileCheck %s --check-prefix=SPACE
// RUN: sed "s/^module/module attributes {weir.strategy = #weir.strategy<\"mesh=xp=2\">}/" %s | not weir-opt 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: sed "s/^module/module attributes {weir.strategy = #weir.strategy<\"recompute=\">}/" %s | not weir-opt 2>&1 | FileCheck %s --check-prefix=PATTERN
// The text of a strategy is the same in the option and in the attribute.

// CHECK: module attributes {weir.strategy = #weir.strategy<"mesh=dp=2,tp=2 zero=1 recompute=h.* recompute=*.mlp rates=1TFLOP/s,1GB/s,tp=1GB/s,1GB/s,1us">}
// GIVEN: weir.strategy = #weir.strategy<"zero=0">
// LAST: weir.strategy = #weir.strategy<"overlap=off">
// AGAIN: weir.strategy = #weir.strategy<"mesh=dp=2,tp=2 zero=1">
// WRONG: error: weir-strategy: zero: expected a whole number from 0 to 3, but found 4
// UNKNOWN: error: weir-strategy: unknown strategy field zer; did you mean 'zero'?
// CASE: error: weir-strategy: unknown strategy field ZERO; did you mean 'zero'?
// TWICE: error: weir-strategy: zero is given twice: expected it once
// NAMELESS: error: weir-strategy: expected NAME=VALUE, but found =1
// VALUELESS: error: weir-strategy: zero: expected zero=VALUE
// EMPTY: error: weir-strategy: overlap: expected on or off, but found ""
// PATTERN: recompute: expected paths of blocks without spaces or quotation marks, such as h.*.mlp, but found ""
// SPACE: error: weir-strategy: recompute: expected paths of blocks without spaces or quotation marks, such as h.*.mlp, but found
// TEXT: error: mesh: xp is not a mesh axis: expected dp (data parallel), tp (tensor parallel), pp (pipeline parallel), ep (expert parallel) or cp (context parallel)
module {
}
