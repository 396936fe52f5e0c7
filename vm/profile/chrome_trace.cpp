// Complete events ("X") with times in microseconds; a viewer nests them by their times.
#include "vm/profile/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace profile {

namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (uint8_t(c) < 0x20)
      result += fmt::format("\\u{:04x}", c);
    else
      result += c;
  return result + '"';
}

/// What the events of a subject have in common.
std::string head(const Subject& subject) {
  std::string at =
      subject.place.empty() ? "" : fmt::format(",\"args\":{{\"at\":{}}}", quoted(subject.place));
  return fmt::format("{{\"name\":{},\"cat\":\"{}\",\"ph\":\"X\",\"pid\":1,\"tid\":1{}",
                     quoted(subject.name), subject.isFunction ? "function" : "operator", at);
}

} // namespace

std::string chromeTrace(const Recorder& recorder) {
  std::vector<Event> events = recorder.events();
  std::ranges::sort(events, {}, [](const Event& event) {
    return std::tuple(event.start, UINT64_MAX - event.duration, event.subject);
  });
  std::vector<std::string> heads;
  for (const Subject& subject : recorder.subjects())
    heads.push_back(head(subject));
  std::string text = "{\"displayTimeUnit\":\"ns\",\n";
  text += fmt::format("\"otherData\":{{\"calls left out\":{}}},\n\"traceEvents\":[\n",
                      recorder.missingEvents());
  text += "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,"
          "\"args\":{\"name\":\"baton run\"}}";
  for (const Event& event : events)
    fmt::format_to(std::back_inserter(text), ",\n{},\"ts\":{:.3f},\"dur\":{:.3f}}}",
                   heads[event.subject], double(event.start) / 1e3, double(event.duration) / 1e3);
  return text + "\n]}\n";
}

} // namespace profile
