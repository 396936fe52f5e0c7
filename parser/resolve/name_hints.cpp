// The same name first, then those by the distance of their letters.
#include "parser/resolve/name_hints.h"

#include "lang/op/op.h"
#include "lang/source/edit_distance.h"

#include <algorithm>

namespace parser {

using lang::Words;

namespace {

constexpr size_t mostNames = 4;

/// Two names for one thing: in other languages and in ours.
struct Habit {
  std::string_view theirs;
  std::string_view ours;
};

constexpr Habit dtypes[] = {
    {"double", "float64"}, {"half", "float16"},  {"single", "float32"}, {"real", "float32"},
    {"number", "float32"}, {"long", "int64"},    {"short", "int16"},    {"char", "int8"},
    {"byte", "uint8"},     {"integer", "int32"}, {"boolean", "bool"},   {"f16", "float16"},
    {"f32", "float32"},    {"f64", "float64"},   {"i8", "int8"},        {"i16", "int16"},
    {"i32", "int32"},      {"i64", "int64"},     {"u8", "uint8"},       {"u16", "uint16"},
    {"u32", "uint32"},     {"u64", "uint64"},    {"bf16", "bfloat16"},
};

constexpr std::string_view commonDTypes[] = {"float32", "float64", "float16", "int32", "int64",
                                             "int16",   "int8",    "uint8",   "bool",  "bfloat16",
                                             "uint16",  "uint32",  "uint64"};

constexpr Habit attributes[] = {
    {"dim", "axis"},
    {"dims", "axis"},
    {"axes", "axis"},
    {"dim", "axes"},
    {"dims", "axes"},
    {"axis", "axes"},
    {"perm", "axes"},
    {"permutation", "axes"},
    {"shape", "newshape"},
    {R"(size)", "newshape"},
    {R"(size)", "shape"},
    {"shape", R"(size)"},
    {"kernel", "kernel_size"},
    {"kernel", "pool_size"},
    {"kernel_size", "pool_size"},
    {"window", "pool_size"},
    {R"(size)", "pool_size"},
    {"pad", "padding"},
    {"pad", "pad_width"},
    {"padding", "pad_width"},
    {"paddings", "pad_width"},
    {"dilations", "dilation"},
    {"step", "strides"},
    {"steps", "strides"},
    {"start", "begin"},
    {"stop", "end"},
    {"type", "dtype"},
    {"p", "rate"},
    {"prob", "rate"},
    {"sections", "indices_or_sections"},
    {"chunks", "indices_or_sections"},
    {"num", "indices_or_sections"},
    {"times", "repeats"},
    {"repeats", "reps"},
    {"reps", "repeats"},
    {R"(min)", "a_min"},
    {R"(max)", "a_max"},
    {"eps", "epsilon"},
    {"slope", "alpha"},
    {"negative_slope", "alpha"},
    {"num_classes", "depth"},
    {"format", "layout"},
    {"data_format", "layout"},
    {"data_format", "data_layout"},
    {"layout", "data_layout"},
    {"filters", "channels"},
    {"out_channels", "channels"},
    {"features", "units"},
    {"out_features", "units"},
    {"mode", "method"},
    {"mode", "pad_mode"},
};

/// The letters of the last part of a name, small and without `_`: `batchnorm` of `nn.batch_norm`.
std::string coreOf(std::string_view name) {
  std::string core;
  for (char c : name.substr(name.rfind('.') + 1))
    if (c != '_')
      core += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return core;
}

struct Guess {
  /// In Relay's notation, by which guesses are told apart and ordered.
  std::string text;
  size_t distance;
  Words code;
  /// What is said of it, instead of a question, when it is sure.
  std::string fact = {};
};

/// How far a choice is from what was written, or nothing when it is another name altogether.
std::optional<size_t> distanceOf(std::string_view name, std::string_view core,
                                 std::string_view choice) {
  if (name == choice)
    return 0;
  std::string other = coreOf(choice);
  if (core == other)
    return 1;
  size_t limit = core.size() < 3 ? 0 : core.size() / 3;
  size_t distance =
      std::min(lang::editDistance(name, choice, limit), lang::editDistance(core, other, limit));
  return distance <= limit ? std::optional(distance + 1) : std::nullopt;
}

void suggestGuesses(lang::Diagnostic& report, lang::SourceRange range, std::vector<Guess> guesses) {
  std::ranges::sort(guesses, {}, [](const Guess& guess) {
    return std::pair<size_t, std::string_view>(guess.distance, guess.text);
  });
  auto isSame = [](const Guess& left, const Guess& right) { return left.text == right.text; };
  guesses.erase(std::ranges::unique(guesses, isSame).begin(), guesses.end());
  if (guesses.size() > mostNames)
    guesses.resize(mostNames);
  // Names that are farther off are of interest when the nearest ones are wrong.
  for (const Guess& guess : guesses) {
    bool isSure = !guess.fact.empty();
    report.suggest({isSure ? guess.fact : "did you mean {}?",
                    {{range, guess.code}},
                    {},
                    guess.distance > guesses[0].distance,
                    isSure});
  }
}

/// What may be a qualifier instead of a sigil stays as it is.
Words nameWithSigil(std::string_view sigil, std::string_view name) {
  return sigil == "%"   ? lang::localName(name)
         : sigil == "@" ? lang::globalName(name)
                        : lang::words("{}{}", sigil, lang::plainName(name));
}

} // namespace

NameChoices operatorsCalled(const lang::OperatorTable& operators, std::string_view name) {
  NameChoices choices{.sigil = "", .names = {}, .areTranslations = true};
  auto isSame = [core = coreOf(name)](std::string_view other) { return coreOf(other) == core; };
  for (const lang::OperatorRow* row : operators.all())
    if (std::ranges::any_of(row->otherNames(), isSame))
      choices.names.push_back(row->name);
  return choices;
}

void suggestNames(lang::Diagnostic& report, lang::SourceRange range, std::string_view name,
                  std::span<const NameChoices> choices) {
  std::string core = coreOf(name);
  std::vector<Guess> guesses;
  for (const NameChoices& kind : choices)
    for (std::string_view choice : kind.names)
      if (kind.areTranslations)
        guesses.push_back({std::string(choice), 1, choice, fmt::format("`{}` is {{}} here", name)});
      else if (auto distance = distanceOf(name, core, choice))
        guesses.push_back({fmt::format("{}{}", kind.sigil, choice), *distance,
                           nameWithSigil(kind.sigil, choice)});
  suggestGuesses(report, range, std::move(guesses));
}

void suggestDType(lang::Diagnostic& report, lang::SourceRange range, std::string_view name,
                  bool isValue) {
  std::string core = coreOf(name);
  std::vector<Guess> guesses;
  auto add = [&](std::string_view dtype, size_t distance) {
    runtime::DType known = *runtime::parseDType(dtype);
    guesses.push_back({std::string(dtype), distance,
                       isValue ? runtime::dtypeValue(known) : runtime::spelled(known)});
  };
  for (const Habit& habit : dtypes)
    if (habit.theirs == core)
      add(habit.ours, 1);
  for (std::string_view dtype : commonDTypes)
    if (auto distance = distanceOf(name, core, dtype))
      add(dtype, *distance + 1);
  suggestGuesses(report, range, std::move(guesses));
}

void suggestAttributes(lang::Diagnostic& report, std::string_view name,
                       const lang::OperatorRow& row, const std::vector<lang::SourceRange>& given) {
  std::string core = coreOf(name);
  std::vector<Guess> guesses;
  for (size_t i = 0; i < row.attributes.size(); ++i) {
    std::string_view ours = row.attributes[i].name;
    auto isHabit = [&](const Habit& habit) { return habit.theirs == name && habit.ours == ours; };
    if (given[i].isValid())
      continue;
    if (auto distance = distanceOf(name, core, ours))
      guesses.push_back({std::string(ours), *distance, ours});
    else if (std::ranges::any_of(attributes, isHabit))
      guesses.push_back({std::string(ours), 1, ours});
    else if (row.attributes[i].defaultText.empty())
      guesses.push_back({std::string(ours), name.size() + ours.size(), ours});
  }
  suggestGuesses(report, report.range, std::move(guesses));
}

} // namespace parser
