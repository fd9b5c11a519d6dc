#include <array>
#include <type_traits>

#include "config/row.h"
#include "config/show.h"

namespace sluice::config {

namespace {

/// The member of a configuration that a chain of pointers to members leads to.
template <auto First, auto... Rest>
auto& reach(auto& object) {
  if constexpr (sizeof...(Rest) == 0)
    return object.*First;
  else
    return reach<Rest...>(object.*First);
}

template <auto... Members>
Status read_member(const Limits& limits, const Value& value, const std::string& path,
                   Config& config) {
  return read_value(limits, value, path, reach<Members...>(config));
}

template <auto... Members>
void show_member(const Config& config, std::string& out) {
  const auto& member = reach<Members...>(config);
  using Member = std::remove_cvref_t<decltype(member)>;
  if constexpr (std::is_integral_v<Member> && !std::is_same_v<Member, bool>)
    show_value(static_cast<uint64_t>(member), out);
  else
    show_value(member, out);
}

template <auto... Members>
constexpr Row row(std::string_view key, std::string_view type, uint64_t least, uint64_t most,
                  std::string_view description) {
  return {key, type, least, most, read_member<Members...>, show_member<Members...>, description};
}

using Binary = BinaryDetection;
using Guardrail = GuardrailOptions;

constexpr Row kRows[] = {
    row<&Config::max_inline_size>(
        "max_inline_size", "integer", 256, 10'000'000,
        "Characters above which a single string is stored and replaced by a reference."),
    row<&Config::auto_artifact_large_content>(
        "auto_artifact_large_content", "boolean", 0, 0,
        "Whether long strings and large documents are stored by size alone."),
    row<&Config::binary_detection, &Binary::enabled>(
        "binary_detection.enabled", "boolean", 0, 0,
        "Whether encoded bytes are looked for inside strings."),
    row<&Config::binary_detection, &Binary::signatures>(
        "binary_detection.signatures", "object", 0, 256,
        "Signatures beside the built-in ones: first base64 characters to extension and MIME type."),
    row<&Config::binary_detection, &Binary::min_size_for_detection>(
        "binary_detection.min_size_for_detection", "integer", 64, 10'000'000,
        "Encoded characters below which a run is left alone."),
    row<&Config::binary_detection, &Binary::max_decode_bytes>(
        "binary_detection.max_decode_bytes", "integer", 16, 1'000'000'000,
        "Decoded bytes looked at to recognise content; what is stored is never cut."),
    row<&Config::binary_detection, &Binary::require_magic_bytes>(
        "binary_detection.require_magic_bytes", "boolean", 0, 0,
        "Whether encoded bytes need a known signature unless they are too long to stay."),
    row<&Config::resources, &ResourcePolicy::enabled>("resources.enabled", "boolean", 0, 0,
                                                      "Whether resource links may be read."),
    row<&Config::resources, &ResourcePolicy::auto_read_if_size_under_bytes>(
        "resources.auto_read_if_size_under_bytes", "integer", 0, 1'073'741'824,
        "Linked resources smaller than this are read at once; 0: never."),
    row<&Config::resources, &ResourcePolicy::inline_text_if_under_chars>(
        "resources.inline_text_if_under_chars", "integer", 0, 10'000'000,
        "Text of a read resource below this many characters is shown in place."),
    row<&Config::resources, &ResourcePolicy::cache_reads_to_artifacts>(
        "resources.cache_reads_to_artifacts", "boolean", 0, 0,
        "Whether what was read is stored and the next read answered from the store."),
    row<&Config::tool_fields>(
        "tool_fields", "object", 0, 1'000,
        "Per tool, a list of {field_path, content_type, mime_type, summary_template}."),
    row<&Config::default_summary_template>(
        "default_summary_template", "string|null", 0, 2'000,
        "The sentence shown for an artifact; null: its description."),
    row<&Config::guardrail, &Guardrail::max_observation_chars>(
        "guardrail.max_observation_chars", "integer", kMinObservationChars, 10'000'000,
        "Characters that no observation exceeds, whatever tool it came from."),
    row<&Config::guardrail, &Guardrail::max_field_chars>(
        "guardrail.max_field_chars", "integer", 16, 10'000'000,
        "Characters to which strings are cut first when an observation exceeds its limit."),
    row<&Config::guardrail, &Guardrail::truncation_suffix>(
        "guardrail.truncation_suffix", "string", 0, 200,
        "What ends a cut string; {truncated_chars} stands for the characters left out."),
    row<&Config::guardrail, &Guardrail::preserve_structure>(
        "guardrail.preserve_structure", "boolean", 0, 0,
        "Whether a clamped observation keeps its objects and arrays, or becomes cut text."),
    row<&Config::guardrail, &Guardrail::auto_artifact_threshold>(
        "guardrail.auto_artifact_threshold", "integer", 0, 1'000'000'000,
        "Characters above which an observation over its limit is stored as well."),
    row<&Config::inline_media, &InlineMedia::mode>(
        "inline_media", "string|object", 0, 0,
        "Images that stay for models that see: auto, off, or an object with the keys below."),
    row<&Config::inline_media, &InlineMedia::types>(
        "inline_media.types", "array", 1, 32,
        "MIME types that may stay; left out: PNG, JPEG, GIF and WebP."),
    row<&Config::inline_media, &InlineMedia::max_bytes>(
        "inline_media.max_bytes", "integer", 1, 5'242'880, "Decoded bytes of one image at most."),
    row<&Config::inline_media, &InlineMedia::max_count>("inline_media.max_count", "integer", 1, 20,
                                                        "Images of one result at most."),
    row<&Config::prefer>("prefer", "string", 0, 0,
                         "Which half is shown when a server sends both: structured or content."),
};

constexpr auto kReadRows = [] {
  std::array<ReadRow, std::size(kRows)> rows{};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = kRows[i];
    rows[i] = {row.key,
               {static_cast<uint32_t>(row.least), static_cast<uint32_t>(row.most),
                row.type.ends_with("null")},
               row.read};
  }
  return rows;
}();

}  // namespace

std::span<const Row> config_rows() {
  return kRows;
}

std::span<const ReadRow> read_rows() {
  return kReadRows;
}

}  // namespace sluice::config
