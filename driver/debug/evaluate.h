// Expressions that people ask for while a run stands still, in the scope of one of its open calls.
//
// An expression becomes a function of the variables that it mentions, in the very module that runs,
// so that values of all kinds fit; it is checked there and run by an interpreter of its own.
#pragma once

#include "driver/debug/view.h"
#include "interp/interpret.h"

#include <map>

namespace driver {

/// A variable that can be named, and its value.
struct Named {
  std::string_view name;
  const lang::Var* var;
  const runtime::Value* value;
};

class Evaluator {
public:
  /// All must outlive this. The program gets a function for each expression while that is run.
  Evaluator(Session& session, Program& program, interp::Options how);

  /// Whether the text is an expression, whatever its variables are; the error has several lines, as
  /// all that follow.
  runtime::Result<bool> read(std::string_view expression);
  /// Its value.
  runtime::Result<runtime::Value> value(std::string_view expression,
                                        std::span<const Named> variables);
  /// The value as text.
  runtime::Result<std::string> text(std::string_view expression, std::span<const Named> variables);

private:
  struct Compiled {
    const lang::Global* global = nullptr;
    lang::Typing typing = {};
  };
  runtime::Result<const Compiled*> compile(std::string_view expression,
                                           std::span<const Named> variables);
  runtime::Result<Program> load(std::string_view expression, std::span<const Named> variables);
  runtime::Result<Compiled> import(const Program& loaded, std::span<const Named> variables);
  const lang::Type* typeOf(const Named& variable);
  runtime::Error errorOf(const lang::Diagnostics& diagnostics) const;

  Session& session_;
  Program& program_;
  interp::Options how_;
  /// Of the functions that expressions become; the program has none of that name.
  std::string name_;
  /// By expression and types.
  std::map<std::string, Compiled> known_;
};

/// The names of variables that an expression mentions, without `%`.
std::vector<std::string_view> namesIn(std::string_view expression);

} // namespace driver
