//===- Attributes.cpp - Each attribute weir.* and what it has to be --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
// One row for each attribute named weir.*: where it may stand and what it is. Anything else is an
// error, so that no pass meets an attribute that it cannot read. What the attributes mean stands
// where their names are declared (Names.h and the headers that it names).
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Attributes.h"
#include "ir/weir/Collectives.h"
#include "ir/weir/Names.h"
#include "ir/weir/Phase.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/requests/Recompute.h"
#include "ir/weir/transfer/Transfer.h"
#include "support/precision/LossScale.h"
#include "support/precision/Precision.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace weir {
namespace {

/// Whether an attribute is of a kind.
using Kind = bool (*)(Attribute);

bool isUnit(Attribute attribute) { return isa<UnitAttr>(attribute); }
bool isText(Attribute attribute) { return isa<StringAttr>(attribute); }
bool isFloat(Attribute attribute) { return isa<FloatAttr>(attribute); }
bool isLocation(Attribute attribute) { return isa<LocationAttr>(attribute); }
bool isDictionary(Attribute attribute) { return isa<DictionaryAttr>(attribute); }
bool isMesh(Attribute attribute) { return isa<MeshAttr>(attribute); }
bool isSharding(Attribute attribute) { return isa<ShardingAttr>(attribute); }
bool isStrategy(Attribute attribute) { return isa<StrategyAttr>(attribute); }
bool isPhase(Attribute attribute) { return isa<PhaseAttr>(attribute); }
bool isPhases(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, isPhase);
}
bool isIntegers(Attribute attribute) { return isa<DenseI64ArrayAttr>(attribute); }
bool isInteger(Attribute attribute) { return isa<IntegerAttr>(attribute); }
bool isNatural(Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getValue().isNonNegative();
}
bool isPositive(Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getValue().isStrictlyPositive();
}
bool isPrecision(Attribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute);
  return text && precisionNamed(text.getValue());
}
bool isLossScale(Attribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute);
  return text && lossScaleNamed(text.getValue());
}
bool isPart(Attribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute);
  return text && llvm::is_contained({"scalar", "sum", "count", "tensor"}, text.getValue());
}
bool isTexts(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, isText);
}
/// A unit stands for one that is not known.
bool isShardings(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array &&
         llvm::all_of(array, [](Attribute one) { return isa<ShardingAttr, UnitAttr>(one); });
}

bool isAs(Attribute attribute, std::initializer_list<Kind> kinds) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && array.size() == kinds.size() &&
         llvm::all_of(llvm::zip_equal(array, kinds),
                      [](auto one) { return std::get<1>(one)(std::get<0>(one)); });
}
bool isBool(Attribute attribute) { return isa<BoolAttr>(attribute); }
bool isType(Attribute attribute) { return isa<TypeAttr>(attribute); }

/// Whether it is an array of arrays that have attributes of these kinds.
template <Kind... kinds> bool isRecords(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, [](Attribute one) { return isAs(one, {kinds...}); });
}
/// [seconds, scratch, least, tensors] (SavedActivationsReport.h)
bool isKeeping(Attribute attribute) {
  return isAs(attribute,
              {isFloat, isInteger, isInteger,
               isRecords<isLocation, isText, isInteger, isInteger, isFloat, isText, isText>});
}
/// {entry = [[location, FLOPs] ..]} (Contracting.h)
bool isFlops(Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  return entries && llvm::all_of(entries, [](NamedAttribute one) {
           return isRecords<isLocation, isFloat>(one.getValue());
         });
}

using enum AttributeRow::Place;

