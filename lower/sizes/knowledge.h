// What is known at places, and what was found out there, each once for a table of forms.
//
// A scope has one thing more than the scope around it. Equal ones are one number, so what was found
// out of a form at a place counts wherever the same is known, and in copies of the table.
#pragma once

#include "lower/sizes/hash_index.h"
#include "lower/sizes/terms.h"

#include <optional>
#include <span>

namespace sizes {

/// What is known at a place, by its number; the first one is nothing.
enum class Scope : uint32_t {};

enum class KnownKind : uint8_t { Nothing, Size, Loop, Hold };

/// Of a size the least that it is and what it is a multiple of; of a loop its variable and where that
/// ends; or a form that is not negative.
struct Known {
  Scope around = {};
  KnownKind kind = KnownKind::Nothing;
  Name name = {};
  Form form = {};
  int64_t least = 0, multiple = 1;
  friend bool operator==(const Known&, const Known&) = default;
};

enum class Question : uint8_t { IsNeverNegative, Simplified };

class Knowledge {
public:
  Knowledge() : known_(1) {}

  Scope inside(const Known& known);
  const Known& at(Scope scope) const { return known_[size_t(scope)]; }

  std::optional<uint32_t> answer(Scope scope, Question question, Form form) const;
  /// Notes an answer that is not there.
  void note(Scope scope, Question question, Form form, uint32_t answer);
  size_t answerCount() const { return answers_.size(); }

  /// Whether somebody noted this, whatever the numbers stand for there.
  bool isNoted(std::span<const uint64_t> finding) const;
  void note(std::span<const uint64_t> finding);

private:
  struct Answer {
    Scope scope;
    Question question;
    Form form;
    uint32_t answer;
  };

  std::vector<Known> known_;
  HashIndex scopes_;
  std::vector<Answer> answers_;
  HashIndex answerOf_;
  Shelf<uint64_t> words_;
  std::vector<std::span<const uint64_t>> findings_;
  HashIndex placeOfFinding_;
};

} // namespace sizes
