//===- Generate.cpp - Sampling text from a trained language model ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Generate.h"
#include "runtime/data/Philox.h"
#include "runtime/run/OpenDevice.h"
#include "runtime/run/OptionRanges.h"
#include "runtime/run/Ports.h"
#include "runtime/run/RunOptions.h"
#include "runtime/run/resume/LoadWeights.h"
#include "support/Text.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <numeric>

namespace weir {
namespace {

/// Turns text into tokens and back, in the way the training data were read.
class Codec {
public:
  Codec(const Manifest &manifest, const std::string &input) {
    if (auto source = manifest.data.find(input); source != manifest.data.end())
      format = source->second.format;
    if (auto found = manifest.vocabularies.find(input); found != manifest.vocabularies.end())
      vocabulary = found->second;
  }

  std::vector<int32_t> encode(const std::string &text) const {
    std::vector<int32_t> tokens;
    if (format == "bytes") {
      for (unsigned char byte : text)
        tokens.push_back(byte);
      return tokens;
    }
    if (format != "text") {
      // Token files come without a tokenizer: a prompt is numbers.
      std::istringstream in(text);
      for (int32_t token; in >> token;)
        tokens.push_back(token);
      if (!in.eof())
        throw Failure(Exit::usage, concat("--prompt: the model was trained on token numbers; "
                                          "expected numbers between spaces, "
                                          "found '",
                                          text, "'"));
      return tokens;
    }
    for (size_t at = 0; at < text.size();) {
      size_t before = at;
      int32_t code = decodeUtf8(text, at);
      int32_t number = code < 0 ? -1 : vocabulary.number(code);
      if (number < 0)
        throw Failure(Exit::usage,
                      concat("--prompt: the model does not know ",
                             code < 0 ? concat("the byte at ", before) : characterText(code),
                             "; it knows the ", vocabulary.size(),
                             " characters of its training text"));
      tokens.push_back(number);
    }
    return tokens;
  }

  /// What to go on from without a prompt.
  int32_t start() const {
    if (format == "bytes")
      return '\n';
    return format == "text" ? std::max(vocabulary.number('\n'), 0) : 0;
  }

  std::string decode(int32_t token) const {
    std::string out;
    if (format == "bytes")
      out += static_cast<char>(token);
    else if (format == "text" && static_cast<size_t>(token) < vocabulary.size())
      appendUtf8(out, vocabulary.code(token));
    else if (format != "text")
      out = std::to_string(token) + " ";
    return out;
  }

  /// How many of the logits are tokens that can be printed; at least one.
  size_t usable(size_t logits) const {
    if (format == "bytes")
      return std::min<size_t>(logits, 256);
    return format == "text" ? std::min(logits, vocabulary.size()) : logits;
  }

private:
  std::string format;
  Vocabulary vocabulary;
};

/// predict's ports, checked.
struct Predict {
  const artifact::Entry &entry;
  const artifact::Port *input = nullptr, *output = nullptr;
  int64_t context = 0, vocab = 0;

