// Both lists only grow; a copy of a table takes them along.
#include "lower/sizes/knowledge.h"

namespace sizes {

namespace {

uint64_t hashOf(Scope scope, Question question, Form form) {
  return mixed(uint64_t(scope) << 32 | uint64_t(form), uint64_t(question));
}

uint64_t hashOf(std::span<const uint64_t> words) {
  uint64_t hash = words.size();
  for (uint64_t word : words)
    hash = mixed(hash, word);
  return hash;
}

} // namespace

Scope Knowledge::inside(const Known& known) {
  uint64_t hash = mixed(uint64_t(known.around) << 32 | uint64_t(known.form),
                        uint64_t(known.kind) << 32 | uint64_t(known.name));
  hash = mixed(mixed(hash, uint64_t(known.least)), uint64_t(known.multiple));
  uint32_t found = scopes_.find(hash, [&](uint32_t scope) { return known_[scope] == known; });
  if (found != HashIndex::none)
    return Scope(found);
  scopes_.add(hash, uint32_t(known_.size()));
  known_.push_back(known);
  return Scope(known_.size() - 1);
}

std::optional<uint32_t> Knowledge::answer(Scope scope, Question question, Form form) const {
  uint32_t found = answerOf_.find(hashOf(scope, question, form), [&](uint32_t at) {
    const Answer& answer = answers_[at];
    return answer.scope == scope && answer.question == question && answer.form == form;
  });
  return found == HashIndex::none ? std::nullopt : std::optional(answers_[found].answer);
}

void Knowledge::note(Scope scope, Question question, Form form, uint32_t answer) {
  answerOf_.add(hashOf(scope, question, form), uint32_t(answers_.size()));
  answers_.push_back({scope, question, form, answer});
}

bool Knowledge::isNoted(std::span<const uint64_t> finding) const {
  return placeOfFinding_.find(hashOf(finding), [&](uint32_t at) {
    return std::ranges::equal(findings_[at], finding);
  }) != HashIndex::none;
}

void Knowledge::note(std::span<const uint64_t> finding) {
  placeOfFinding_.add(hashOf(finding), uint32_t(findings_.size()));
  findings_.push_back(words_.put(finding));
}

} // namespace sizes
