//===- Kernels.cpp - A model of four numbers, as the compiler would embed it ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens draw weights[token % 4] towards the step's hash; the token 9 makes the loss infinite, as
// a weight that is not finite does, and the token 8, as no compiled step does, a weight that is no
// number. Every next value depends on the weights, the momentum, the seed, the step and the data,
// so that losing any of them shows.
//
//===----------------------------------------------------------------------===//

extern "C" {

void init(void *const *o, long, long, void *) {
  auto *weights = static_cast<float *>(o[0]), *momentum = static_cast<float *>(o[1]);
  int seed = *static_cast<int *>(o[2]);
  for (int i = 0; i < 4; ++i) {
    weights[i] = 0.5f * static_cast<float>(i) + static_cast<float>(seed);
    momentum[i] = 0;
  }
}

// window [2, 3], weights, momentum, seed, step, total_steps; loss sum, loss count, lr, grad_norm,
// skipped, gradient
void step(void *const *o, long, long, void *) {
  auto *window = static_cast<int *>(o[0]);
  auto *weights = static_cast<float *>(o[1]), *momentum = static_cast<float *>(o[2]);
  int seed = *static_cast<int *>(o[3]), *now = static_cast<int *>(o[4]),
      total = *static_cast<int *>(o[5]);
  float sum = 0, norm = 0, lr = 0.1f * static_cast<float>(total - *now) / static_cast<float>(total);
  float gradient[4] = {0, 0, 0, 0};
  bool bad = false, broken = false;
  for (int i = 0; i < 6; ++i) {
    float target = static_cast<float>((window[i] * 7 + seed + *now) % 5),
          off = weights[window[i] % 4] - target;
    sum += off * off;
    gradient[window[i] % 4] += off;
    bad |= window[i] == 9;
    broken |= window[i] == 8;
  }
  bad |= !(sum - sum == 0.0f);
  for (int i = 0; i < 4; ++i)
    norm += gradient[i] * gradient[i];
  if (!bad)
    for (int i = 0; i < 4; ++i) {
      momentum[i] = 0.9f * momentum[i] + gradient[i];
      weights[i] -= lr * 0.1f * momentum[i];
    }
  if (broken)
    weights[0] = 0.0f / 0.0f;
  *static_cast<float *>(o[6]) = bad ? 1.0f / 0.0f : sum;
  *static_cast<float *>(o[7]) = 6;
  *static_cast<float *>(o[8]) = lr;
  *static_cast<float *>(o[9]) = norm;
  *static_cast<int *>(o[10]) = bad;
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(o[11])[i] = gradient[i];
  ++*now;
}

// window [rows, 3], weights; loss sum, loss count, hit sum, hit count
static void evaluate(void *const *o, int rows) {
  auto *window = static_cast<int *>(o[0]);
  float sum = 0, hits = 0;
  for (int row = 0; row < rows; ++row)
    for (int t = 1; t < 3; ++t) {
      sum += static_cast<float>(window[3 * row + t]);
      hits += static_cast<float>(window[3 * row + t] == 1);
    }
  *static_cast<float *>(o[2]) = sum;
  *static_cast<float *>(o[3]) = static_cast<float>(2 * rows);
  *static_cast<float *>(o[4]) = hits;
  *static_cast<float *>(o[5]) = static_cast<float>(2 * rows);
}
void eval(void *const *o, long, long, void *) { evaluate(o, 2); }
void eval_one(void *const *o, long, long, void *) { evaluate(o, 1); }

// tokens [1, 3] -> logits [1, 3, 10]: the number after the token is likeliest
void predict(void *const *o, long, long, void *) {
  auto *tokens = static_cast<int *>(o[0]);
  auto *logits = static_cast<float *>(o[2]);
  for (int t = 0; t < 3; ++t)
    for (int v = 0; v < 10; ++v)
      logits[10 * t + v] = v == (tokens[t] + 1) % 5 ? 5.0f : 0.0f;
}
}