  explicit Predict(const Program &program)
      : entry(requireEntry(program, "predict", "to generate")) {
    for (const artifact::Port *port : *entry.outputs())
      if (!output && port->dtype() == artifact::DType::f32 && port->shape()->size() == 3)
        output = port;
    if (entry.inputs()->size() == 1)
      input = entry.inputs()->Get(0);
    if (!input || input->dtype() != artifact::DType::i32 || input->shape()->size() != 2 ||
        input->shape()->Get(0) != 1 || !output || output->shape()->Get(0) != 1 ||
        output->shape()->Get(1) != input->shape()->Get(1))
      throw Failure(Exit::model, "the model is not a language model: its entry 'predict' does not "
                                 "map i32[1, T] to f32[1, T, V]");
    context = input->shape()->Get(1);
    vocab = output->shape()->Get(2);
  }
};

} // namespace

size_t sampleLogits(std::span<const float> logits, double temperature, int64_t topK,
                    uint64_t bits) {
  if (temperature <= 0)
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  size_t kept = topK > 0 ? std::min<size_t>(topK, order.size()) : order.size();
  // Equal logits in the order of their numbers, so that the draw has one meaning.
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](size_t a, size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  std::vector<double> weights(kept);
  double most = logits[order[0]], sum = 0;
  for (size_t i = 0; i < kept; ++i)
    sum += weights[i] = std::exp((logits[order[i]] - most) / temperature);
  double point = static_cast<double>(bits >> 11) * 0x1p-53 * sum;
  for (size_t i = 0; i < kept; ++i)
    if ((point -= weights[i]) < 0)
      return order[i];
  return order[kept - 1];
}

void addGenerateOptions(CLI::App &app, GenerateOptions &options) {
  app.add_option("--checkpoint", options.checkpoint,
                 "A run's directory (its newest checkpoint), or one checkpoint")
      ->group("Weights")
      ->type_name("DIR")
      ->required();
  app.add_option("--prompt", options.prompt, "Text to continue (default: a new line)")
      ->group("Text")
      ->type_name("TEXT");
  app.add_option("--length", options.tokens, "Number of tokens to generate (default: 500)")
      ->group("Text")
      ->type_name("N")
      ->transform(integerWithin(1, int64_t{1} << 40));
  app.add_option("--temperature", options.temperature,
                 "Sampling temperature; 0 is greedy (default: 0.8)")
      ->group("Text")
      ->type_name("T")
      ->check(within(0.0, 100.0, "a number from 0 to 100"));
  app.add_option("--top-k", options.topK, "Sample among the K most likely tokens")
      ->group("Text")
      ->type_name("K")
      ->transform(integerWithin(1, std::numeric_limits<int32_t>::max()));
  app.add_option("--seed", options.seed, "Seed of the samples (default: 1)")
      ->group("Text")
      ->type_name("N")
      ->transform(integerWithin(0, std::numeric_limits<int32_t>::max()));
  addDeviceOptions(app, options.device);
}

Exit runGenerate(std::vector<std::byte> artifact, const GenerateOptions &options) {
  Program program(std::move(artifact), openDevice, {.device = options.device});
  Predict predict(program);
  Weights weights = loadWeights(program, checkpointFolder(options.checkpoint));

  // The step's input may have another name than predict's; a language model has one.
  const Manifest &manifest = *weights.manifest(); // a folder has one
  std::string name = predict.input->name()->str();
  if (!manifest.data.contains(name) && manifest.data.size() == 1)
    name = manifest.data.begin()->first;
  Codec codec(manifest, name);
  std::vector<int32_t> tokens =
      options.prompt ? codec.encode(*options.prompt) : std::vector<int32_t>{codec.start()};
  if (tokens.empty())
    throw Failure(Exit::usage, "--prompt: is empty; give at least one character");
  for (int32_t token : tokens)
    if (token < 0 || token >= predict.vocab)
      throw Failure(Exit::usage,
                    concat("--prompt: the token ", token, " is not in [0, ", predict.vocab, ")"));
  for (int32_t token : tokens)
    std::cout << codec.decode(token);
  std::cout << std::flush;

  size_t usable = codec.usable(predict.vocab);
  std::vector<int32_t> window(predict.context);
  std::vector<float> logits(predict.context * predict.vocab);
  for (int64_t drawn = 0; drawn < options.tokens && std::cout; ++drawn) {
    int64_t length = std::min<int64_t>(tokens.size(), predict.context);
    // The model is causal: what stands behind the last token does not change what follows it.
    std::fill(window.begin(), window.end(), 0);
    std::copy(tokens.end() - length, tokens.end(), window.begin());
    program.write(predict.entry, *predict.input, std::as_bytes(std::span(window)));
    program.run(predict.entry);
    program.read(predict.entry, *predict.output, std::as_writable_bytes(std::span(logits)));
    std::span<const float> row(logits.data() + (length - 1) * predict.vocab, usable);
    for (float logit : row)
      if (!std::isfinite(logit))
        throw Failure(Exit::numeric, "the model's logits are not finite");
    uint64_t bits = randomBits(options.seed, Draw::sample, 0, drawn);
    tokens.push_back(
        static_cast<int32_t>(sampleLogits(row, options.temperature, options.topK, bits)));
    std::cout << codec.decode(tokens.back()) << std::flush;
  }
  std::cout << std::endl;
  return Exit::ok;
}

} // namespace weir