constexpr AttributeRow attributeTable[] = {
    // The model and its recipe.
    {modelAttrName, module, isText, "the name of a model"},
    {configsAttrName, module, isDictionary, "configs by name"},
    {tiedAttrName, module, isDictionary, "entries whose rows are tied"},
    {batchAttrName, module, isPositive, "a number of rows"},
    {accumulateAttrName, module, isPositive, "a number of microbatches"},
    {stepsAttrName, module, isNatural, "a number of steps"},
    {epochsAttrName, module, isNatural, "a number of epochs"},
    {warmupAttrName, module, isNatural, "a number of steps"},
    {clipsAttrName, module, isUnit, "a unit"},
    {trainingDigestAttrName, module, isInteger, "a digest"},
    {predictDigestAttrName, module, isInteger, "a digest"},
    {inputAttrName, argument, isText, "the name of an input"},
    {limitAttrName, argument, isNatural, "a number that integers stay below"},
    {limitConfigAttrName, argument, isText, "the name of a config"},
    {outputAttrName, result, isText, "the name of an output"},
    {partAttrName, result, isPart, "scalar, sum, count or tensor"},
    {termAttrName, result, isNatural, "the number of a term"},
    {weightAttrName, result, isFloat, "the weight of a term"},
    // Precision.
    {lossScaleAttrName, module, isLossScale, "none, dynamic, dynamic:N or N"},
    {choicesAttrName, module, isRecords<isLocation, isText, isInteger, isType, isType, isText>,
     "records of a location, an op, a number, two types and a reason"},
    {pinAttrName, op, isPrecision, "f32, bf16, f16, f8, f8_block or tf32"},
    {pinnedAtAttrName, op, isLocation, "a location"},
    {factorsAttrName, op, isPrecision, "f32, bf16, f16, f8, f8_block or tf32"},
    {partsAttrName, op, isUnit, "a unit"},
    {unscalesAttrName, op, isUnit, "a unit"},
    // The strategy, the mesh and shardings.
    {strategyAttrName, module, isStrategy, "a #weir.strategy"},
    {meshAttrName, module, isMesh, "a #weir.mesh"},
    {rankAttrName, module, isNatural, "the number of a rank"},
    {equalShardsAttrName, module, isUnit, "a unit"},
    {shardsAttrName, module, isRecords<isText, isText, isInteger, isLocation>,
     "records of a parameter, an axis, a dimension and a location"},
    {placementsAttrName, module, isRecords<isLocation, isText, isBool, isInteger, isText, isText>,
     "records of a location, a name, whether it is a variable, a number, a layout and a reason"},
    {standsForAttrName, module, isDictionary, "numbers of blocks by pattern"},
    {shardingAttrName, argument | op, isSharding, "a #weir.sharding"},
    {factorShardingAttrName, op, isSharding, "a #weir.sharding"},
    {ringShardingAttrName, op, isSharding, "a #weir.sharding"},
    {bodyShardingsAttrName, op, isShardings, "an array of #weir.sharding"},
    {sumShardingsAttrName, op, isShardings, "an array of #weir.sharding"},
    {resultShardingsAttrName, op, isShardings, "an array of #weir.sharding"},
    // The phase of a step.
    {phaseAttrName, op, isPhase, "a #weir.phase"},
    {resultPhasesAttrName, op, isPhases, "an array of #weir.phase"},
    // Pipelines and communication.
    {stageAttrName, op, isNatural, "the number of a stage"},
    {sectionAttrName, op, isNatural, "the number of a section"},
    {orderAttrName, op, isIntegers, "pairs of a section and a microbatch, array<i64: ..>"},
    {sampledAttrName, op, isPositive, "a number of microbatches"},
    {numberAttrName, op, isPositive, "the number of a collective"},
    // Memory.
    {recomputeAttrName, module, isTexts, "the paths of blocks"},
    {keepingAttrName, module, isKeeping, "what a step keeps"},
    {againAttrName, op, isUnit, "a unit"},
    {modelFlopsAttrName, module, isFlops, "FLOPs by entry and location"},
    // Loops of kernels (codegen).
    {"weir.unroll", op, isUnit, "a unit"},
    {"weir.lanes", op, isUnit, "a unit"},
    {"weir.nonempty", op, isUnit, "a unit"},
    {"weir.constant", op, isUnit, "a unit"},
    {randomKeyWordName, op, isIntegers, "the place of a key's word, array<i64: ..>"},
};

StringRef nameOf(unsigned place) {
  return place == module     ? "a module"
         : place == argument ? "an argument"
         : place == result   ? "a result"
                             : "an op";
}

/// Every op is verified after every pass, so a row is found by hash.
const AttributeRow *rowNamed(StringRef name) {
  static const llvm::StringMap<const AttributeRow *> rows = [] {
    llvm::StringMap<const AttributeRow *> all;
    for (const AttributeRow &row : attributeTable)
      all[row.name] = &row;
    return all;
  }();
  return rows.lookup(name);
}

} // namespace

ArrayRef<AttributeRow> attributeRows() { return attributeTable; }

