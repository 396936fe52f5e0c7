// Rows of the same name and place are told apart by their sizes alone, which the table leaves out.
#include "driver/kernel_table.h"

#include "lang/source/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

constexpr size_t mostRows = 40, longestName = 36;

double median(std::vector<double> times) {
  auto middle = times.begin() + ptrdiff_t(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

std::string cut(const std::string& name) {
  return name.size() <= longestName ? name : name.substr(0, longestName - 3) + "...";
}

std::string shareText(double share) {
  return share > 0 ? fmt::format("{:.0f} %", share * 100) : "-";
}

std::string bytesText(double bytes) {
  return bytes < double(1 << 20) ? fmt::format("{:.0f} KiB", bytes / 1024)
                                 : fmt::format("{:.0f} MiB", bytes / double(1 << 20));
}

std::string roofText(const codegen::RoofLines& roof) {
  std::string text =
      fmt::format("roof lines: {:.1f} GFLOP/s of float32", roof.operationsPerSecond / 1e9);
  for (const codegen::MemoryLine& line : roof.memory)
    text += fmt::format(", {:.1f} GB/s within {}", line.bytesPerSecond / 1e9,
                        bytesText(line.workingBytes));
  return text + '\n';
}

std::string rowText(std::string_view name, std::string_view place, std::string_view calls,
                    std::string_view time, std::string_view operations, std::string_view bytes,
                    std::string_view share) {
  return fmt::format("{:<{}}  {:>9}  {:>7}  {:>10}  {:>8}  {:>7}  {:>5}\n", name, longestName,
                     place, calls, time, operations, bytes, share);
}

} // namespace

std::string durationText(double seconds) {
  if (seconds < 1e-3)
    return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1)
    return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::vector<KernelRow> kernelRows(const bytecode::Repetition& repetition,
                                  const std::function<std::string(runtime::SourceRange)>& place,
                                  const codegen::RoofLines* roof) {
  std::vector<KernelRow> rows;
  for (const bytecode::WatchedKernel& kernel : repetition.watch.kernels()) {
    KernelRow row{lang::printable(kernel.name), place(kernel.range),
                  double(kernel.times.size()) / double(repetition.watchedCalls.size()),
                  median(kernel.times)};
    row.total = row.calls * row.median;
    row.demand = kernel.demand;
    if (roof && row.median > 0)
      row.share = roof->secondsOf(kernel.demand) / row.median;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &KernelRow::total);
  return rows;
}

std::string kernelTable(const std::vector<KernelRow>& rows, const bytecode::Repetition& repetition,
                        const codegen::RoofLines* roof) {
  if (rows.empty())
    return "";
  std::string text = roof ? roofText(*roof) : "";
  text += rowText("kernel", "place", "calls", "median", "GFLOP/s", "GB/s", "share");
  double inKernels = 0, left = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const KernelRow& row = rows[i];
    inKernels += row.total;
    if (i >= mostRows)
      left += row.total;
    else
      text += rowText(
          cut(row.name), row.place, fmt::format("{:.3g}", row.calls), durationText(row.median),
          fmt::format("{:.2f}", row.operations() / row.median / 1e9),
          fmt::format("{:.2f}", row.demand.bytes / row.median / 1e9), shareText(row.share));
  }
  if (rows.size() > mostRows)
    text += fmt::format("{} more take {} together\n", rows.size() - mostRows, durationText(left));
  std::vector<double> calls;
  for (const auto& call : repetition.watchedCalls)
    calls.push_back(call.clock);
  return text + fmt::format("{} of a call outside of kernels\n",
                            durationText(std::max(0.0, median(calls) - inKernels)));
}

std::string kernelsJson(const std::vector<KernelRow>& rows) {
  std::string text;
  for (const KernelRow& row : rows)
    text += fmt::format("{}{{\"name\": {}, \"place\": {}, \"calls\": {:.6g}, \"median_s\": {:.9g}, "
                        "\"flops\": {:.9g}, \"bytes\": {:.9g}, \"gflop_per_s\": {:.6g}, "
                        "\"gb_per_s\": {:.6g}, \"share\": {}}}",
                        text.empty() ? "" : ", ", lang::jsonQuoted(row.name),
                        lang::jsonQuoted(row.place), row.calls, row.median, row.operations(),
                        row.demand.bytes, row.operations() / row.median / 1e9,
                        row.demand.bytes / row.median / 1e9,
                        row.share > 0 ? fmt::format("{:.4g}", row.share) : "null");
  return '[' + text + ']';
}

std::string roofJson(const codegen::RoofLines* roof) {
  if (!roof)
    return "null";
  std::string memory;
  for (const codegen::MemoryLine& line : roof->memory)
    memory += fmt::format("{}{{\"within_bytes\": {:.0f}, \"gb_per_s\": {:.6g}}}",
                          memory.empty() ? "" : ", ", line.workingBytes, line.bytesPerSecond / 1e9);
  return fmt::format("{{\"gflop_per_s\": {:.6g}, \"memory\": [{}]}}",
                     roof->operationsPerSecond / 1e9, memory);
}

} // namespace driver
