// The JSON messages between a Session and its host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/guardrail.h"
#include "sluice/layers.h"
#include "sluice/status.h"

namespace sluice {

/// The failure of a call out of order, or of a wrong argument at `path`.
Status misuse(std::string path, std::string message);

/// Parses the argument of `Session::begin`. Unknown keys are ignored; a wrong type fails with
/// `misuse` and the key.
Status read_call(std::string_view json, Call& call);

/// Parses the argument of `Session::stored`.
Status read_stored(std::string_view json, uint32_t& segment, Stored& stored);

/// Parses the argument of `Session::open_bytes`.
void read_told(std::string_view json, Stored& told);

std::string write_segment(const Segment& segment);
std::string write_showable(const std::vector<Showable>& showable,
                           const std::vector<Segment>& segments, const InlineMedia& media,
                           bool is_error, size_t reduced_bytes);
Status read_shown(std::string_view json, uint32_t& segment, Shown& shown);
std::string write_tasks(const std::vector<Task>& tasks);
std::string write_report(const Clamped& clamped);

}  // namespace sluice
