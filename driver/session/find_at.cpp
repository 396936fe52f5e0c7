// One walk over the bindings keeps the shortest range that holds the place.
//
// Variables and definitions are one node for binder and uses, so uses have their place in operands
// and bindings. The name in `%0 = e;` is in no node, since the line names no variable: it is read
// off the text.
#include "driver/session/find_at.h"

#include "lang/ir/walk.h"

namespace driver {

namespace {

using lang::Expr;
using lang::ExprKind;
using lang::SourceRange;
using lang::Type;

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view digits = "0123456789";

/// Where the text goes on behind blanks and comments.
size_t skipBlanks(std::string_view text, size_t at) {
  for (;;) {
    at = std::min(text.find_first_not_of(blanks, at), text.size());
    std::string_view rest = text.substr(at);
    std::string_view close = rest.starts_with("//") ? "\n" : rest.starts_with("/*") ? "*/" : "";
    if (close.empty())
      return at;
    size_t end = text.find(close, at + 2);
    if (end == std::string_view::npos)
      return text.size();
    at = end + close.size();
  }
}

/// Where a bound value may begin, from its first parenthesis to behind all of them.
struct ValuePlace {
  size_t first;
  size_t last;
};

/// The value behind the `=` that follows `at`.
ValuePlace valueBehind(std::string_view text, size_t at) {
  ValuePlace place{skipBlanks(text, skipBlanks(text, at) + 1), 0};
  place.last = place.first;
  while (place.last < text.size() && text[place.last] == '(')
    place.last = skipBlanks(text, place.last + 1);
  return place;
}

class Finder {
public:
  Finder(const Program& program, uint32_t offset)
      : module_(*program.module), typing_(program.typing), base_(program.source->base()),
        text_(program.source->text()), offset_(offset) {}

  std::optional<NodeAt> find() {
    findGraphLine();
    for (const lang::TypeDefinition* type :
         std::span(module_.typeDefinitions).subspan(module_.preludeTypes)) {
      offer({type->range, nullptr, nullptr, nullptr, type, true});
      for (const lang::Constructor* constructor : type->constructors)
        offerName(constructor->range, constructor, nullptr);
    }
    for (const lang::Global* global : std::span(module_.globals).subspan(module_.preludeGlobals)) {
      offerName(global->range, global, nullptr);
      if (!global->function)
        continue;
      offerParameters(*global->function);
      lang::walk(
          *global->function->body, [&](const lang::Binding& binding) { visit(binding); },
          [&](const lang::Operand& operand) { visit(operand); });
    }
    return graphNode_ ? graphNode_ : best_;
  }

private:
  bool holds(SourceRange range) const { return range.begin <= offset_ && offset_ < range.end; }

  void offer(const NodeAt& node) {
    if (!holds(node.range))
      return;
    uint32_t length = node.range.end - node.range.begin;
    uint32_t best = best_ ? best_->range.end - best_->range.begin : UINT32_MAX;
    if (length < best || (length == best && node.isName && !best_->isName))
      best_ = node;
  }

  void offerName(SourceRange range, const Expr* expr, const Type* type,
                 const lang::Call* call = nullptr) {
    offer({range, expr, type, call, nullptr, true});
  }

  void offerParameters(const lang::Function& function) {
    for (const lang::Var* parameter : function.parameters)
      offerName(parameter->range, parameter, typing_.of(*parameter));
  }

  void offerPattern(const lang::Pattern& root) {
    std::vector<const lang::Pattern*> open{&root};
    while (!open.empty()) {
      const lang::Pattern* pattern = open.back();
      open.pop_back();
      if (pattern->var)
        offerName(pattern->var->range, pattern->var, typing_.of(*pattern->var));
      if (pattern->constructor) {
        uint32_t begin = pattern->range.begin;
        uint32_t length = uint32_t(pattern->constructor->name.size());
        offerName({begin, begin + length}, pattern->constructor, nullptr);
      }
      open.insert(open.end(), pattern->parts.begin(), pattern->parts.end());
    }
  }

  void visit(const lang::Binding& binding) {
    const lang::Var& var = *binding.var;
    const Expr& value = *binding.value;
    if (binding.isLet() && !var.name.empty())
      offerName(var.range, &var, typing_.of(var));
    noteGraphLine(binding);
    if (value.isAtom() || isElsewhere(binding))
      visitAlias(binding);
    if (value.isAtom())
      return;
    offer({value.range, &value, typing_.of(var)});
    if (const auto* call = value.as<lang::Call>()) {
      if (call->callee.value->kind != ExprKind::Var)
        offerName(call->callee.range, call->callee.value, typing_.of(var), call);
    } else if (const auto* function = value.as<lang::Function>()) {
      offerParameters(*function);
    } else if (const auto* match = value.as<lang::Match>()) {
      for (const lang::Arm& arm : match->arms)
        offerPattern(*arm.pattern);
    }
  }

  /// A use of a temporary is a graph variable, or the very expression that the temporary is.
  void visit(const lang::Operand& operand) {
    const auto* var = operand.value->as<lang::Var>();
    if (var && var->name.empty() && operand.range == var->range)
      return;
    offerName(operand.range, operand.value, typing_.of(*operand.value));
  }

  /// True for a let whose value is a graph variable that stands for an expression written before.
  static bool isElsewhere(const lang::Binding& binding) {
    return binding.isLet() && !binding.value->isAtom() && binding.place != binding.value->range;
  }

  /// A value that is a name.
  void visitAlias(const lang::Binding& binding) {
    if (binding.isLet())
      offerName(binding.place, isElsewhere(binding) ? binding.var : binding.value,
                typing_.of(*binding.var));
  }

  /// Whether the place is at the `%0` of `%0 = e;`.
  void findGraphLine() {
    size_t at = offset_ - base_;
    if (at >= text_.size())
      return;
    size_t begin = text_[at] == '%' ? at : text_.find_last_not_of(digits, at);
    if (begin == std::string_view::npos || text_[begin] != '%')
      return;
    size_t end = std::min(text_.find_first_not_of(digits, begin + 1), text_.size());
    std::string_view rest = text_.substr(skipBlanks(text_, end));
    if (end == begin + 1 || !rest.starts_with('=') || rest.starts_with("=="))
      return;
    graphName_ = {base_ + uint32_t(begin), base_ + uint32_t(end)};
    graphValue_ = valueBehind(text_, end);
  }

  /// The value of a graph line is the longest expression that begins there.
  void noteGraphLine(const lang::Binding& binding) {
    SourceRange range = binding.value->range;
    if (!graphName_.isValid() || range.begin < base_ || (binding.isLet() && !isElsewhere(binding)))
      return;
    size_t begin = range.begin - base_, length = range.end - range.begin;
    if (begin < graphValue_.first || begin > graphValue_.last || length <= graphLength_)
      return;
    graphLength_ = length;
    graphNode_ = NodeAt{graphName_, binding.var, typing_.of(*binding.var), nullptr, nullptr, true};
  }

  const lang::Module& module_;
  const lang::Typing& typing_;
  uint32_t base_;
  std::string_view text_;
  uint32_t offset_;
  std::optional<NodeAt> best_;
  SourceRange graphName_;
  ValuePlace graphValue_{};
  size_t graphLength_ = 0;
  std::optional<NodeAt> graphNode_;
};

} // namespace

std::optional<NodeAt> findAt(const Program& program, uint32_t offset) {
  return Finder(program, offset).find();
}

} // namespace driver
