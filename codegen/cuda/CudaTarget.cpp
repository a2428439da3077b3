//===- CudaTarget.cpp - Planning and compiling kernels for GPUs -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/CudaTarget.h"
#include "codegen/NamedKernel.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/structure/Structure.h"

#include "artifact/CudaCode_generated.h"
#include "codegen/cuda/DeviceHeaders.h"
#include "codegen/cuda/Emission.h"
#include "codegen/cuda/Functions.h"
#include "codegen/cuda/Library.h"
#include "codegen/cuda/Print.h"
#include "codegen/kernel/Expand.h"
#include "codegen/kernel/Families.h"
#include "codegen/kernel/SumTrees.h"
#include "ir/weir/Locations.h"
#include "ir/weir/interfaces/Decompose.h"
#include "ir/weir/kernel/KernelStructure.h"
#include "runtime/cuda/Compiler.h"
#include "support/Error.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

#include <limits>

using namespace mlir;

namespace weir {
namespace {

/// A kernel's functions, one for each launch of its plan, and each for one of its copies.
struct EmittedKernel {
  OwningOpRef<KernelOp> kernel;
  OwningOpRef<ModuleOp> code;
  KernelPlan plan, ofCopy;
  gpu::KernelText text;
  SmallVector<Knob> knobs;
};

LogicalResult emitShape(gpu::Emission &emission) {
  switch (emission.kernel.getShape()) {
  case KernelShape::map:
    return gpu::turnsOver(emission.kernel) ? gpu::emitTranspose(emission) : gpu::emitMap(emission);
  case KernelShape::row:
    return gpu::emitRows(emission);
  case KernelShape::attention:
    return gpu::emitAttention(emission);
  case KernelShape::call:
    return gpu::emitConvolution(emission);
  case KernelShape::nest:
    return gpu::emitNest(emission);
  case KernelShape::segment:
    return gpu::emitSegment(emission);
  case KernelShape::product:
    return gpu::emitProduct(emission);
  }
  llvm_unreachable("a shape without a schedule");
}

LogicalResult requireServedTypes(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    for (StringRef name : {"compute", "accumulate"})
      if (auto work = op.getAttrOfType<TypeAttr>(name); work && !work.getValue().isF32())
        return op.emitOpError() << "is to " << name << " in " << work.getValue()
                                << ": kernels work in f32 alone";
  return success();
}

/// Indices are `int`; a block's last threads may be past the end.
constexpr int64_t mostIndexedByInt = std::numeric_limits<int>::max() - (1 << 20);

class CudaTarget final : public Target {
public:
  explicit CudaTarget(Architecture architecture) : architecture(std::move(architecture)) {}

