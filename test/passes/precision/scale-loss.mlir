// RUN: weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss %s | FileCheck %s
// RUN: weir-opt --weir-strategy="loss-scale=1024" --weir-scale-loss %s | FileCheck %s --check-prefix=STATIC
// RUN: weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss --weir-strategy="loss-scale=1024" --weir-scale-loss %s | FileCheck %s
// RUN: weir-opt --weir-scale-loss %s | FileCheck %s --check-prefix=NONE


// NONE-NOT: loss_scale
// NONE-NOT: weir.mul %{{.*}}tensor<f32>

// The scale is read once, and divides what all rounds add up; what it is next is the step's last word. eval has no gradient, and stays.
// CHECK: module attributes {weir.loss_scale = "dynamic"
// CHECK: weir.variable run @"run/step"
// CHECK-NEXT: weir.variable run @"run/loss_scale" : tensor<i32>
// CHECK-NEXT: weir.variable run @"run/good_steps" : tensor<i32>
// CHECK-LABEL: func @step
// CHECK-SAME: -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}, tensor<f32> {weir.output = "loss_scale", weir.part = "scalar"})
// CHECK-NEXT: %[[NOW:.*]] = weir.read @"run/loss_scale"
// CHECK-NEXT: %[[SCALE:.*]] = weir.cast %[[NOW]] : tensor<i32> -> tensor<f32>
// CHECK-NEXT: %[[ONE:.*]] = weir.constant 1.0
// CHECK-NEXT: %[[INVERSE:.*]] = weir.div %[[ONE]], %[[SCALE]]
// CHECK: %[[SUMS:.*]]:2 = weir.microbatches 2
// CHECK: %[[SHARE:.*]] = weir.reduce sum
// CHECK-NEXT: %[[SCALED:.*]] = weir.mul %[[SHARE]], %[[SCALE]]
// CHECK-NEXT: %[[G:.*]] = weir.gradient %[[SCALED]]
// CHECK-NEXT: weir.yield %[[G]], %[[SHARE]]
// CHECK: %[[WIDE:.*]] = weir.broadcast %[[INVERSE]]
// CHECK-NEXT: %[[UNSCALED:.*]] = weir.mul %[[SUMS]]#0, %[[WIDE]] {weir.unscales}
// CHECK-NEXT: %[[NORM:.*]] = weir.clip(%[[UNSCALED]],
// CHECK-NEXT: weir.sub %{{.*}}, %[[UNSCALED]]
// CHECK: %[[FINE:.*]] = weir.is_finite %[[NORM]]
// CHECK: weir.write @"run/loss_scale"
// CHECK: weir.write @"run/good_steps"
// CHECK: return %{{.*}}, %[[SCALE]]
// CHECK-LABEL: func @eval
// CHECK-NEXT: return

// A scale that stays what it is has no state.
// STATIC: module attributes {weir.loss_scale = "1024"
// STATIC-NOT: weir.variable run @"run/loss_scale"
// STATIC: func @step
// STATIC-DAG: %[[SCALE:.*]] = weir.constant 1.024000e+03
// STATIC-DAG: %[[INVERSE:.*]] = weir.constant 9.765625E-4
// STATIC: weir.mul %{{.*}}, %[[SCALE]]
// STATIC-NOT: weir.write @"run/loss_scale"
// STATIC: return %{{.*}}, %[[SCALE]]

// What the scale is next: of the gradients' norm only; where it is not finite and the loss is, half, and at least 1.
// RUN: weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss --weir-autodiff %s --run --entry step --input=2x2xf32=1 --input=f32=1 --variable=w=2xf32=1,2 \
// RUN:   --variable=run/step=i32=3 --variable=run/loss_scale=i32=65536 --variable=run/good_steps=i32=7 | FileCheck %s --check-prefix=GOOD
// GOOD: variable run/good_steps: i32
// GOOD-NEXT: {{^}}  8{{$}}
// GOOD-NEXT: variable run/loss_scale: i32
// GOOD-NEXT: {{^}}  65536{{$}}
// GOOD-NEXT: variable run/step: i32
// GOOD-NEXT: {{^}}  4{{$}}
// GOOD-NEXT: variable w: 2xf32
// GOOD-NEXT: {{^}}  -1 0{{$}}

