// Trials run in a session of their own, so that nothing of them is left.
#include "driver/session/suggestions.h"

#include "lang/source/edit.h"

#include <algorithm>

namespace driver {

using lang::Diagnostic;
using lang::Edit;
using lang::Severity;
using lang::Suggestion;

namespace {

/// Of one program: how many changes are tried, and how much text is read for them.
constexpr size_t mostTrials = 48;
constexpr size_t mostText = size_t(4) << 20;
/// More than these are no help.
constexpr size_t mostShown = 2;

class Trials {
public:
  Trials(const Program& program, const lang::OperatorTable& operators, bool withTests)
      : program_(program), operators_(operators), withTests_(withTests) {}

  /// The suggestion with settled edits when it helps, alone or with what its call lacks then.
  std::optional<Suggestion> helpful(const Diagnostic& finding, Suggestion suggestion) {
    auto edits = lang::settledEdits(*program_.source, std::move(suggestion.edits));
    if (!edits || edits->empty())
      return std::nullopt;
    suggestion.edits = std::move(*edits);
    auto changed = tried(*program_.source, suggestion.edits);
    if (!changed)
      return std::nullopt;
    std::vector<const Diagnostic*> news = newErrors(finding, suggestion.edits, *changed);
    if (news.empty() || areElsewhere(news, suggestion.edits, *changed))
      return suggestion;
    using enum lang::Message;
    constexpr lang::Message ofCalls[] = {MissingAttribute, UnknownAttribute, ArgumentCount};
    bool isOfCall =
        news.size() == 1 && std::ranges::find(ofCalls, news[0]->message) != std::end(ofCalls);
    return isOfCall ? withMore(finding, suggestion, *changed, *news[0]) : std::nullopt;
  }

private:
  using Definitions = std::span<const parser::surface::Definition* const>;

  /// The text with the edits as a program, while there is time for it.
  std::optional<Program> tried(const lang::SourceFile& source, std::span<const Edit> edits) {
    size_ += source.text().size();
    for (const parser::ImportedText& text : program_.imports.texts)
      size_ += text.isLibrary ? 0 : text.source->text().size();
    if (++count_ > mostTrials || size_ > mostText)
      return std::nullopt;
    if (!session_)
      session_ = std::make_unique<Session>(operators_, Suggestions::AsFound);
    if (withTests_)
      session_->includeTests();
    auto changed = session_->loadText(source.name(), lang::editedText(source, edits));
    return changed ? std::optional(std::move(*changed)) : std::nullopt;
  }

  /// The errors of the changed program that it had not before, or the finding that has stayed.
  std::vector<const Diagnostic*> newErrors(const Diagnostic& finding, std::span<const Edit> edits,
                                           const Program& changed) const {
    uint32_t offset = changed.source->base() - program_.source->base();
    std::vector<const Diagnostic*> news;
    for (const Diagnostic& now : changed.diagnostics.all()) {
      auto isSame = [&](const Diagnostic& before) { return same(before, now, edits, offset); };
      bool isNew = now.severity() == Severity::Error &&
                   std::ranges::none_of(program_.diagnostics.all(), isSame);
      if (isNew || isSame(finding))
        news.push_back(&now);
    }
    return news;
  }

  /// Whether errors that nobody saw before have nothing to do with the edits: they are not in the
  /// definition that these are in, and stay when a hole takes the place of its body.
  bool areElsewhere(const std::vector<const Diagnostic*>& news, std::span<const Edit> edits,
                    const Program& changed) {
    uint32_t offset = changed.source->base() - program_.source->base();
    uint32_t first = lang::movedPlace(edits.front().range.begin, edits, false) + offset;
    uint32_t last = lang::movedPlace(edits.back().range.end, edits, true) + offset;
    const parser::surface::FunctionDefinition* around = nullptr;
    for (const auto* definition : changed.tree ? changed.tree->definitions : Definitions{})
      if (definition->range.begin <= first && last <= definition->range.end)
        around = parser::surface::tryAs<parser::surface::FunctionDefinition>(definition);
    if (!around || !around->function->body)
      return false;
    auto isInside = [&](const Diagnostic* error) {
      return around->range.begin <= error->range.begin && error->range.end <= around->range.end;
    };
    if (std::ranges::any_of(news, isInside))
      return false;
    const Edit hole{around->function->body->range, "_"};
    auto open = tried(*changed.source, std::span(&hole, 1));
    auto stays = [&](const Diagnostic* error) {
      uint32_t distance = open->source->base() - changed.source->base();
      return std::ranges::any_of(std::as_const(open->diagnostics).all(), [&](const auto& now) {
        return same(*error, now, std::span(&hole, 1), distance);
      });
    };
    return open && std::ranges::all_of(news, stays);
  }

