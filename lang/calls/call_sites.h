// Applying operators to values, for machines that run programs: what the relation says of the
// shapes, and code that an engine makes, each kept for the calls that are alike.
//
// Sites whose types leave sizes open share one kernel over open extents, which new sizes are put
// to (open_call.h), as the machine has it; so both add up in the same order. The relation is asked
// about the numbers of a call where shapes hang on values, where there are no checked types to go
// by, and where its shapes do not fit; then it has the words for what is wrong.
#pragma once

#include "lang/calls/code_cache.h"
#include "lang/calls/open_call.h"
#include "lang/ir/typing.h"
#include "lang/op/compute.h"

#include <unordered_set>
#include <variant>

namespace lang {

class CallSites {
public:
  /// Told of an operator whose results have fewer digits than the engine keeps.
  using Rounding = std::function<void(const OperatorRow& row, SourceRange call)>;

  CallSites(const Typing& typing, const OperatorTable& table, const tensor::TensorEngine& engine,
            const Rounding& rounding = {})
      : typing_(typing), table_(table), engine_(engine), rounding_(rounding) {}

  /// The result of the call that `binding` binds, or what was wrong. The call has no attributes
  /// when the operator was called through a value. A native function may write into
  /// arguments that nobody else refers to.
  std::variant<runtime::Value, runtime::Fault> apply(const Binding& binding, const OperatorRow& row,
                                                     std::vector<runtime::Value> arguments);

private:
  using Code = CodeCache::Entry;

  /// What a site used last; what is forgotten by the others is forgotten here.
  struct Site {
    std::weak_ptr<const CallCode> code;
    std::weak_ptr<const OpenCall> open;
  };

  /// One call, with the tensors in its arguments.
  struct Question {
    Site& site;
    const Binding& binding;
    const Call& call;
    const OperatorRow& row;
    const Attributes& attributes;
    std::span<const runtime::Value> arguments;
    std::span<const runtime::Value> inputs;
  };
  /// The types of a call, and the shapes of its results. The types are those of the site, or of
  /// the numbers at hand, which live in `types`.
  struct Answer {
    std::shared_ptr<TypeContext> types = {};
    std::vector<const Type*> operands = {};
    const Type* output = nullptr;
    std::vector<runtime::Shape> results = {};

    bool isOfNumbers() const { return types != nullptr; }
  };

  std::variant<Code, runtime::Fault> find(const Question& question);
  std::variant<Code, runtime::Fault> make(const Question& question, CodeKey key, Answer answer);
  std::optional<runtime::Fault> makeComputation(const Question& question, const OpenCall* open,
                                                Answer& answer, CallCode& code);
  std::optional<runtime::Fault> ask(const Question& question, Answer& answer);
  std::shared_ptr<const OpenCall> openCall(const Question& question);
  size_t mostKept() const;
  const Type* checkedType(const Question& question, size_t argument) const;
  std::shared_ptr<TypeContext> scratchTypes();
  const Attributes& defaults(const OperatorRow& row);
  std::variant<runtime::Value, runtime::Fault>
  run(const CallCode& code, std::span<runtime::Value> inputs, SourceRange call);
  runtime::NativeFault runNative(const CallCode& code, std::span<runtime::Value> inputs,
                                 std::vector<runtime::Value>& outputs, SourceRange call);

  const Typing& typing_;
  const OperatorTable& table_;
  const tensor::TensorEngine& engine_;
  Rounding rounding_;
  /// Those that were told of.
  std::unordered_set<const OperatorRow*> rounded_;
  CodeCache codes_;
  /// For calls over open sizes, which definitions with other names share.
  TypeContext names_;
  runtime::RecentlyUsed<const OpenCall> open_;
  std::unordered_map<const Call*, Site> sites_;
  /// For the next few questions: types are interned, and never freed one by one.
  std::shared_ptr<TypeContext> types_;
  size_t usesOfTypes_ = 0;
  std::unordered_map<const OperatorRow*, Attributes> defaults_;
};

} // namespace lang
