// The configuration: its keys, their defaults and bounds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/gate.h"
#include "sluice/guardrail.h"
#include "sluice/status.h"

namespace sluice {

/// One entry of `tool_fields`: a place in a tool's result that holds an artifact.
struct ToolField {
  std::string field_path;        ///< dot path; list indexes; `*` for every element; required
  std::string content_type;      ///< how a person names it: `pdf`, `image`; required
  std::string mime_type;         ///< empty: from the bytes
  std::string summary_template;  ///< empty: default_summary_template
};

/// `binary_detection`
struct BinaryDetection {
  bool enabled = true;
  std::vector<Signature> signatures;  ///< config: {"JVBERi": ["pdf", "application/pdf"]}
  size_t min_size_for_detection = GateOptions{}.min_run_chars;
  size_t max_decode_bytes = GateOptions{}.max_probe_bytes;
  bool require_magic_bytes = true;
};

/// `resources`
struct ResourcePolicy {
  bool enabled = true;
  uint64_t auto_read_if_size_under_bytes = 0;  ///< 0: never
  size_t inline_text_if_under_chars = 10'000;
  bool cache_reads_to_artifacts = true;
};

/// The types that an empty InlineMedia::types means.
inline constexpr std::array<std::string_view, 4> kUsualImages = {"image/png", "image/jpeg",
                                                                 "image/gif", "image/webp"};

/// `inline_media`: `"auto"`, `"off"`, or `{"types": […], "max_bytes": n, "max_count": n}`
struct InlineMedia {
  enum class Mode : uint8_t { automatic, off, listed };
  Mode mode = Mode::automatic;
  std::vector<std::string> types;  ///< MIME types, `image/*` allowed; empty: kUsualImages
  uint64_t max_bytes = 1'048'576;  ///< decoded, per image
  uint32_t max_count = 2;          ///< per result
};

enum class Prefer : uint8_t { structured, content };

struct Config {
  size_t max_inline_size = GateOptions{}.max_inline_chars;
  bool auto_artifact_large_content = true;
  BinaryDetection binary_detection;
  ResourcePolicy resources;
  std::map<std::string, std::vector<ToolField>, std::less<>> tool_fields;
  std::string default_summary_template;  ///< empty (config: null): the description alone
  GuardrailOptions guardrail;            ///< config: `guardrail: {…}`
  InlineMedia inline_media;
  Prefer prefer = Prefer::structured;
};

/// Reads a JSON object over the defaults. An unknown key (`config_key`) or a wrong type or range
/// (`config_value`) fails with the path of the key, e.g. `binary_detection.enabled` or
/// `tool_fields.download_workbook[0].field_path`, and says what was expected.
Status parse_config(std::string_view json, Config& config);

/// A JSON Schema (draft 2020-12) for `parse_config`: every key with its description, default and
/// bounds, from the same table. Required keys have no default.
std::string config_schema_json();

/// The gate's options under a configuration.
GateOptions gate_options(const Config& config);

}  // namespace sluice
