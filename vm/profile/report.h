// What a recorder found, for people and for programs that show such things.
#pragma once

#include "vm/profile/recorder.h"

namespace profile {

/// The totals as a table, the most own time first, with a heading of the whole run. Shows at most
/// `mostRows` subjects, and says how many are left.
std::string tableText(const Recorder& recorder, size_t mostRows = 60);

/// The call tree as an SVG picture that needs nothing else: the width of a box is the time of a
/// call, what it calls stands on it, and its title says all in words. Boxes too narrow to see are
/// left out.
std::string flameGraph(const Recorder& recorder, const std::string& title);

/// The events in the trace event format, which chrome://tracing and Perfetto show. Names must be
/// UTF-8.
std::string chromeTrace(const Recorder& recorder);

} // namespace profile