  StringRef requirement() const override { return architecture.name; }
  int64_t mostIndexed() const override { return mostIndexedByInt; }
  plan::CodeFormat codeFormat() const override { return plan::CodeFormat::cuda; }
  std::string declines(KernelShape shape, Operation *root) const override {
    switch (shape) {
    case KernelShape::attention:
      return gpu::attentionDeclines(root);
    case KernelShape::product:
      return isLibraryCall(root) ? "" : gpu::productDeclines(root);
    case KernelShape::call:
      return gpu::isConvolution(root) ? gpu::convolutionDeclines(root) : "no kernel of its own";
    default:
      return "";
    }
  }
  Type factorType(Type low) const override {
    // bf16 holds all numbers of eight bits.
    return storedBytes(low) == 1 ? Type(BFloat16Type::get(low.getContext())) : low;
  }
  bool multiplies(MatmulOp product, Type lhs, Type rhs) const override {
    return architecture.libraries && architecture.multipliesF8() &&
           gpu::libraryDeclinesF8(product, lhs, rhs).empty();
  }
  bool takes(Operation *root, Epilogue epilogue) const override {
    if (isLibraryCall(root))
      return gpu::libraryTakes(root, epilogue);
    return !epilogue.scaled && (isa<MatmulOp>(root) || gpu::isConvolution(root));
  }
  bool isCall(KernelOp kernel) const override {
    return kernel.getShape() == KernelShape::product &&
           isLibraryCall(*kernel.getBody().getOps<MatmulOp>().begin());
  }
  bool roundsFactors() const override { return true; }
  const DeviceRates &rates() const override { return *architecture.rates; }
  bool machineFailed() const override { return lacking; }
  bool tuningFailed() const override { return refused; }
  bool reducesInSteps() const override { return true; }
  bool stagesPorts() const override { return true; }
  int64_t mostCopies(KernelOp kernel) const override;
  FailureOr<KernelPlan> planKernel(KernelOp kernel) override {
    FailureOr<EmittedKernel *> made = emittedOf(kernel);
    if (failed(made))
      return failure();
    return (*made)->plan;
  }
  FailureOr<SmallVector<Knob>> knobsOf(KernelOp kernel) override {
    FailureOr<EmittedKernel *> made = emittedOf(kernel);
    if (failed(made))
      return failure();
    return (*made)->knobs;
  }
  std::unique_ptr<Target> forMeasuring(Tuning chosen) const override {
    auto target = std::make_unique<CudaTarget>(architecture);
    target->architecture.libraries = false;
    target->architecture.version = 0;
    target->tuning = std::move(chosen);
    return target;
  }
  bool tune(Tuning chosen) override {
    tuning = std::move(chosen);
    emitted.clear();
    return true;
  }
  FailureOr<int64_t> planCall(OpBuilder &builder, KernelOp kernel,
                              const CallBuffers &buffers) override {
    if (failed(requireServedTypes(kernel)))
      return failure();
    return gpu::emitLibraryCall(builder, kernel, buffers);
  }
  FailureOr<std::vector<char>> compile(ArrayRef<NamedKernel> kernels, DumpKernels dump,
                                       TimingScope time) override;

private:
  bool isLibraryCall(Operation *root) const {
    return architecture.libraries && gpu::libraryDeclines(root, architecture).empty();
  }
  FailureOr<EmittedKernel *> emittedOf(KernelOp kernel);
  FailureOr<std::unique_ptr<artifact::CudaUnitT>>
  unitOf(EmittedKernel &made, const KernelFamily &family, KernelOp first);
  LogicalResult addMachineCode(artifact::CudaCodeT &code, Location loc);

  const Settings *settingsOf(KernelOp kernel) const {
    if (tuning.kernels.empty())
      return nullptr;
    auto found = tuning.kernels.find(digestOf(kernel));
    return found == tuning.kernels.end() ? nullptr : &found->second.settings;
  }

