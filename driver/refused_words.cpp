// CLI11 puts up with words that it does not know until it has read all, and then names those that
// came of one mistake in any order; here the first option that there is not is named.
#include "driver/refused_words.h"

#include "lang/source/edit_distance.h"
#include "lang/source/utf8.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>
#include <sstream>

namespace driver {

namespace {

/// A sentence of CLI11 in our form; values in it may be any bytes.
std::string problemText(const CLI::Error& problem) {
  std::string text = lang::printable(problem.what());
  bool isSentence = text.size() > 1 && std::islower(uint8_t(text[1]));
  if (isSentence)
    text[0] = char(std::tolower(uint8_t(text[0])));
  return text + "\nsee `baton --help`";
}

/// The first word that looks like an option and is none of the command, without its value.
std::string unknownOption(const CLI::App& command) {
  for (const std::string& word : command.remaining(true))
    if (word.size() > 1 && word[0] == '-')
      return word.substr(0, word.find('='));
  return "";
}

std::string unknownOptionText(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  auto similar = lang::similarNames(word, names);
  const std::string advice = similar.empty()
                                 ? fmt::format("see `baton {} --help`", command.get_name())
                                 : fmt::format("did you mean `{}`?", similar[0]);
  return fmt::format("`baton {}` has no option {}; {}", command.get_name(),
                     formats::backquoted(word), advice);
}

} // namespace

std::optional<Answer> refuseUnknownCommand(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({}))
    names.push_back(command->get_name());
  bool isKnown = std::find(names.begin(), names.end(), word) != names.end();
  bool isOption = word.starts_with('-');
  if (word.empty() || isKnown || (isOption && app.get_option_no_throw(std::string(word))))
    return std::nullopt;
  Answer answer;
  if (isOption) {
    answer.fail(ExitCode::World,
                fmt::format("there is no option {} in front of a command; see `baton --help`",
                            formats::backquoted(word)));
    return answer;
  }
  auto similar = lang::similarNames(word, names);
  std::string advice = similar.empty() ? fmt::format("the commands are {}", fmt::join(names, ", "))
                                       : fmt::format("did you mean `{}`?", similar[0]);
  answer.fail(ExitCode::World,
              fmt::format("there is no command {}; {}", formats::backquoted(word), advice));
  return answer;
}

Answer refuseWords(const CLI::App& app, const CLI::ParseError& problem) {
  Answer answer;
  const auto commands = app.get_subcommands();
  if (problem.get_exit_code() == int(CLI::ExitCodes::Success)) {
    std::ostringstream output, errors;
    app.exit(problem, output, errors);
    answer.output = output.str();
  } else if (std::string word = commands.empty() ? "" : unknownOption(*commands[0]);
             !word.empty()) {
    answer.fail(ExitCode::World, unknownOptionText(*commands[0], word));
  } else {
    answer.fail(ExitCode::World, problemText(problem));
  }
  return answer;
}

} // namespace driver
