// The configuration, read over its defaults with the place of what is wrong, and the gate's options
// under it.
#include "sluice/config.h"

#include <algorithm>

#include "config/row.h"
#include "text/utf8.h"

namespace sluice {

// --- values --------------------------------------------------------------------------------------

namespace {

/// `Json::parse` would bring a second reader, for callbacks: 2 KB gzipped.
Json parse(std::string_view text) {
  Json value;
  nlohmann::detail::json_sax_dom_parser<Json> reader(value, false);
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) value = Json::value_t::discarded;
  return value;
}

}  // namespace

Json read_json(const Tape& tape) {
  for (size_t at = 0; at < tape.size(); ++at) {
    if (tape[at].type == Type::object && tape.count(at) > kMaxMembers)
      return Json::value_t::discarded;
  }
  return parse(tape.text());
}

std::string write_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace config {

// --- what a mistyped key was probably meant to be --------------------------------------------

namespace {

/// Longer keys are nobody's slip of a finger.
constexpr size_t kLongestTypo = 64;

/// Single-character edits between two texts (Levenshtein), `_`, `-` and case aside.
size_t distance(std::string_view a, std::string_view b) {
  const auto plain = [](char c) { return c == '-' ? '_' : static_cast<char>(c | 0x20); };
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (plain(a[i]) != plain(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j + 1] + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string_view nearest(std::string_view key, std::span<const std::string_view> known) {
  if (key.size() > kLongestTypo) return {};
  std::string_view best;
  size_t least = std::max<size_t>(2, key.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const size_t edits = distance(key, candidate);
    if (edits >= least) continue;
    least = edits;
    best = candidate;
  }
  return best;
}

/// The first kLongestTypo bytes of a key, whole characters only.
std::string_view shortened(std::string_view key) {
  size_t end = std::min(key.size(), kLongestTypo);
  while (end > 0 && end < key.size() && is_continuation(key[end])) --end;
  return key.substr(0, end);
}

std::string listed(std::span<const std::string_view> known) {
  std::string list;
  for (const std::string_view key : known) {
    if (!list.empty()) list += key == known.back() ? " and " : ", ";
    list += key;
  }
  return list;
}

}  // namespace

std::string path_below(std::string_view path, std::string_view key) {
  std::string below(path);
  if (!below.empty()) below += '.';
  below += key;
  return below;
}

Status unknown_key(const std::string& prefix, std::string_view key,
                   std::span<const std::string_view> known) {
  Status status;
  status.code = Code::config_key;
  status.path = path_below(prefix, shortened(key));
  const std::string_view suggestion = nearest(key, known);
  status.message = status.path + " is not a configuration key; ";
  if (suggestion.empty())
    status.message +=
        (prefix.empty() ? "the keys are " : "the keys of " + prefix + " are ") + listed(known);
  else
    status.message += "did you mean " + path_below(prefix, suggestion) + "?";
  return status;
}

// --- sections --------------------------------------------------------------------------------

namespace {

constexpr size_t kMaxConfigBytes = 1'048'576;
constexpr size_t kMaxConfigDepth = 32;

const ReadRow* row_of(std::string_view path) {
  const auto rows = read_rows();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const ReadRow& row) { return row.key == path; });
  return found == rows.end() ? nullptr : &*found;
}

/// The part of a row's key between `prefix` and the next dot; empty when the row is elsewhere.
std::string_view step_below(std::string_view key, std::string_view prefix) {
  if (!prefix.empty()) {
    if (!key.starts_with(prefix) || key.size() <= prefix.size() || key[prefix.size()] != '.')
      return {};
    key.remove_prefix(prefix.size() + 1);
  }
  return key.substr(0, key.find('.'));
}

}  // namespace

std::vector<std::string_view> keys_below(std::string_view prefix) {
  std::vector<std::string_view> keys;
  for (const ReadRow& row : read_rows()) {
    const std::string_view step = step_below(row.key, prefix);
    if (!step.empty() && std::find(keys.begin(), keys.end(), step) == keys.end())
      keys.push_back(step);
  }
  return keys;
}

namespace {

/// Reads the members of a section. Recursion is bounded by the depth of the table.
Status read_section(const Json& section, const std::string& prefix, Config& config) {
  const std::vector<std::string_view> known = keys_below(prefix);
  for (const auto& [key, value] : section.get_ref<const Json::object_t&>()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return unknown_key(prefix, key, known);
    const std::string path = path_below(prefix, key);
    const ReadRow* const row = row_of(path);
    Status status;
    if (value.is_object() && !keys_below(path).empty())
      status = read_section(value, path, config);
    else if (row != nullptr)
      status = row->read(row->limits, value, path, config);
    else
      status = wrong_value(path, "an object");
    if (!status.ok()) return status;
  }
  if (prefix == "inline_media") config.inline_media.mode = InlineMedia::Mode::listed;
  return {};
}

Status not_readable(std::string message, const Status& place = {}) {
  return {Code::config_json, place.line, place.column, "", std::move(message)};
}

}  // namespace
}  // namespace config

Status parse_config(std::string_view json, Config& config) {
  if (json.size() > config::kMaxConfigBytes)
    return config::not_readable("the configuration is larger than 1 MiB");
  Tape tape;
  const Status status = Tape::parse(json, tape, config::kMaxConfigDepth, false);
  if (!status.ok())
    return config::not_readable("the configuration is not JSON: " + status.message, status);
  if (tape[0].type != Type::object)
    return config::not_readable("the configuration must be a JSON object");
  const Json value = read_json(tape);
  if (value.is_discarded())
    return config::not_readable(
        "the configuration has an invalid number or escape sequence, "
        "or an object with more than 2,000 members");
  Config read;
  Status outcome = config::read_section(value, "", read);
  if (outcome.ok()) config = std::move(read);
  return outcome;
}

GateOptions gate_options(const Config& config) {
  GateOptions options;
  const BinaryDetection& detection = config.binary_detection;
  const InlineMedia& media = config.inline_media;
  options.max_inline_size = config.max_inline_size;
  // Where one string may be longer than a document, that is how long a document may be.
  options.max_document_chars =
      std::min<size_t>(std::max(options.max_document_chars, options.max_inline_size),
                       config.guardrail.max_observation_chars);
  options.min_run_chars = detection.min_size_for_detection;
  options.max_probe_bytes = detection.max_decode_bytes;
  options.detect_runs = detection.enabled;
  options.require_magic = detection.require_magic_bytes;
  options.divert_text = config.auto_artifact_large_content;
  options.signatures = detection.signatures;
  // Where nothing is stored, the guardrail says how much of a text is shown.
  options.preview_chars = config.guardrail.max_field_chars;
  options.previews_chars = config.guardrail.max_observation_chars;
  if (media.mode != InlineMedia::Mode::off) {
    options.keep_bytes = static_cast<size_t>(media.max_bytes);
    options.keep_count = media.max_count;
  }
  return options;
}

}  // namespace sluice
