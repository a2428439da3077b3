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
// The Elaborator is the walk itself: expressions (Expressions.cpp), statements (Statements.cpp,
// Declarations.cpp), calls (Calls.cpp) and entries (Recipe.cpp, Step.cpp, Update.cpp, Entries.cpp).
// Its parts are classes of their own, which know nothing of it; each has a header that says what it
// does.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_ELABORATOR_H
#define WEIR_FRONTEND_ELABORATE_ELABORATOR_H

#include "frontend/elaborate/Globals.h"
#include "frontend/elaborate/InitialValues.h"
#include "frontend/elaborate/Instances.h"
#include "frontend/elaborate/ModelPlan.h"
#include "frontend/elaborate/TrainingWarnings.h"
#include "frontend/elaborate/TypeMatcher.h"
#include "ir/weir/interfaces/BatchRows.h"

namespace weir::elab {

struct Builtin;

class Elaborator : public Evaluator {
public:
  Elaborator(const ast::Module &model, std::vector<const ast::Module *> prelude,
             const ElaborateOptions &options, mlir::MLIRContext &context, Diagnostics &diagnostics);

  /// The module is null where errors were reported.
  ElaborateResult run(const std::map<std::string, std::string> &sets);

  Value evaluate(const ast::Expr &expr) override;

  //===--- What builtins use ------------------------------------------------------------------===//

  mlir::OpBuilder &builder() { return opBuilder; }
  mlir::Location location(Range range) { return locations.at(range); }
  /// The entry that is walked; null while configs and consts are evaluated.
  Entry *entry() { return currentEntry; }
  Value draw(const Dims &dims, Distribution distribution, Range range);
  /// Warns where the loss `name` gets what is no logits, or labels that the model has seen.
  void warnLoss(const std::string &name, const Value &logits, const Value &labels, Range call) {
    warnings.warnLoss(name, logits, labels, call, entry());
  }

private:
  struct Forward {
    std::optional<Ratio> loss;
    std::vector<Metric> metrics;
  };

  Diagnostic &error(Range range, std::string message) {
    return reporter.error(range, std::move(message));
  }

  //===--- Expressions (Expressions.cpp) ------------------------------------------------------===//

  Value evaluateAnySize(const ast::Expr &expr);
  Value name(const ast::NameExpr &expr);
  Value builtinName(const std::string &name, Range range, bool &known);
  void reportUnknownName(const ast::NameExpr &expr);
  std::vector<std::string> visibleNames();

  //===--- Statements (Statements.cpp, Declarations.cpp) --------------------------------------===//

  void execute(const ast::Body &body);
  void execute(const ast::Stmt &stmt);
  /// Stops where models unroll without measure.
  void countWork(Range range);
  void assign(const ast::AssignStmt &stmt);
  void bind(const ast::Identifier &target, Value value, std::string config = {}, Range given = {});
  void forLoop(const ast::ForStmt &stmt);
  void ifElse(const ast::IfStmt &stmt);
  void executeBranch(const ast::Body &body, const ast::Body *other);
  void returnValues(const ast::ReturnStmt &stmt);
  void let(const ast::LetStmt &stmt);
  void declareParam(const ast::ParamStmt &stmt);
  void declareState(const ast::StateStmt &stmt);
  bool declareOnce(const ast::Identifier &name);
  Value declareAt(const ast::Identifier &name, Role role, const ModelPath &path,
                  std::optional<Dims> dims, const InitialValues::MakeTensor &initial);
  void setNext(const ast::NextStmt &stmt);
  mlir::Value readVariable(const Variable &variable, Range range);
  mlir::Value readRun(const std::string &name, Range range);
  mlir::Value readAtTop(const std::string &symbol, mlir::RankedTensorType type, Range range);

  //===--- Calls (Calls.cpp) ------------------------------------------------------------------===//

