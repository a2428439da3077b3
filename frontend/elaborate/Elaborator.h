//===- Elaborator.h - Walks a model and emits the program -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checker and lowering in one: every entry of the program (step, eval, predict) is a walk
// over the recipe with all sizes known, which emits weir ops as it goes. A variable's initial value
// goes into `init` when its declaration is first met. Inside there are no exceptions: what is wrong
// is reported where it stands and becomes a poison value, and the walk goes on, so that every
// independent mistake is found.
//
// One file per concern: Expressions, Arithmetic, Indexing, Statements, Calls, Types, Variables,
// Builtins*, Recipe, Entries, Update, Plan.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_ELABORATOR_H
#define WEIR_FRONTEND_ELABORATE_ELABORATOR_H

#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "frontend/elaborate/Value.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/interfaces/BatchRows.h"
#include "ir/weir/requests/PrecisionOverrides.h"

#include "llvm/ADT/MapVector.h"

#include <functional>
#include <map>
#include <set>

namespace weir::elab {

struct Binding {
  Value value;
  Range range;
  std::string config;  ///< the config whose value it is, if one is
  std::string boundBy; ///< of dimensions: "argument `tokens`"
  bool isDimension = false;
};

/// The names of a body, inside those of the bodies around it.
struct Scope {
  Scope *outer = nullptr;
  std::map<std::string, Binding> names;
  struct Hidden {
    Range range;
    const char *why; ///< "is bound in only one branch of an `if`"
  };
  std::map<std::string, Hidden> hidden; ///< names that exist but cannot be used here

