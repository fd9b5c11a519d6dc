// The guardrail: the last clamp on an observation, whatever tool it came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/defaults.h"
#include "sluice/status.h"

namespace sluice {

/// Smallest max_observation_chars; less counts as this.
inline constexpr size_t kMinObservationChars = 256;

/// Limits of the guardrail. Characters are code points of serialised JSON.
struct GuardrailOptions {
  size_t max_observation_chars = defaults::kMaxObservationChars;  ///< at least 256
  size_t max_field_chars = defaults::kMaxFieldChars;
  std::string truncation_suffix{defaults::kTruncationSuffix};
  bool preserve_structure = defaults::kPreserveStructure;
  size_t auto_artifact_threshold = defaults::kAutoArtifactThreshold;
};

/// What the clamp did.
struct Clamped {
  Status status;
  bool changed = false;
  std::string text;  ///< JSON, at most max_observation_chars code points
  uint64_t original_chars = 0;
  uint64_t clamped_chars = 0;
  /// `none`; `space`: only white space between tokens is gone; `fields`: strings were cut;
  /// `structure`: so were arrays and objects; `text`: one string of cut source
  std::string method;
};

/// Clamps one observation given as JSON text. The text is returned as it is when it is within the
/// limit; else the result is valid JSON within the limit that says what it leaves out and keeps
/// references (`artifact://…`, `{"artifact":{…}}`) in preference to anything else, whole or not at
/// all. Fails with the json_* codes of `Tape::parse`. Linear in the text; the memory is the tape's
/// and up to half as much again.
Clamped clamp(std::string_view json, const GuardrailOptions& options);

/// The same for a text of ours, which is JSON for certain: within the limit it is not read again.
Clamped clamp_own(std::string_view json, const GuardrailOptions& options);

}  // namespace sluice
