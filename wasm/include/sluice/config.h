// The configuration as the core has it. The defaults are in defaults.h; the keys, their bounds and
// what they mean are in src/config/keys.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/defaults.h"
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
  bool enabled = defaults::kDetectionEnabled;
  std::vector<Signature> signatures;  ///< config: {"JVBERi": ["pdf", "application/pdf"]}
  size_t min_size_for_detection = defaults::kMinSizeForDetection;
  size_t max_decode_bytes = defaults::kMaxDecodeBytes;
  bool require_magic_bytes = defaults::kRequireMagicBytes;
};

/// `resources`
struct ResourcePolicy {
  bool enabled = defaults::kResourcesEnabled;
  /// 0: never
  uint64_t auto_read_if_size_under_bytes = defaults::kAutoReadIfSizeUnderBytes;
  size_t inline_text_if_under_chars = defaults::kInlineTextIfUnderChars;
  bool cache_reads_to_artifacts = defaults::kCacheReadsToArtifacts;
};

/// `inline_media`: `"auto"`, `"off"`, or `{"types": […], "max_bytes": n, "max_count": n}`
struct InlineMedia {
  using Mode = InlineMediaMode;
  Mode mode = defaults::kInlineMedia;
  std::vector<std::string> types;  ///< MIME types, `image/*` allowed; empty: kInlineMediaTypes
  uint64_t max_bytes = defaults::kInlineMediaMaxBytes;  ///< decoded, per image
  uint32_t max_count = defaults::kInlineMediaMaxCount;  ///< per result
};

struct Config {
  size_t max_inline_size = defaults::kMaxInlineSize;
  bool auto_artifact_large_content = defaults::kAutoArtifactLargeContent;
  BinaryDetection binary_detection;
  ResourcePolicy resources;
  std::map<std::string, std::vector<ToolField>, std::less<>> tool_fields;
  std::string default_summary_template;  ///< empty (config: null): the description alone
  GuardrailOptions guardrail;            ///< config: `guardrail: {…}`
  InlineMedia inline_media;
  Prefer prefer = defaults::kPrefer;
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