  Binding *find(const std::string &name);
};

/// A file and its configs and consts.
struct FileScope {
  const ast::Module *module = nullptr;
  bool prelude = false;
  Scope globals;
  std::map<std::string, const ast::CallableItem *> callables;
};

struct OptimizerTarget;
struct Variable;
struct Output;
struct Builtin;

/// A call in progress.
struct Frame {
  Frame *caller = nullptr;
  const ast::CallableItem *callable = nullptr; ///< null: the file or the recipe
  FileScope *file = nullptr;
  std::shared_ptr<Instance>
      instance;   ///< what owns its parameters; in a fn the caller's, for its random draws
  Range callSite; ///< in the caller
  Scope *scope = nullptr;
  std::set<std::string> dimensions;      ///< names that are dimensions here, bound or not
  std::map<std::string, Dim> callerDims; ///< dimensions bound here, as the caller knows them
  std::optional<Dims> ellipsis;          ///< what `..` stands for
  bool hasEllipsis = false;              ///< `..` would be known but for an error
  bool faulty = false;    ///< an argument was wrong: what it would have bound is unknown
  bool undecided = false; ///< what an unknown condition chooses may have returned
  OptimizerTarget *target = nullptr;
  struct Declared {
    Variable *variable; ///< null after an error
    Range range;
  };
  std::map<std::string, Declared> declared; ///< parameters and states of this call
  bool returned = false;
  bool refused = false; ///< a requirement does not hold
  Value result;
  std::vector<Range> resultRanges;
  unsigned depth = 0;
  uint64_t execution = 0; ///< tells the runs through bodies apart
  bool again = false;     ///< a `let`'s instance that was called before
};

/// Who has a path of the program.
struct PathClaim {
  std::shared_ptr<Instance> owner;    ///< in whose body it was claimed
  Range range;                        ///< last claimed
  std::shared_ptr<Instance> instance; ///< the one that is there; null for variables
  uint64_t execution = 0;             ///< of the owner's body, in which it was last claimed
};
using PathClaims = std::map<std::string, PathClaim>; ///< by symbol

/// A parameter, state or optimizer variable of the program.
struct Variable {
  ModelPath path;
  Role role;
  mlir::RankedTensorType type;
  Dims dims;
  Range range;
  Range place; ///< in the model file: `range`, or the call of the prelude that declares it
  mlir::Location location;
  mlir::Value initial; ///< in init
};

/// What an optimizer works on.
struct OptimizerTarget {
  const Variable *parameter;
  std::string name; ///< of the argument that is the parameter: `p`
  mlir::Value next; ///< null: unchanged
};

enum class EntryKind { step, eval, predict };

/// What one entry's walk has met so far.
struct Entry {
  EntryKind kind = EntryKind::step;
  bool training = false;
  mlir::func::FuncOp function;
  mlir::Operation *lastRead = nullptr; ///< reads stand first in the function
  std::map<std::string, mlir::Value> reads;
  llvm::DenseMap<const Variable *, mlir::Value> carriedValues; ///< states inside the microbatches
  mlir::Value round;                     ///< of the microbatch; null outside of them: 0
  mlir::Block *body = nullptr;           ///< of the step's microbatches, while it is walked
  std::vector<const Variable *> carried; ///< states, in the order of the body's last arguments
  struct Next {
    mlir::Value value;
    Range range;
    mlir::Location location;
  };
  llvm::MapVector<const Variable *, Next> nexts;
  /// A carried state's value after the microbatch.
  mlir::Value nextOf(const Variable *state) const;
  PathClaims paths; ///< of instances
  PathClaims variablePaths;
  std::map<std::string, unsigned> draws;                 ///< random draws so far, by instance path
  std::map<mlir::Operation *, std::string> limitConfigs; ///< of gathers and labels
  llvm::DenseMap<mlir::Value, const ast::CallableItem *> madeBy; ///< results of the prelude's fns
  /// The first call of a model, for predict.
  const ast::CallableItem *model = nullptr;
  std::shared_ptr<Instance> modelInstance;
  std::vector<CallArgument> modelArguments;
};

struct Metric {
  std::string name;
  Ratio value;
  Range range;
};

/// The recipe, as far as it does not depend on tensors.
struct Recipe {
  const ast::TrainItem *item = nullptr;
  struct Input {
    const ast::InputEntry *entry;
    mlir::Type element;
    Dims dims;
  };
  std::vector<Input> inputs;
  int64_t batch = 0, accumulate = 1, steps = 0, epochs = 0, warmup = 0;
  const ast::ValueEntry *loss = nullptr, *clip = nullptr, *learningRate = nullptr;
  std::vector<const ast::UpdateEntry *> updates;
};

/// A choice that the model's plan makes.
struct Pin {
  const ast::PinEntry *entry;
  Precision precision;
  bool matches = false, takes = false; ///< an op; one that no pin before it takes
};

class Elaborator {
public:
  Elaborator(const ast::Module &model, std::vector<const ast::Module *> prelude,
             const ElaborateOptions &options, mlir::MLIRContext &context, Diagnostics &diagnostics);

  /// The module is null where errors were reported.
  ElaborateResult run(const std::map<std::string, std::string> &sets);

  //===--- Reporting and places ---------------------------------------------------------------===//

  /// At the user's own code: what goes wrong inside the prelude is reported at the call that led
  /// there, with a note.
  Diagnostic &error(Range range, std::string message);
  /// Where in the model file a range is: itself, or the call that led into the prelude.
  Range userPlace(Range range) const;
  /// For what leads to no end: nothing is walked or reported after it.
  Diagnostic &stop(Range range, std::string message);
  /// For a name that means nothing: what seems unused may be what was meant.
  Diagnostic &unknown(Range range, std::string message);
  /// For what no model can cause: reports it as a fault of Weir's.
  void fault(Range range, const std::string &what);
  /// Poison, and whatever else is missing, stands for what was reported: a fault where nothing was.
  void requireReport(Range range, const std::string &what);
  mlir::Location location(Range range);
  mlir::OpBuilder &builder() { return opBuilder; }
  Frame &frame() { return *current; }
  Entry *entry() { return currentEntry; }