  Architecture architecture;
  Tuning tuning;
  bool lacking = false, refused = false;
  /// What is planned is compiled later, from the same functions.
  llvm::DenseMap<Operation *, std::unique_ptr<EmittedKernel>, KernelStructure> emitted;
};

LogicalResult requireIndexable(KernelOp kernel) {
  auto check = [](Location loc, TypeRange types) -> LogicalResult {
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          tensor && tensor.getNumElements() > mostIndexedByInt)
        return emitError(loc) << "a tensor of " << tensor.getNumElements()
                              << " elements: kernels for GPUs index at most " << mostIndexedByInt
                              << "; make the batch or the model smaller (--set)";
    return success();
  };
  WalkResult walked = kernel.walk([&](Operation *op) {
    if (failed(check(op->getLoc(), op->getOperandTypes())) ||
        failed(check(op->getLoc(), op->getResultTypes())))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// What every driver passes to a kernel, and a workspace is one of them.
constexpr int64_t mostPointers = 4096 / 8 - 1;

int64_t CudaTarget::mostCopies(KernelOp kernel) const {
  bool isScalar = kernel.getShape() == KernelShape::map || kernel.getShape() == KernelShape::row;
  if (!isScalar || !randomKeys(kernel).empty() || gpu::turnsOver(kernel))
    return 1;
  return mostPointers / (kernel.getNumOperands() + kernel.getNumResults());
}

/// Each copy has workspace of its own, from such a multiple of bytes on.
constexpr int64_t workspaceAlignment = 256;

/// Copies are side by side in a launch's grid.
KernelPlan repeated(KernelPlan plan, KernelOp kernel) {
  int64_t copies = kernel.getCopies();
  if (copies == 1)
    return plan;
  for (LaunchPlan &launch : plan.launches)
    launch.tasks *= copies;
  plan.workspace = llvm::alignTo(plan.workspace, workspaceAlignment) * copies;
  plan.recomputedFlops *= copies;
  auto ofFirst = std::move(plan.inPlace);
  plan.inPlace.clear();
  for (int64_t copy = 0; copy < copies; ++copy)
    for (auto [result, input] : ofFirst)
      plan.inPlace.push_back({result + copy * kernel.getNumResults() / copies,
                              input + copy * kernel.getNumOperands() / copies});
  return plan;
}

/// A kernel is emitted once, whatever the keys of its random numbers.
FailureOr<EmittedKernel *> CudaTarget::emittedOf(KernelOp kernel) {
  OwningOpRef<KernelOp> any = withPlacesAsKeys(kernel);
  if (auto known = emitted.find(*any); known != emitted.end())
    return known->second.get();
  if (failed(requireServedTypes(kernel)))
    return failure();
  auto made = std::make_unique<EmittedKernel>();
  // Composites are taken apart in a copy: what is compared is the kernel's meaning.
  OwningOpRef<KernelOp> copy = firstCopy(*any);
  made->kernel = std::move(any);
  KernelShape shape = kernel.getShape();
  if (shape == KernelShape::map || shape == KernelShape::row) {
    RewritePatternSet patterns(kernel.getContext());
    populateDecomposePatterns(patterns);
    (void)applyPatternsGreedily(copy->getBody(), std::move(patterns));
    IRRewriter rewriter(kernel.getContext());
    DominanceInfo dominance(*copy);
    eliminateCommonSubExpressions(rewriter, dominance, *copy);
  }
  if (failed(requireIndexable(*copy)))
    return failure();
  made->code = ModuleOp::create(kernel.getLoc());
  gpu::Emission emission(*copy, architecture, *made->code, settingsOf(kernel));
  if (failed(emitShape(emission)))
    return failure();
  if (failed(emission.requireServed())) {
    refused = true;
    return failure();
  }
  made->knobs = std::move(emission.knobs);
  emission.plan.inPlace = emission.places.find(*copy);
  made->ofCopy = emission.plan;
  made->plan = repeated(emission.plan, kernel);
  made->text = std::move(emission.text);
  made->kernel->getOperation()->setOperands({});
  Operation *key = *made->kernel;
  return emitted.try_emplace(key, std::move(made)).first->second.get();
}

LogicalResult simplify(ModuleOp module) {
  sumInTrees(module);
  reducePowers(module);
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  if (failed(passes.run(module)))
    return failure();
  narrowByF32(module);
  return success();
}

/// The ops of a kernel with their lines of the model, as comments.
std::string commentOf(KernelOp kernel) {
  std::string text;
  std::string last;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    std::string at = describe(op.getLoc());
    // A file may be called anything; what ends a line would end the comment.
    std::replace_if(at.begin(), at.end(), [](unsigned char c) { return c < ' '; }, '?');
    if (at == last) {
      text += ", " + op.getName().stripDialect().str();
      continue;
    }
    text += (text.empty() ? "// " : "\n// ") + at + ": " + op.getName().stripDialect().str();
    last = at;
  }
  return text + "\n";
}

/// What a launch of the kernel's passes, and where its threads are.
FunctionText textOf(KernelOp kernel, bool workspace) {
  FunctionText text;
  auto add = [&](Type type, const std::string &name, bool isInput) {
    Type element = cast<RankedTensorType>(type).getElementType();
    std::string c = element.isInteger(1) ? "unsigned char" : cudaType(element);
    text.arguments.push_back({(isInput ? "const " : "") + c + " *", name});
  };
  for (auto [i, type] : llvm::enumerate(kernel.getBody().front().getArgumentTypes()))
    add(type, "in" + std::to_string(i), true);
  for (auto [i, type] : llvm::enumerate(kernel->getResultTypes()))
    add(type, "out" + std::to_string(i), false);
  text.arguments.push_back({"unsigned char *", "workspace", workspace});
  text.arguments.push_back({"int", "block", false});
  text.arguments.push_back({"int", "thread", false});
  text.prologue = "  const int block = blockIdx.x, thread = threadIdx.x;\n";
  return text;
}

/// `bounds`: what the compiler is told beside the number of threads.
std::string headOf(const KernelFamily::Member &member, const LaunchPlan &launch,
                   const std::string &bounds = "") {
  return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(launch.threads) +
         bounds + ") " + member.symbol + launch.suffix;
}

/// A launch of several copies: a function for one of them, and what calls it. Its one argument is
/// all pointers, side by side as they are passed: which copy's are wanted is an index into the
/// memory of constants that arguments lie in, where to select among as many values takes longer
/// than the work.
FailureOr<std::string> printCopies(func::FuncOp function, const FunctionText &text,
                                   const EmittedKernel &made, size_t launch, KernelOp kernel,
                                   const KernelFamily::Member &member,
                                   std::set<std::string> &calls) {
  const LaunchPlan &ofCopy = made.ofCopy.launches[launch];
  std::string name = member.symbol + "_copy" + ofCopy.suffix;
  bool hasWorkspace = made.plan.workspace > 0;
  FunctionText own = textOf(*firstCopy(kernel), hasWorkspace);
  own.head = "static __device__ __forceinline__ void " + name;
  own.arguments[own.arguments.size() - 2].isPassed = true;
  own.prologue = "  const int thread = threadIdx.x;\n";
  FailureOr<std::string> printed = printFunction(function, own, calls);
  if (failed(printed))
    return failure();
  int64_t copies = kernel.getCopies();
  int64_t inputs = kernel.getBody().getNumArguments() / copies;
  int64_t results = kernel.getNumResults() / copies;
  std::string passed = member.symbol + "_operands" + ofCopy.suffix;
  std::string members, call;
  auto addSide = [&](StringRef side, ArrayRef<FunctionText::Argument> arguments) {
    if (arguments.empty())
      return;
    members += "  struct {\n";
    for (const FunctionText::Argument &argument : arguments) {
      members += "    " + argument.type + argument.name + ";\n";
      call += "operands." + side.str() + "[copy]." + argument.name + ", ";
    }
    members += "  } " + side.str() + "[" + std::to_string(copies) + "];\n";
  };
  ArrayRef<FunctionText::Argument> all = own.arguments;
  addSide("in", all.take_front(inputs));
  addSide("out", all.slice(inputs, results));
  if (hasWorkspace) {
    members += "  unsigned char *workspace;\n";
    call += "operands.workspace + copy * " + std::to_string(made.plan.workspace / copies) + ", ";
  }
  FunctionText outer = text;
  outer.head = headOf(member, made.plan.launches[launch]);
  outer.arguments = {{"const __grid_constant__ " + passed, "operands"}};
  std::string blocks = std::to_string(ofCopy.tasks);
  return "struct " + passed + " {\n" + members + "};\n\n" + *printed + "\n" + outer.signature() +
         " {\n  const int copy = blockIdx.x / " + blocks + ";\n  " + name + "(" + call +
         "blockIdx.x % " + blocks + ");\n}\n";
}

/// The functions of one launch for each member of a family.
FailureOr<std::string> printLaunch(func::FuncOp function, FunctionText text,
                                   const KernelFamily &family, const LaunchPlan &launch,
                                   std::set<std::string> &calls) {
  FunctionText own = text;
  own.head = headOf(family.members.front(), launch);
  if (!family.isShared())
    return printFunction(function, own, calls);
  own.head = "static __device__ __noinline__ void " + family.symbol() + launch.suffix;
  std::replace(own.head.begin(), own.head.end(), '.', '_');
  std::string name = own.head.substr(own.head.rfind(' ') + 1);
  for (size_t i = 0; i < 2 * family.members.front().keys.size(); ++i)
    own.arguments.push_back({"int", "key" + std::to_string(i)});
  FailureOr<std::string> printed = printFunction(function, own, calls);
  if (failed(printed))
    return failure();
  for (const KernelFamily::Member &member : family.members) {
    FunctionText outer = text;
    outer.head = headOf(member, launch);
    *printed += "\n" + outer.signature() + " {\n  " + name + "(";
    for (const FunctionText::Argument &argument : outer.arguments)
      if (argument.isPassed)
        *printed += argument.name + ", ";
    std::string keys;
    for (int64_t key : member.keys)
      for (bool higher : {false, true})
        keys += (keys.empty() ? "" : ", ") + cudaConstant(keyWord(key, higher));
    *printed += keys + ");\n}\n";
  }
  return printed;
}

/// The kernels of a family, from their scalar code.
FailureOr<std::string> printCode(EmittedKernel &made, const KernelFamily &family, KernelOp first,
                                 const FunctionText &text, std::set<std::string> &calls) {
  SmallVector<func::FuncOp> functions;
  for (auto function : made.code->getOps<func::FuncOp>())
    if (!function.isDeclaration())
      functions.push_back(function);
  // Before anything is folded that a key takes part in.
  for (func::FuncOp function : functions)
    takeKeys(function, family);
  if (failed(simplify(*made.code)))
    return failure();
  std::string kernels;
  for (auto [i, function] : llvm::enumerate(functions)) {
    FailureOr<std::string> printed =
        first.getCopies() > 1
            ? printCopies(function, text, made, i, first, family.members.front(), calls)
            : printLaunch(function, text, family, made.plan.launches[i], calls);
    if (failed(printed))
      return failure();
    kernels += "\n" + *printed;
  }
  return kernels;
}

/// Those that are text already.
std::string writeText(const EmittedKernel &made, const KernelFamily &family,
                      const FunctionText &text) {
  std::string kernels;
  if (!made.text.declarations.empty())
    kernels = "\n" + made.text.declarations;
  for (auto [body, launch] : llvm::zip_equal(made.text.bodies, made.plan.launches))
    for (const KernelFamily::Member &member : family.members) {
      FunctionText own = text;
      // Sums are kept in registers, as many as one block has.
      own.head = headOf(member, launch, ", 1");
      kernels += "\n" + own.signature() + " {\n" + body + "}\n";
    }
  return kernels;
}

/// Stands for the name of a unit's kernels while their text is written.
constexpr const char *unnamed = "weir_unnamed_kernel";

/// The name of a unit's kernels: their shape and a hash of the text. Equal kernels of several
/// models are one text, so they are compiled once.
std::string nameOf(KernelOp kernel, StringRef text) {
  std::string hash = llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
  return (stringifyKernelShape(kernel.getShape()) + "_" + hash.substr(0, 8)).str();
}

FailureOr<std::unique_ptr<artifact::CudaUnitT>>
CudaTarget::unitOf(EmittedKernel &made, const KernelFamily &named, KernelOp first) {
  KernelFamily family = named;
  for (auto [i, member] : llvm::enumerate(family.members))
    member.symbol = unnamed + (family.isShared() ? "_" + std::to_string(i) : "");
  FunctionText text = textOf(first, made.plan.workspace > 0);
  std::set<std::string> calls = made.text.calls;
  FailureOr<std::string> kernels = made.text.bodies.empty()
                                       ? printCode(made, family, first, text, calls)
                                       : writeText(made, family, text);
  if (failed(kernels))
    return failure();
  auto unit = std::make_unique<artifact::CudaUnitT>();
  for (const LaunchPlan &launch : made.plan.launches)
    for (auto [member, own] : llvm::zip_equal(named.members, family.members)) {
      unit->symbols.push_back(member.symbol + launch.suffix);
      unit->functions.push_back(own.symbol + launch.suffix);
    }
  for (const DeviceHeader &header : deviceHeaders())
    if (header.isEverywhere || llvm::is_contained(made.text.headers, header.name))
      unit->source += "#include \"" + std::string(header.name) + "\"\n";
  std::string elementary = elementaryFunctions(*first->getContext(), calls);
  unit->source += (elementary.empty() ? "" : "\n" + elementary) + *kernels;
  std::string name = nameOf(first, unit->source);
  auto setName = [&](std::string &text) {
    for (size_t at = 0; (at = text.find(unnamed, at)) != std::string::npos; at += name.size())
      text.replace(at, std::strlen(unnamed), name);
  };
  setName(unit->source);
  llvm::for_each(unit->functions, setName);
  unit->source.insert(0, commentOf(first));
  return unit;
}

LogicalResult CudaTarget::addMachineCode(artifact::CudaCodeT &code, Location loc) {
  std::vector<cuda::Header> headers;
  for (const auto &header : code.headers)
    headers.push_back({header->name, header->text});
  std::vector<std::string> sources;
  for (const auto &unit : code.units)
    sources.push_back(unit->source);
  cuda::CompileResult made = cuda::compileUnits(architecture.version, std::move(headers), sources);
  lacking = made.exit == Exit::device;
  if (!made.failure.empty())
    return emitError(lacking ? UnknownLoc::get(loc.getContext()) : loc) << made.failure;
  code.architecture = architecture.version;
  for (auto [unit, cubin] : llvm::zip_equal(code.units, made.cubins))
    unit->cubin.assign(cubin.begin(), cubin.end());
  return success();
}

FailureOr<std::vector<char>> CudaTarget::compile(ArrayRef<NamedKernel> kernels, DumpKernels dump,
                                                 TimingScope time) {
  if (kernels.empty())
    return std::vector<char>();
  artifact::CudaCodeT code;
  TimingScope step = time.nest("emit");
  llvm::MapVector<EmittedKernel *, std::pair<KernelFamily, KernelOp>> families;
  for (const NamedKernel &kernel : kernels) {
    FailureOr<EmittedKernel *> made = emittedOf(kernel.op);
    if (failed(made))
      return failure();
    auto &[family, first] = families.try_emplace(*made, KernelFamily(), kernel.op).first->second;
    family.members.push_back({kernel.symbol, randomKeys(kernel.op)});
  }
  std::set<std::string> included;
  for (auto &[made, family] : families) {
    included.insert(made->text.headers.begin(), made->text.headers.end());
    auto unit = unitOf(*made, family.first, family.second);
    if (failed(unit))
      return failure();
    code.units.push_back(std::move(*unit));
  }
  emitted.clear();
  for (const DeviceHeader &header : deviceHeaders())
    if (header.isEverywhere || included.contains(header.name)) {
      auto made = std::make_unique<artifact::CudaHeaderT>();
      made->name = header.name;
      made->text = header.text;
      code.headers.push_back(std::move(made));
    }
  if (dump) {
    std::string all;
    for (const auto &unit : code.units)
      all += unit->source + "\n";
    dump("emitted.cu", ModuleOp(), all);
  }
  step = time.nest("machine code");
  if (architecture.version && failed(addMachineCode(code, kernels.front().op->getLoc())))
    return failure();
  step.stop();
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  builder.Finish(artifact::CudaCode::Pack(builder, &code), artifact::CudaCodeIdentifier());
  auto bytes = reinterpret_cast<const char *>(builder.GetBufferPointer());
  return std::vector<char>(bytes, bytes + builder.GetSize());
}

} // namespace

void registerCudaDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
}

std::unique_ptr<Target> makeCudaTarget(StringRef option) {
  std::optional<Architecture> architecture = Architecture::parse(option);
  return architecture ? std::make_unique<CudaTarget>(std::move(*architecture)) : nullptr;
}

} // namespace weir