// RUN: weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss --weir-autodiff %s --run --entry step --input=2x2xf32=1 --input=f32=inf --variable=w=2xf32=1,2 \
// RUN:   --variable=run/step=i32=3 --variable=run/loss_scale=i32=65536 --variable=run/good_steps=i32=7 | FileCheck %s --check-prefix=BAD
// BAD: variable run/good_steps: i32
// BAD-NEXT: {{^}}  0{{$}}
// BAD-NEXT: variable run/loss_scale: i32
// BAD-NEXT: {{^}}  32768{{$}}
// BAD-NEXT: variable run/step: i32
// BAD-NEXT: {{^}}  4{{$}}
// BAD-NEXT: variable w: 2xf32
// BAD-NEXT: {{^}}  1 2{{$}}

// RUN: weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss --weir-autodiff %s --run --entry step --input=2x2xf32=1 --input=f32=nan --variable=w=2xf32=1,2 \
// RUN:   --variable=run/step=i32=3 --variable=run/loss_scale=i32=1 --variable=run/good_steps=i32=1999 | FileCheck %s --check-prefix=LEAST
// LEAST: variable run/good_steps: i32
// LEAST-NEXT: {{^}}  0{{$}}
// LEAST-NEXT: variable run/loss_scale: i32
// LEAST-NEXT: {{^}}  1{{$}}

// RUN: weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss --weir-autodiff %s --run --entry step --input=2x2xf32=1 --input=f32=1 --variable=w=2xf32=1,2 \
// RUN:   --variable=run/step=i32=3 --variable=run/loss_scale=i32=4096 --variable=run/good_steps=i32=1999 | FileCheck %s --check-prefix=GROWN
// GROWN: variable run/good_steps: i32
// GROWN-NEXT: {{^}}  0{{$}}
// GROWN-NEXT: variable run/loss_scale: i32
// GROWN-NEXT: {{^}}  8192{{$}}

// RUN: weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss --weir-autodiff %s --run --entry step --input=2x2xf32=1 --input=f32=1 --variable=w=2xf32=1,2 \
// RUN:   --variable=run/step=i32=3 --variable=run/loss_scale=i32=16777216 --variable=run/good_steps=i32=1999 | FileCheck %s --check-prefix=MOST
// MOST: variable run/good_steps: i32
// MOST-NEXT: {{^}}  0{{$}}
// MOST-NEXT: variable run/loss_scale: i32
// MOST-NEXT: {{^}}  16777216{{$}}

// A loss that is not finite leaves it as it is.
// RUN: weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss --weir-autodiff %s --run --entry step --input=2x2xf32=inf --input=f32=inf --variable=w=2xf32=1,2 \
// RUN:   --variable=run/step=i32=3 --variable=run/loss_scale=i32=4096 --variable=run/good_steps=i32=1999 | FileCheck %s --check-prefix=LOSS
// LOSS: variable run/good_steps: i32
// LOSS-NEXT: {{^}}  1999{{$}}
// LOSS-NEXT: variable run/loss_scale: i32
// LOSS-NEXT: {{^}}  4096{{$}}
// LOSS-NEXT: variable run/step: i32
// LOSS-NEXT: {{^}}  4{{$}}
// LOSS-NEXT: variable w: 2xf32
// LOSS-NEXT: {{^}}  1 2{{$}}

weir.variable run @"run/step" : tensor<i32>
weir.variable parameter @w : tensor<2xf32>

// `extra` stands for another gradient.
func.func @step(%x: tensor<2x2xf32>, %extra: tensor<f32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %w = weir.read @w : tensor<2xf32>
  %g, %s = weir.microbatches 2 sliced(%x) carried() : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %row: tensor<1x2xf32>):
    %all = weir.broadcast %w {dimensions = array<i64: 1>} : tensor<2xf32> -> tensor<1x2xf32>
    %p = weir.mul %all, %row : tensor<1x2xf32>
    %share = weir.reduce sum %p {axes = array<i64: 0, 1>} : tensor<1x2xf32> -> tensor<f32>
    %h = weir.gradient %share wrt(%w) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
    weir.yield %h, %share : tensor<2xf32>, tensor<f32>
  }
  %norm = weir.clip (%g, %extra) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %next = weir.sub %w, %g : tensor<2xf32>
  %finite = weir.all_finite %s, %norm, %next : tensor<f32>, tensor<f32>, tensor<2xf32>
  weir.write @w, %next if %finite : tensor<2xf32>
  %step = weir.read @"run/step" : tensor<i32>
  %one = weir.constant 1 : i32 -> tensor<i32>
  %after = weir.add %step, %one : tensor<i32>
  weir.write @"run/step", %after : tensor<i32>
  return %s : tensor<f32>
}

func.func @eval(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  return %x : tensor<2x2xf32>
}