  //===--- Expressions (Expressions.cpp, Indexing.cpp) ----------------------------------------===//

  Value evaluate(const ast::Expr &expr);
  std::optional<int64_t> evaluateInt(const ast::Expr &expr, const std::string &what);
  std::optional<bool> evaluateCondition(const ast::Expr &expr, const std::string &what);
  std::string configOf(const ast::Expr &expr);
  Value index(const ast::IndexExpr &expr);

  //===--- Tensors (Arithmetic.cpp) -----------------------------------------------------------===//

  mlir::RankedTensorType type(const Dims &dims, mlir::Type element);
  Value constant(double value, mlir::Type element, const Dims &dims, Range range);
  Value unary(ast::UnaryOp op, const Value &operand, Range range);
  Value binary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range);
  Value matmul(const Tensor &lhs, const Tensor &rhs, Range range);
  /// The wider shape of the two, or a report and nothing.
  std::optional<Dims> broadcastShapes(const Tensor &lhs, const Tensor &rhs, const std::string &what,
                                      Range range);
  Tensor broadcast(const Tensor &tensor, const Dims &dims, Range range);
  Tensor cast(const Tensor &tensor, mlir::Type element, Range range);
  /// Both as tensors of one element type and shape, or a report and false. `what` says what for:
  /// "`+`".
  bool unify(const Value &lhs, const Value &rhs, const std::string &what, Range range, Tensor &left,
             Tensor &right);
  /// Makes a number an `element` scalar where it may be one: poison, as was reported, where it does
  /// not fit. The tensor, or null, silently, for anything else.
  const Tensor *asTensor(Value &value, mlir::Type element, Range range);
  Tensor transpose(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation, Range range);
  Tensor splitDim(const Tensor &tensor, int64_t dim, const Dims &into, Range range);
  Tensor mergeDims(const Tensor &tensor, int64_t first, int64_t count, Range range);
  Tensor slice(const Tensor &tensor, int64_t dim, int64_t begin, int64_t end, Range range);
  Tensor reduce(const Tensor &tensor, Reduction kind, llvm::ArrayRef<int64_t> axes, Range range);

  mlir::Type f32() { return opBuilder.getF32Type(); }
  mlir::Type i32() { return opBuilder.getI32Type(); }
  mlir::Type i1() { return opBuilder.getI1Type(); }
  mlir::Type element(Element element) { return typeOf(opBuilder.getContext(), element); }

  //===--- Statements (Statements.cpp) --------------------------------------------------------===//

  void execute(const ast::Body &body);
  /// Stops where models unroll without measure.
  void countWork(Range range);
  void execute(const ast::Stmt &stmt);
  void assign(const ast::AssignStmt &stmt);
  void bind(const ast::Identifier &target, Value value, std::string config = {}, Range given = {});
  void forLoop(const ast::ForStmt &stmt);
  void ifElse(const ast::IfStmt &stmt);
  void returnValues(const ast::ReturnStmt &stmt);
  void let(const ast::LetStmt &stmt);
  /// False, reported at the call that was made (or here, for a file's), where it does not hold.
  bool check(const ast::Requirement &requirement);
  /// Warns where the loss `name` gets what is no logits, or labels that the model has seen.
  void warnLoss(const std::string &name, const Value &logits, const Value &labels, Range call);

  //===--- Calls (Calls.cpp) and types (Types.cpp) --------------------------------------------===//