  /// A suggestion together with the first one for a new error of the changed program.
  std::optional<Suggestion> withMore(const Diagnostic& finding, Suggestion suggestion,
                                     const Program& changed, const Diagnostic& error) {
    uint32_t offset = changed.source->base() - program_.source->base();
    // Back from the changed text to the program.
    auto back = [&](lang::SourceRange range) -> std::optional<lang::SourceRange> {
      auto begin = lang::originalPlace(range.begin - offset, suggestion.edits);
      auto end = lang::originalPlace(range.end - offset, suggestion.edits);
      return begin && end ? std::optional(lang::SourceRange{*begin, *end}) : std::nullopt;
    };
    auto shown = back(error.range);
    if (error.suggestions.empty() || !shown)
      return std::nullopt;
    auto more = lang::settledEdits(*changed.source, error.suggestions[0].edits);
    std::vector<Edit> all = suggestion.edits;
    for (const Edit& edit : more.value_or(std::vector<Edit>{})) {
      auto range = back(edit.range);
      if (!range)
        return std::nullopt;
      all.push_back({*range, edit.text});
    }
    auto edits = lang::settledEdits(*program_.source, std::move(all));
    auto both = edits ? tried(*program_.source, *edits) : std::nullopt;
    if (!both || !newErrors(finding, *edits, *both).empty())
      return std::nullopt;
    suggestion.edits = std::move(*edits);
    if (error.message == lang::Message::UnknownAttribute)
      shown->end = endOfCall(shown->end);
    suggestion.shown = *shown;
    return suggestion;
  }

  /// Where the call ends that a place in the program is inside of.
  uint32_t endOfCall(uint32_t place) const {
    std::string_view text = program_.source->text();
    size_t depth = 1;
    for (size_t at = place - program_.source->base(); at < text.size(); ++at) {
      depth += text[at] == '(' ? 1 : text[at] == ')' ? size_t(-1) : 0;
      if (depth == 0)
        return program_.source->base() + uint32_t(at) + 1;
    }
    return place;
  }

  /// Whether a finding of the program is one of the changed program. What is put in right at the
  /// end of its place may belong to the place or not.
  static bool same(const Diagnostic& before, const Diagnostic& now, std::span<const Edit> edits,
                   uint32_t offset) {
    auto isMoved = [&](uint32_t from, uint32_t to) {
      return lang::movedPlace(from, edits, false) == to - offset ||
             lang::movedPlace(from, edits, true) == to - offset;
    };
    if (before.message != now.message || before.range.isValid() != now.range.isValid())
      return false;
    bool isThere = !before.range.isValid() || (isMoved(before.range.begin, now.range.begin) &&
                                               isMoved(before.range.end, now.range.end));
    return isThere && before.text.plain() == now.text.plain();
  }

  const Program& program_;
  const lang::OperatorTable& operators_;
  bool withTests_;
  std::unique_ptr<Session> session_ = nullptr;
  size_t count_ = 0;
  size_t size_ = 0;
};

std::vector<Suggestion> helpfulOnes(Trials& trials, const Diagnostic& finding) {
  std::vector<Suggestion> kept;
  for (const Suggestion& suggestion : finding.suggestions) {
    if (kept.size() == mostShown || (suggestion.isFallback && !kept.empty()))
      continue;
    if (auto helpful = trials.helpful(finding, suggestion))
      kept.push_back(std::move(*helpful));
  }
  return kept;
}

} // namespace

namespace {

/// What is right at the place of a finding, though it does not help: as notes.
void noteFacts(Diagnostic& finding, const Program& program, const lang::SourceMap& sources) {
  std::vector<Suggestion> facts;
  for (Suggestion fact : finding.suggestions) {
    auto edits = lang::settledEdits(*program.source, std::move(fact.edits));
    if (!fact.isFact || !edits || facts.size() == mostShown)
      continue;
    fact.edits = std::move(*edits);
    facts.push_back(std::move(fact));
  }
  for (std::string& line : lang::helpLines(facts, sources, program.notation()))
    finding.note(std::move(line));
}

} // namespace

void keepWhatHelps(Program& program, const lang::OperatorTable& operators,
                   const lang::SourceMap& sources, bool withTests) {
  Trials trials(program, operators, withTests);
  // Of more errors than are kept, nobody could tell which are new.
  bool isKnown = program.diagnostics.errorCount() <= lang::Diagnostics::maximumErrors;
  for (Diagnostic& finding : program.diagnostics.all()) {
    std::vector<Suggestion> kept;
    if (isKnown && !finding.suggestions.empty())
      kept = helpfulOnes(trials, finding);
    if (kept.empty())
      noteFacts(finding, program, sources);
    finding.suggestions = std::move(kept);
  }
}

} // namespace driver