  Value call(const ast::CallExpr &expr);
  Value callBuiltin(const Builtin &builtin, const ast::CallExpr &expr);
  Value callCallable(const ast::CallableItem &callable, std::shared_ptr<Instance> instance,
                     std::vector<CallArgument> arguments, Range range,
                     OptimizerTarget *target = nullptr);
  const ast::CallableItem *findCallable(const std::string &name) {
    return files.findCallable(name, *current->file);
  }
  void noteModel(const ast::CallableItem &callable, const std::vector<const CallArgument *> &slots);
  void walkBody(const ast::CallableItem &callable, const std::vector<CallArgument> &arguments);
  Value resultOf(const ast::CallableItem &callable, Range range);
  Value recover(const ast::CallableItem &callable, Range range);
  void reportRecursion(const ast::CallableItem &callable, Range range, const std::string &message);
  void reportDepth(const ast::CallableItem &callable, Range range);
  void reportUnknownCall(const ast::CallExpr &expr);
  /// A builtin by its former name, with a note; null if there is none.
  const Builtin *findRenamed(const ast::Identifier &callee);
  std::vector<std::string> visibleCallables();

  //===--- Entries (Recipe.cpp, Entries.cpp, Step.cpp) ----------------------------------------===//

  void checkUncalled();
  void checkUncalled(const ast::CallableItem &callable);
  void beginModule(mlir::Location place);
  void describeModule();
  void enter(Entry *entry);
  std::vector<mlir::Value> beginEntry(Entry &entry, llvm::StringRef name, int64_t rows);
  void endEntry(llvm::ArrayRef<Output> outputs);
  Forward walkRecipe(llvm::ArrayRef<mlir::Value> inputs);
  void emitStep();
  std::vector<mlir::Value> beginBatch(llvm::ArrayRef<mlir::Value> inputs, Range range);
  void endBatch(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::Value *> sums,
                Range range);
  void checkCounts(const Ratio &loss);
  void takeGradients(std::vector<Trained> &trained, mlir::Value loss, Range range);
  /// A ratio over so many batches as outputs. Gives every term a count.
  void addTerms(std::vector<Output> &outputs, const std::string &name, Ratio &ratio,
                int64_t batches, Range range);
  void emitEval();
  std::optional<std::vector<mlir::Type>> predictInputs(const Entry &eval);
  void emitPredict(const Entry &eval, llvm::ArrayRef<mlir::Type> inputs);
  void tieRows(llvm::StringRef entry, const TiedRows &tied);

  //===--- The update (Update.cpp) ------------------------------------------------------------===//

  mlir::Value clipLimit();
  mlir::Value clip(std::vector<Trained> &trained, Range range);
  std::optional<Tensor> learningRate();
  std::vector<Write> runOptimizers(const std::vector<Trained> &trained);
  bool runOptimizer(const Trained &trained, const UpdateRule &rule, std::vector<Write> &writes);
  void emitUpdate(mlir::Value loss, std::vector<Trained> &trained, std::vector<Output> &outputs);

  //===--- State ------------------------------------------------------------------------------===//

  const ast::Module &model;
  const ElaborateOptions &options;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  mlir::OpBuilder opBuilder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block scratch; ///< where the ops of configs and consts would go; they have none
  std::string modelName;
  std::set<const ast::CallableItem *> called;
  std::vector<mlir::NamedAttribute> tiedEntries; ///< where and why their rows are tied
  CallStack current;
  Frame recipeFrame; ///< of the entry in progress
  Scope recipeScope;
  Entry *currentEntry = nullptr;
  uint64_t work = 0;       ///< statements executed and loop rounds begun
  uint64_t executions = 0; ///< of bodies of callables
  Files files;
  Variables variables;
  Recipe recipe;

  //===--- Parts ------------------------------------------------------------------------------===//

  Reporter reports;
  Locations locations;

public:
  TensorBuilder tensors;

private:
  Globals globals;
  ShapeMatcher shapes;
  TypeMatcher types;
  Instances instances;
  UpdateRules rules;
  TrainingWarnings warnings;
  ModelPlan plan;
  std::unique_ptr<InitialValues> initial; ///< of the module
};

} // namespace weir::elab

#endif