  Value call(const ast::CallExpr &expr);
  Value callCallable(const ast::CallableItem &callable, std::shared_ptr<Instance> instance,
                     std::vector<CallArgument> arguments, Range range,
                     OptimizerTarget *target = nullptr);
  /// Reports a call that leads back to itself, with the calls in between, and stops.
  void reportRecursion(const ast::CallableItem &callable, Range range, const std::string &message);
  const ast::CallableItem *findCallable(const std::string &name);
  std::vector<CallArgument> evaluateArguments(const std::vector<ast::Argument> &arguments);
  /// The full path of what stands after `as`, or `fallback`; nothing, reported, where it is not
  /// known now.
  std::optional<ModelPath> resolvePath(const std::optional<ast::Path> &path,
                                       const std::string &fallback);
  /// A new instance, or in a later call of the instance around it the one made there before.
  std::shared_ptr<Instance> instantiate(const ast::CallableItem &callable,
                                        const std::optional<ast::Path> &path, Range range);
  /// An instance or variable called `name` wants a path that what stands at `other` has.
  void reportTaken(const std::string &path, Range range, const std::string &name, Range other);
  /// Where an instance is called again by the calls in progress; invalid where none is.
  Range repeatedCall();
  FileScope *fileOf(const ast::CallableItem &callable);
  void checkDimensionNames(const ast::CallableItem &callable);
  /// Of a dimension that nothing binds, once for each; silent where an argument was wrong.
  void reportUnbound(const ast::CallableItem &callable, const ast::NameExpr &name);
  void collectDimensions(const ast::CallableItem &callable);

  /// Binds the dimensions that the type of a parameter names and no argument before it has. False
  /// where the argument is no such tensor.
  bool bindDimensions(const ast::Parameter &parameter, const CallArgument &argument);
  void bindDimension(const std::string &name, Dim &found, Range range, const std::string &boundBy);
  /// The argument as its parameter's type wants it, with the type's names for its dimensions;
  /// dimensions met first are bound.
  Value matchParameter(const ast::Parameter &parameter, const CallArgument &argument);
  /// `what` begins messages: "argument `x` of `mlp`". Unbound dimensions are bound if `binds`,
  /// otherwise an error.
  Value matchType(const ast::Type &type, const Value &value, Range range, const std::string &what,
                  const std::string &boundBy, bool binds);
  Value matchTensor(const ast::TensorType &type, Tensor tensor, Range range,
                    const std::string &what, const std::string &boundBy, bool binds);
  Value matchScalar(ast::Scalar scalar, const Value &value, Range range, const std::string &what);
  /// A type without `..` to bind, all of whose dimensions are known. Nothing, reported, otherwise.
  std::optional<Dims> evaluateDims(const ast::TensorType &type);
  std::optional<Dim> evaluateDim(const ast::Expr &expr);
  void restoreNames(Value &value);
  Value matchResults(const ast::CallableItem &callable, Value result);
  /// A stand-in for the result of a call in which an error was reported, so that what follows is
  /// still checked.
  Value recover(const ast::CallableItem &callable, Range range);

  //===--- Parameters, state, randomness (Variables.cpp) --------------------------------------===//

  void declareParam(const ast::ParamStmt &stmt);
  void declareState(const ast::StateStmt &stmt);
  void setNext(const ast::NextStmt &stmt);
  mlir::Value readVariable(const Variable &variable, Range range);
  mlir::Value readRun(const std::string &name, Range range);
  Value draw(const Dims &dims, Distribution distribution, Range range);

  //===--- The recipe and the entries (Recipe.cpp, Entries.cpp, Update.cpp) ------------------===//

  /// False where a requirement does not hold: the rest would only repeat that in other words.
  bool evaluateGlobals(const std::map<std::string, std::string> &sets);
  void readRecipe();

private:
  using Wrong = ElaborateResult::Wrong;
  struct Forward {
    std::optional<Ratio> loss;
    std::vector<Metric> metrics;
  };