LogicalResult verifySharding(Operation *at, StringRef name, ShardingAttr sharding,
                             RankedTensorType type) {
  auto module = at->getParentOfType<ModuleOp>();
  const Mesh *mesh = module ? meshOf(module) : nullptr;
  if (mesh && !sharding.getValue().on(*mesh))
    return at->emitError() << name << " = " << sharding << " is no sharding on the mesh "
                           << mesh->text();
  const size_t dimensions = sharding.getValue().dimensions.size();
  if (type && int64_t(dimensions) != type.getRank())
    return at->emitError() << name << " = " << sharding << " has " << dimensions
                           << " dimensions, and the tensor " << type.getRank();
  return success();
}

/// As many as the body has arguments or the loop has sums, each known; or as the op has results.
static LogicalResult verifyShardings(Operation *at, StringRef name, ArrayAttr shardings) {
  auto loop = dyn_cast<MicrobatchesOp>(at);
  const bool isOfLoop = name != resultShardingsAttrName;
  if (isOfLoop && !loop)
    return at->emitError() << name << " belongs to weir.microbatches";
  const size_t count = !isOfLoop                      ? size_t(at->getNumResults())
                       : name == sumShardingsAttrName ? size_t(loop.numSums())
                                                      : loop.getBody().front().getNumArguments();
  if (shardings.size() != count)
    return at->emitError() << name << " has " << shardings.size() << " shardings: expected "
                           << count;
  for (Attribute one : shardings) {
    auto sharding = dyn_cast<ShardingAttr>(one);
    if (isOfLoop && !sharding)
      return at->emitError() << name << " does not say a sharding of each "
                             << (name == sumShardingsAttrName ? "sum" : "argument");
    if (sharding && failed(verifySharding(at, name, sharding, nullptr)))
      return failure();
  }
  return success();
}

/// Keys of [batch, heads, positions, ..], whose positions are sharded.
static bool isOfRing(ShardingAttr sharding) {
  constexpr size_t positions = 2;
  const auto &dimensions = sharding.getValue().dimensions;
  return dimensions.size() > positions && !dimensions[positions].back().axes.empty();
}

/// `type` is the variable's or the argument's.
static LogicalResult verifyAttribute(Operation *at, NamedAttribute attribute,
                                     AttributeRow::Place place, Type type) {
  const StringRef name = attribute.getName();
  const Attribute value = attribute.getValue();
  const AttributeRow *row = rowNamed(name);
  if (!row)
    return at->emitError() << name << " is no attribute of the dialect (ir/weir/Attributes.cpp)";
  if (!(row->places & place))
    return at->emitError() << name << " does not belong to " << nameOf(place);
  if (!row->is(value))
    return at->emitError() << name << " = " << value << ": expected " << row->expected;
  if (auto sharding = dyn_cast<ShardingAttr>(value);
      name == ringShardingAttrName && !isOfRing(sharding))
    return at->emitError() << name << " = " << value << " does not shard the positions of keys";
  if (auto sharding = dyn_cast<ShardingAttr>(value))
    return verifySharding(at, name, sharding, dyn_cast_or_null<RankedTensorType>(type));
  if (row->is == isShardings)
    return verifyShardings(at, name, cast<ArrayAttr>(value));
  if (const Mesh *mesh = meshOf(at); mesh && name == rankAttrName)
    return verifyRank(at, cast<IntegerAttr>(value).getInt(), *mesh);
  if (row->is == isPhases && cast<ArrayAttr>(value).size() != at->getNumResults())
    return at->emitError() << name << " has " << cast<ArrayAttr>(value).size()
                           << " phases: expected " << at->getNumResults();
  return success();
}

LogicalResult WeirDialect::verifyOperationAttribute(Operation *at, NamedAttribute attribute) {
  auto variable = dyn_cast<VariableOp>(at);
  return verifyAttribute(at, attribute, isa<ModuleOp>(at) ? module : op,
                         variable ? variable.getType() : Type());
}

LogicalResult WeirDialect::verifyRegionArgAttribute(Operation *at, unsigned region, unsigned number,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(at);
  return verifyAttribute(at, attribute, argument,
                         function ? function.getArgumentTypes()[number] : Type());
}

LogicalResult WeirDialect::verifyRegionResultAttribute(Operation *at, unsigned region,
                                                       unsigned number, NamedAttribute attribute) {
  return verifyAttribute(at, attribute, result, Type());
}

} // namespace weir
