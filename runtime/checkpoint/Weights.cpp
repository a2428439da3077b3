//===- Weights.cpp - Trained tensors, wherever they are -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Weights.h"
#include "runtime/checkpoint/Fingerprint.h"
#include "runtime/checkpoint/Tensors.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include <algorithm>
#include <cassert>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

namespace weir {
namespace {

std::string nameAndShape(const StoredTensor &tensor) {
  return concat(shownName(tensor.name), " ", describe(tensor));
}

bool isWeight(const TensorView &variable) {
  return variable.role == artifact::Role::parameter || variable.role == artifact::Role::state;
}

/// What PyTorch's modules register as buffers: no parameter is of whole numbers or truth values,
/// and these names are those of masks and tables in published models (GPT-2's `attn.bias`, Llama's
/// `rotary_emb.inv_freq`).
bool isBuffer(const StoredTensor &tensor) {
  const ElementRow *row = findSafetensors(tensor.dtype);
  if (row && row->kind != ElementKind::real && row->kind != ElementKind::complex)
    return true;
  for (std::string_view name : {"num_batches_tracked", "position_ids", "masked_bias", "inv_freq",
                                "attn_mask", "attention_mask", "causal_mask"})
    if (tensor.name == name || tensor.name.ends_with("." + std::string(name)))
      return true;
  bool isMask = tensor.name.ends_with(".bias") || tensor.name.ends_with(".mask");
  return isMask && tensor.shape.size() == 4 && tensor.shape[0] == 1 && tensor.shape[1] == 1 &&
         tensor.shape[2] == tensor.shape[3];
}

/// Whether the model has a weight of that name.
std::set<std::string_view> namesOfWeights(const std::vector<TensorView> &variables) {
  std::set<std::string_view> names;
  for (const TensorView &variable : variables)
    if (isWeight(variable))
      names.insert(variable.name);
  return names;
}

} // namespace

static const char *const aFile = "a file", *const aCheckpoint = "a checkpoint";

std::string Weights::kindOf(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return aFile;
  return std::filesystem::exists(path + "/manifest.json", error) ? aCheckpoint
                                                                 : "the directory of a run";
}

std::string Weights::content() const {
  if (description) {
    std::string text = description->write();
    return concat("a checkpoint of step ", description->step, ", content ",
                  hexText(hashOf(text.data(), text.size())));
  }
  return concat(files[0].bytes().size(), " bytes, content ", fingerprint(files[0].bytes()));
}

Weights::Weights(const std::string &path, const Say &say, const Ranks &ranks) : place(path) {
  const std::string kind = kindOf(path);
  if (kind == aFile) {
    files.emplace_back(path, Exit::data);
    return;
  }
  std::optional<Checkpoint> checkpoint;
  if (kind == aCheckpoint) {
    checkpoint = CheckpointStore::open(path, ranks);
  } else {
    Disk disk;
    checkpoint = CheckpointStore(path, 1, disk, ranks).loadNewest(say);
  }
  if (!checkpoint) {
    const std::string file = path + "/model.safetensors";
    std::error_code error;
    throw Failure(Exit::storage,
                  concat(path,
                         ": contains no checkpoint; expected a checkpoint, the directory of a run, "
                         "or a safetensors file",
                         std::filesystem::exists(file, error) ? concat(", such as ", file) : ""));
  }
  place = checkpoint->path;
  description = std::move(checkpoint->manifest);
  files.push_back(std::move(checkpoint->model));
  files.push_back(std::move(checkpoint->state));
}

const StoredTensor *Weights::find(const TensorView &variable) const {
  // A file has parameters and states side by side.
  bool apart = files.size() > 1 && variable.role != artifact::Role::parameter;
  const auto &tensors = files[apart].tensors();
  auto found = tensors.find(variable.name);
  return found == tensors.end() ? nullptr : &found->second;
}

void Weights::requireAll(const std::vector<TensorView> &variables, bool states) const {
  std::vector<StoredTensor> parameters = storedParameters(variables), ofBlocks;
  for (const TensorView &variable : variables)
    if (variable.role == artifact::Role::state)
      ofBlocks.push_back(stored(variable));
  std::vector<std::string> lines;
  std::map<std::string, StoredTensor> tensors = files[0].tensors();
  if (files.size() == 1) {
    std::set<std::string_view> names = namesOfWeights(variables);
    std::erase_if(tensors, [&](const auto &entry) {
      return isBuffer(entry.second) && !names.contains(entry.first);
    });
  }
  if (files.size() == 1 && states) {
    parameters.insert(parameters.end(), ofBlocks.begin(), ofBlocks.end());
    lines = differences(parameters, tensors);
  } else {
    lines = differences(parameters, tensors, ofBlocks);
  }
  if (files.size() > 1) {
    std::map<std::string, StoredTensor> found;
    for (const StoredTensor &state : ofBlocks)
      if (auto tensor = files[1].tensors().find(state.name); tensor != files[1].tensors().end())
        found.insert(*tensor);
    for (std::string &line :
         states ? differences(ofBlocks, found) : differences({}, found, ofBlocks))
      lines.push_back(std::move(line));
  }
  if (lines.empty())
    return;
  std::string whose = description ? concat("is a checkpoint of another model (",
                                           shownName(description->model), "):\n  ")
                                  : std::string("does not contain this model's weights:\n  ");
  bool types =
      std::ranges::any_of(lines, [](const std::string &line) { return line.starts_with("type "); });
  bool onlyNames = std::ranges::none_of(lines, [](const std::string &line) {
    return line.starts_with("type ") || line.starts_with("shape ");
  });
  throw Failure(
      Exit::model,
      concat(place, ": ", whose, joinFew(lines, "\n  "),
             types
                 ? "\nWeir reads weights of type F64, F32, F16 and BF16: save them as one of these"
                 : "",
             !description && onlyNames
                 ? "\n--init-partial loads the tensors that both have, and initializes the others"
                 : ""));
}

std::vector<std::string> Weights::buffers(const std::vector<TensorView> &variables) const {
  std::vector<std::string> found;
  std::set<std::string_view> names = namesOfWeights(variables);
  for (const auto &[name, tensor] : files[0].tensors())
    if (files.size() == 1 && isBuffer(tensor) && !names.contains(name))
      found.push_back(nameAndShape(tensor));
  return found;
}

std::vector<std::string> Weights::absent(const std::vector<TensorView> &variables) const {
  std::vector<std::string> result;
  for (const TensorView &variable : variables)
    if (isWeight(variable) && !find(variable))
      result.push_back(nameAndShape(stored(variable)));
  return result;
}

std::string Weights::rounded(const std::vector<TensorView> &variables) const {
  std::map<std::pair<std::string, Element>, size_t> counts; // by what is there, and what is kept
  for (const TensorView &variable : variables)
    if (const StoredTensor *found = isWeight(variable) ? find(variable) : nullptr)
      if (isRounded(*found, stored(variable)))
        ++counts[{nameOf(findSafetensors(found->dtype)->element), variable.element}];
  std::vector<std::string> parts;
  for (const auto &[types, count] : counts)
    parts.push_back(concat(count, count == 1 ? " tensor is" : " tensors are", " of ", types.first,
                           (count == 1 ? ", and Weir rounds it to " : ", and Weir rounds them to "),
                           nameOf(types.second),
                           types.second == Element::bf16 ? " (--param-dtype bf16)" : ""));
  return parts.empty() ? "" : concat(place, ": ", join(parts, "; "));
}

Weights::Overlap Weights::overlap(const std::vector<TensorView> &variables) const {
  Overlap result;
  result.kept = absent(variables);
  std::vector<std::string> missing, mismatches;
  std::set<std::string> used;
  for (const TensorView &variable : variables) {
    if (!isWeight(variable))
      continue;
    StoredTensor own = stored(variable);
    const StoredTensor *found = find(variable);
    if (!found) {
      missing.push_back(variable.name);
      continue;
    }
    used.insert(variable.name);
    if (std::string what = mismatch(own, *found); !what.empty())
      mismatches.push_back(concat(what, ": ", shownName(variable.name), " is ", describe(*found),
                                  " in the file, ", describe(own), " in the model"));
    else
      result.taken.push_back(nameAndShape(own));
  }
  // Of a checkpoint's states only those of blocks could be meant; its optimizer's begin anew.
  int hints = mostHints;
  for (const auto &[name, tensor] : files[0].tensors())
    if (!used.contains(name))
      result.unused.push_back(nameAndShape(tensor) +
                              (hints-- > 0 ? didYouMean(name, missing) : ""));
  if (!mismatches.empty())
    throw Failure(Exit::model,
                  concat(place, ": these tensors do not match the model's:\n  ",
                         joinFew(mismatches, "\n  "),
                         "\nconvert other types to F32, F64, F16 or BF16; for other shapes, rename "
                         "the model's parameters, or remove the tensors from the file"));
  if (result.taken.empty())
    throw Failure(Exit::model, concat(place, ": contains none of the model's tensors; it has\n  ",
                                      joinFew(result.unused, "\n  "), "\nand the model has\n  ",
                                      joinFew(result.kept, "\n  ")));
  return result;
}

void Weights::load(const std::vector<TensorView> &variables) const {
  for (const TensorView &variable : variables)
    if (const StoredTensor *found = isWeight(variable) ? find(variable) : nullptr)
      copy(*found, variable);
  for (const SafeTensors &file : files)
    file.requireIntact();
}

void Weights::loadRun(const std::vector<TensorView> &variables) const {
  if (!description)
    return;
  for (const TensorView &variable : variables)
    if (variable.role == artifact::Role::run)
      if (const StoredTensor *found = find(variable); found && found->size == variable.size)
        variable.write(0, {found->data, found->size});
}

} // namespace weir
