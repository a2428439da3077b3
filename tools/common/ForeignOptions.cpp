//===- ForeignOptions.cpp - Options and commands of other tools -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row for the names of one thing. test/e2e/foreign-options-test.py types every name of every
// row, and looks each option of its answer up in the help.
//
//===----------------------------------------------------------------------===//

#include "tools/common/ForeignOptions.h"
#include "strategy/Fields.h"
#include <algorithm>
#include <cctype>

namespace weir {
namespace {

constexpr char
    sizes[] = "sizes are configs of the model, `config batch = 32`; the first dimension "
              "of each input is the batch",
    recipe[] = "the recipe defines it; make the number a config, and --set overrides it",
    workers[] = "Weir reads the next batches ahead without it",
    launcher[] =
        "the launcher sets it in the environment: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT",
    gpus[] = "with --target cuda each rank is a GPU",
    wandb[] = "or --tensorboard DIR, whose files W&B and MLflow read too",
    none[] = "there is no such option yet",
    scheduled[] = "the recipe's learning rate defines it: `lr = cosine(peak = 1e-3, warmup = 100)`";

constexpr ForeignOption rows[] = {
    // The model and its recipe.
    {"--batch-size --batch --bs --train-batch-size --per-device-train-batch-size --mini-batch-size "
     "--global-batch-size",
     "--set batch=N", sizes},
    {"--micro-batch-size --per-device-batch-size", "--microbatches N",
     "it splits the rows of a step into N microbatches"},
    {"--eval-batch-size --per-device-eval-batch-size --val-batch-size", "",
     "Weir evaluates held-out rows in the model's batches"},
    {"--block-size --seq-len --seq-length --sequence-length --max-seq-length --context-length "
     "--n-ctx",
     "--set context=N", "sizes are configs of the model: `weir inspect` lists them"},
    {"--hidden-size --d-model --n-embd --n-layer --num-layers --n-head --num-heads --vocab-size",
     "--set NAME=VALUE", "sizes are configs of the model: `weir inspect` lists them"},
    {"--config --cfg --config-file --config-name --yaml --hparams --override", "--set NAME=VALUE",
     "other settings are options of their own"},
    {"--lr --learning-rate --base-lr --max-lr", "--set lr=X", recipe},
    {"--weight-decay --wd --momentum --beta1 --beta2 --adam-beta1 --adam-beta2 --adam-epsilon "
     "--dropout --label-smoothing",
     "--set NAME=VALUE", recipe},
    {"--optimizer --optim", "", "the recipe names it: `update adamw(lr, decay = 0.1)`"},
    {"--scheduler --lr-scheduler --lr-scheduler-type --warmup --warmup-steps --warmup-ratio "
     "--num-warmup-steps --min-lr --lr-decay",
     "", scheduled},
    {"--clip --grad-clip --clip-grad --clip-grad-norm --max-grad-norm --gradient-clip-val "
     "--gradient-clipping",
     "", "the recipe defines it: `clip global_norm(1.0)`"},
    {"--gradient-accumulation-steps --gradient-accumulation --grad-accum --grad-accum-steps "
     "--accumulate-grad-batches --accumulate",
     "--microbatches N",
     "Weir computes the rows of a step in N microbatches; `accumulate N` in the recipe makes a "
     "step of N batches"},
    {"--loss --criterion --metric", "",
     "the recipe defines it: `loss cross_entropy(logits, labels)`"},
    {"--ema --use-ema", "",
     "keep an average of weights in a state: `state kept = w`, `next kept = …`"},
    // Length of a run.
    {"--num-epochs --num-train-epochs --max-epochs --n-epochs", "--epochs N", ""},
    {"--max-steps --max-iters --num-steps --train-steps --total-steps --iters --iterations "
     "--num-iterations --train-iters",
     "--steps N", ""},
    {"--random-seed --manual-seed --rng-seed", "--seed N", ""},
    {"--early-stopping --patience", "", none},
    {"--max-time --time-limit", "",
     "a signal ends a run with a checkpoint: `timeout -s TERM 1h weir run …`, and --resume "
     "continues it"},
    // Data.
    {"--dataset --train-data --train-file --train-dataset --data-dir --data-path --dataset-name "
     "--input --inputs --input-file",
     "--data NAME=PATH", "once for each input of the model"},
    {"--val-data --valid-data --validation-data --validation-file --val-file --valid --test-data "
     "--eval-dataset --eval-file",
     "--eval-data NAME=PATH", ""},
    {"--val-split --validation-split --test-size --val-fraction", "--holdout 0.1", ""},
    {"--shuffle", "", "rows are shuffled unless --no-shuffle is given"},
    {"--num-workers --workers --dataloader-num-workers --prefetch-factor --pin-memory "
     "--persistent-workers",
     "", workers},
    {"--tokenizer --tokenizer-name", "--data NAME=PATH",
     "Weir reads text as characters; tokenize in advance, and give tokens in .bin or .npy files"},
    // Precision, memory and devices.
    {"--fp16 --half --float16", "--precision f16", ""},
    {"--bf16 --bfloat16 --amp --mixed-precision --autocast", "--precision bf16", ""},
    {"--fp8", "--precision f8", ""},
    {"--tf32 --allow-tf32", "--precision tf32", ""},
    {"--fp32 --float32", "--precision f32", "it is the default"},
    {"--dtype --torch-dtype", "--precision TYPE",
     "parameters stay f32, unless --param-dtype bf16 is given"},
    {"--grad-scaler --initial-scale --loss-scaling", "--loss-scale dynamic", ""},
    {"--gradient-checkpointing --activation-checkpointing --grad-checkpointing --grad-checkpoint "
     "--checkpoint-activations --activation-checkpoint --remat --recompute-activations",
     "--memory SIZE",
     "Weir recomputes activations that do not fit; --recompute PATTERN names the blocks instead"},
    {"--max-memory --memory-limit --gpu-memory-utilization", "--memory SIZE", ""},
    {"--offload-optimizer --cpu-offload --optimizer-offload", "--offload optimizer", ""},
    {"--offload-params --offload-param --param-offload", "--offload parameters", ""},
    {"--gpu --cuda --use-cuda --use-gpu --accelerator", "--target cuda", ""},
    {"--cpu --no-cuda --use-cpu --no-gpu", "--target cpu", ""},
    {"--arch --march", "--target TARGET", ""},
    {"--num-threads --nthreads --n-threads --jobs -j --omp-threads", "--threads N", ""},
    {"--compile --torch-compile --jit", "", "Weir compiles everything"},
    {"--backend --inductor", "--target TARGET", ""},
    {"--use-deterministic-algorithms --deterministic-algorithms", "--deterministic",
     "one mesh gives the same bits each time anyway; this gives them on every mesh"},
    // Several ranks.
    {"--gpus --devices --num-gpus --n-gpu --n-gpus --ngpus --nproc --nproc-per-node "
     "--num-processes "
     "--num-devices --world-size --ddp --dp --data-parallel-size --data-parallel",
     "--mesh dp=N", gpus},
    {"--tp --tp-size --tensor-parallel --tensor-parallel-size --tensor-model-parallel-size",
     "--mesh tp=N", gpus},
    {"--pp --pp-size --pipeline-parallel --pipeline-parallel-size --pipeline-model-parallel-size",
     "--mesh pp=N", ""},
    {"--cp --context-parallel-size", "--mesh cp=N", gpus},
    {"--ep --expert-parallel --expert-parallel-size --expert-model-parallel-size", "--mesh ep=N",
     gpus},
    {"--fsdp --zero-stage --deepspeed --use-distributed-optimizer --sharding-strategy", "--zero 3",
     "with --mesh dp=N: 1 shards the optimizer state over the ranks, 3 the parameters too"},
    {"--rank --local-rank --node-rank --nnodes --num-nodes --master-addr --master-port", "",
     launcher},
    {"--rdzv-endpoint --rdzv-backend --dist-url --init-method --coordinator-address",
     "--rendezvous HOST:PORT", ""},
    {"--max-restarts", "--restarts N", ""},
    {"--timeout --nccl-timeout --dist-timeout", "--collective-timeout SECONDS", ""},
    // Weights and checkpoints.
    {"--output-dir --save-dir --out-dir --save --checkpoint-dir --checkpoint-path --ckpt "
     "--ckpt-dir --default-root-dir",
     "--checkpoint DIR", ""},
    {"--save-steps --save-every --save-interval --save-freq "
     "--checkpoint-interval --ckpt-interval --every-n-train-steps",
     "--checkpoint-every N", ""},
    {"--save-total-limit --save-top-k --keep-last --max-checkpoints", "--keep-checkpoints N", ""},
    {"--resume-from-checkpoint --resume-from --ckpt-path --load --load-checkpoint --load-ckpt "
     "--continue --auto-resume --restore",
     "--checkpoint DIR --resume", ""},
    {"--pretrained --weights --load-weights --model-path --model-name-or-path --from-pretrained "
     "--init-from --finetune --init-checkpoint",
     "--init FILE.safetensors", ""},
    {"--strict --no-strict --ignore-mismatched-sizes", "--init-partial FILE.safetensors", ""},
    {"--overwrite --overwrite-output-dir", "--checkpoint DIR",
     "give another directory, or --resume to continue from its checkpoints"},
    // Reports.
    {"--eval-steps --eval-interval --eval-freq --val-check-interval --val-interval "
     "--evaluation-strategy --eval-strategy --validate-every",
     "--eval-every N", "with --holdout or --eval-data"},
    {"--wandb --use-wandb --wandb-project --wandb-run-name --report-to --mlflow --logger",
     "--metrics FILE.jsonl", wandb},
    {"--log-dir --logging-dir --logdir --tb --tb-dir", "--tensorboard DIR", ""},
    {"--log-file --log --log-interval --logging-steps --log-every --log-every-n-steps --log-level "
     "--print-freq",
     "--metrics FILE.jsonl", "one line for each step; --metrics - writes to standard output"},
    {"--verbose -v --debug", "",
     "--profile reports where the time of a step goes, --metrics - each step's figures"},
    {"--quiet -q --silent --disable-tqdm --no-progress", "",
     "progress goes to standard error: `2>/dev/null` leaves only the results"},
    {"--profiler --benchmark --profile-steps", "--profile", ""},
    {"--detect-anomaly --detect-nan --debug-nans --check-nan --check-nans --terminate-on-nan",
     "--nan trace", ""},
    {"--dry-run --fast-dev-run --sanity-check", "--steps 1", "or `weir check MODEL`"},
    // Prediction and generation.
    {"--output --out --output-file --save-to", "-o FILE", ""},
    {"--max-new-tokens --max-tokens --max-length --num-tokens --n-tokens", "--length N", ""},
    {"--temp", "--temperature T", ""},
    {"--top-p --num-beams --beam-size --repetition-penalty", "--top-k K", none},
    {"--do-sample --greedy", "--temperature T", "0 takes the likeliest token each time"},
    {"--num-samples --num-return-sequences", "--seed N", "one text for each seed"},
    {"--onnx --export --torchscript", "", "run the artifact itself with weir-run or weir predict"},
    // Values of Weir's own options.
    {"--device=gpu --device=cuda:0 --device=cuda:1 --device=nvidia", "--device cuda",
     "programs compiled with --target cuda run on GPUs without the option; CUDA_VISIBLE_DEVICES "
     "selects the GPUs"},
    {"--device=mps --device=xpu --device=tpu --device=rocm --device=hip --device=metal "
     "--device=auto",
     "",
     "Weir runs programs on CPUs and NVIDIA GPUs: cpu, or cuda for programs compiled with --target "
     "cuda"},
    {"--target=gpu --target=nvidia --target=nvptx --target=cuda:0", "--target cuda", ""},
    {"--target=native --target=host --target=x86 --target=x86-64 --target=avx2 "
     "--target=avx512",
     "--target cpu",
     "it selects this machine's level; cpu:x86-64-v3 has AVX2, cpu:x86-64-v4 AVX-512"},
    {"--precision=fp32 --precision=float32 --precision=32 --precision=32-true --precision=no "
     "--precision=highest",
     "--precision f32", "it is the default"},
    {"--precision=bfloat16 --precision=bf16-mixed --precision=bf16-true --precision=amp "
     "--precision=mixed",
     "--precision bf16", ""},
    {"--precision=fp16 --precision=float16 --precision=half --precision=16 --precision=16-mixed",
     "--precision f16", ""},
    {"--precision=fp8 --precision=float8", "--precision f8", ""},
    {"--precision=high --precision=tensorfloat32", "--precision tf32", ""},
    {"--param-dtype=fp32 --param-dtype=float32", "--param-dtype f32", "it is the default"},
    {"--param-dtype=bfloat16", "--param-dtype bf16", ""},
    // Commands.
    {"fit finetune fine-tune pretrain start", "weir train", ""},
    {"test evaluate validate val score", "weir eval", ""},
    {"infer inference forward apply", "weir predict", ""},
    {"sample chat complete", "weir generate", ""},
    {"build export convert", "weir compile", ""},
    {"info show summary describe dump", "weir inspect", ""},
    {"lint validate-model parse", "weir check", ""},
    {"resume continue", "weir run ARTIFACT --checkpoint DIR --resume", ""},
    {"profile", "weir run ARTIFACT --profile", ""},
    {"bench benchmark", "weir run ARTIFACT --steps 100 --profile", ""},
    {"serve", "", "Weir has no server; weir predict reads files and writes one"},
};

/// Whether two names are one but for capitals and underscores.
bool isSame(std::string_view typed, std::string_view name) {
  auto plain = [](char c) {
    return c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  };
  if (typed.size() != name.size())
    return false;
  for (size_t i = 0; i < name.size(); ++i)
    if (plain(typed[i]) != plain(name[i]))
      return false;
  return true;
}

} // namespace

std::span<const ForeignOption> foreignOptions() { return rows; }

const ForeignOption *foreignOption(std::string_view name) {
  for (const ForeignOption &row : rows)
    for (std::string_view names = row.names; !names.empty();) {
      size_t end = std::min(names.find(' '), names.size());
      if (isSame(name, names.substr(0, end)))
        return &row;
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  return nullptr;
}

bool isCompileOption(std::string_view name) {
  constexpr std::string_view names[] = {"--set",    "--target",    "--plan",       "--cluster",
                                        "--tuning", "--dump-ir",   "--threads",    "--stop-after",
                                        "--report", "--gradients", "--time-passes"};
  return std::ranges::find(names, name) != std::end(names) ||
         std::ranges::any_of(strategy::fields(), [&](const strategy::Field &field) {
           return field.by != strategy::Field::By::compiler && optionNamed(field) == name;
         });
}

} // namespace weir