  Value evaluateAnySize(const ast::Expr &expr);
  Value name(const ast::NameExpr &expr);
  Value builtinName(const std::string &name, Range range, bool &known);
  Value staticBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range);
  Value tensorBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range);
  std::optional<Value> compareTruths(ast::BinaryOp op, const Value &lhs, const Value &rhs,
                                     Range range);
  Value ratioBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range);
  Value callBuiltin(const Builtin &builtin, const ast::CallExpr &expr);
  bool isValue(const std::string &name);
  void reportUnknownName(const ast::NameExpr &expr);
  void reportUnknownCall(const ast::CallExpr &expr);
  std::vector<std::string> visibleNames();
  std::vector<std::string> visibleCallables();
  void executeBranch(const ast::Body &body, const ast::Body *other);
  void restate(const Variable &state, mlir::Operation *first, mlir::Value value);
  Variable *declareVariable(const ast::Identifier &name, Role role, const ModelPath &path,
                            const std::function<std::optional<Tensor>()> &initial, Range range);
  std::optional<Tensor> initialTensor(const Value &init, const Dims &dims, const ModelPath &path,
                                      Range range);
  Value declareAt(const ast::Identifier &name, Role role, const ModelPath &path,
                  std::optional<Dims> dims, const std::function<std::optional<Tensor>()> &initial);
  mlir::Value readAtTop(const std::string &symbol, mlir::RankedTensorType type, Range range);
  Variable *findVariable(const std::string &symbol);

  void checkNames();
  void checkUncalled();
  bool overrideConfig(const std::string &text, Value &value, const std::string &name);
  Recipe::Input readInput(const ast::InputEntry &entry);
  Forward walkRecipe(llvm::ArrayRef<mlir::Value> inputs);
  void hideTensors();

  std::vector<mlir::Value> beginEntry(Entry &entry, llvm::StringRef name, int64_t rows);
  void endEntry(llvm::ArrayRef<Output> outputs);
  void finishFunction(mlir::func::FuncOp function, llvm::ArrayRef<Output> outputs);
  void setLimits(mlir::func::FuncOp function, const Entry &entry);
  void beginInit(mlir::Location place);
  void endInit();
  void describeModule();
  void emitStep();
  void emitEval();
  std::optional<std::vector<mlir::Type>> predictInputs(const Entry &eval);
  void emitPredict(const Entry &eval, llvm::ArrayRef<mlir::Type> inputs);
  void tieRows(llvm::StringRef entry, const TiedRows &tied);
  std::vector<mlir::Value> beginBatch(llvm::ArrayRef<mlir::Value> inputs, Range range);
  void endBatch(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::Value *> sums,
                Range range);
  /// A ratio over so many batches as outputs. Gives every term a count.
  void addTerms(std::vector<Output> &outputs, const std::string &name, Ratio &ratio,
                int64_t batches, Range range);

  struct Trained {
    Variable *parameter;
    const ast::UpdateEntry *rule;
    mlir::Value gradient;
  };
  /// A variable's value after the step, unless it is skipped.
  struct Write {
    const Variable *variable;
    mlir::Value next;
    mlir::Location location;
  };
  std::vector<Trained> trainedParameters();
  /// Whether an optimizer's first two arguments may be a parameter and its gradient. Reported if
  /// not.
  bool takesGradient(const ast::CallableItem &optimizer);
  bool matches(const ast::UpdateEntry &rule, const Variable &parameter);
  /// The rule that takes a parameter; null where none does.
  const ast::UpdateEntry *ruleOf(const Variable &parameter);
  void checkCounts(const Ratio &loss);
  void warnUntrained(const std::vector<Trained> &trained, const Ratio &loss,
                     llvm::ArrayRef<Metric> metrics);
  void warnSchedule(const ast::CallableItem &callable, Range call);
  void warnLearningRate(const Value &rate, Range range);
  void warnLossCall(const ast::CallableItem &callable, Range call);
  void warnSecondModel(const ast::CallableItem &callable, Range call);
  /// The rules that take no parameter.
  std::vector<const ast::UpdateEntry *> unusedRules();
  void warnUnusedRules();
  void takeGradients(std::vector<Trained> &trained, mlir::Value loss, Range range);
  mlir::Value clipLimit();
  mlir::Value clip(std::vector<Trained> &trained, Range range);
  void takeNexts(std::vector<Write> &writes);
  void emitUpdate(mlir::Value loss, std::vector<Trained> &trained, std::vector<Output> &outputs);
  mlir::Value scalar(double value, Range range);
  void readPlan();
  /// Whether a predicate of the plan holds for texts of these names; a missing one always does.
  bool holds(const ast::ExprPtr &where,
             std::initializer_list<std::pair<const char *, std::string>> texts);
  bool matches(const Pin &pin, const std::string &name, const std::string &op);
  std::string nameOf(mlir::Operation *op);
  Pin *pinOf(const std::string &name, const std::string &op);
  void pinOps();
  void reportUnmatched(const Pin &pin, const std::set<std::pair<std::string, std::string>> &ops);
  void readPin(const ast::PinEntry &entry);
  void readShard(const ast::ShardEntry &entry);
  void pinShards();
  void reportUnmatched(const ast::ShardEntry &entry);
  void markBlocks();
  void reportUnmatched(const ast::RecomputeEntry &entry, const std::set<std::string> &blocks);

  const ast::Module &model;
  const ElaborateOptions &options;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  mlir::OpBuilder opBuilder;
  std::string modelName;
  FileScope modelFile;
  std::vector<std::unique_ptr<FileScope>> preludeFiles;
  std::map<std::string, const ast::CallableItem *> preludeCallables;
  std::map<std::string, std::string> configTexts;
  std::set<const ast::CallableItem *> called;

  mlir::Location fileLocation(Range range);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Of places in files, which every instance of a block names again.
  llvm::DenseMap<std::pair<const SourceFile *, uint32_t>, mlir::LocationAttr> locations;
  mlir::func::FuncOp init;
  mlir::Value initSeed, initZero; ///< in init
  struct Restated {
    mlir::func::FuncOp function; ///< null where no state begins as a parameter
    llvm::DenseMap<const Variable *, mlir::Value> values;
  };
  Restated restated;   ///< states' initial values once weights are loaded
  mlir::Block scratch; ///< where the ops of configs and consts would go; they have none
  Frame recipeFrame;   ///< of the entry in progress
  Scope recipeScope;
  std::vector<std::unique_ptr<Variable>> variables;
  std::map<std::string, Variable *> variablesBySymbol;
  std::vector<mlir::NamedAttribute> tiedEntries; ///< where and why their rows are tied
  Recipe recipe;
  std::vector<Pin> pins;
  std::vector<const ast::RecomputeEntry *> recomputes; ///< of the plan
  /// A cut that the plan asks for, of what its pattern matches.
  struct Shard {
    const ast::ShardEntry *entry;
    std::string pattern;
    int64_t dimension;
  };
  std::vector<Shard> shards;
  Frame *current = nullptr;
  Entry *currentEntry = nullptr;
  uint64_t work = 0;       ///< statements executed and loop rounds begun
  uint64_t executions = 0; ///< of bodies of callables
  uint64_t misplaced = 0;  ///< instances whose path was another's
  bool stopped = false;
  Wrong wrong = Wrong::model;
  bool faulted = false;   ///< a fault of Weir's was reported
  bool supposing = false; ///< arguments stand for any: what is unknown needs no report
  std::set<std::pair<const ast::CallableItem *, std::string>> unbound; ///< dimensions reported
  Diagnostic discarded; ///< what is said after a stop
};

/// The quotient of two i32 tensors of one shape, rounded down; 0 where the divisor is 0.
mlir::Value floorDivision(mlir::OpBuilder &builder, mlir::Location place, mlir::Value lhs,
                          mlir::Value rhs);

/// What leaves an entry.
struct Output {
  std::string name;
  std::string part; ///< scalar, sum, count, tensor
  mlir::Value value;
  int64_t term = 0;
  double weight = 1;
};

} // namespace weir::elab

#endif
