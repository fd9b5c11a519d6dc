// The keys of the configuration: each with its type, its bounds and what it does. The defaults are
// in include/sluice/defaults.h.
#include <array>
#include <type_traits>
#include <utility>

#include "config/row.h"

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
Status read_member(const Limits& limits, const Json& value, const std::string& path,
                   Config& config) {
  return read_value(limits, value, path, reach<Members...>(config));
}

template <auto... Members>
Json show_member(const Config& config) {
  const auto& member = reach<Members...>(config);
  using Member = std::remove_cvref_t<decltype(member)>;
  if constexpr (std::is_integral_v<Member> && !std::is_same_v<Member, bool>)
    return show_value(static_cast<uint64_t>(member));
  else
    return show_value(member);
}

template <auto... Members>
Json member_schema(const Limits& limits) {
  using Member = std::remove_cvref_t<decltype(reach<Members...>(std::declval<Config&>()))>;
  return schema_of(std::type_identity<Member>{}, limits);
}

template <auto... Members>
constexpr Row row(std::string_view key, std::string_view type, uint64_t least, uint64_t most,
                  std::string_view description) {
  return {key,
          type,
          least,
          most,
          read_member<Members...>,
          show_member<Members...>,
          member_schema<Members...>,
          description};
}

using Binary = BinaryDetection;
using Guardrail = GuardrailOptions;

constexpr Row kRows[] = {
    row<&Config::max_inline_size>(
        "max_inline_size", "integer", 256, 10'000'000,
        "Longest string, in characters, that stays in a result. A longer one is stored and "
        "replaced with a reference, unless the reference would be longer."),
    row<&Config::auto_artifact_large_content>(
        "auto_artifact_large_content", "boolean", 0, 0,
        "Stores long strings and large documents because of their size alone. false: stores "
        "only bytes, and the guardrail cuts what is too long."),
    row<&Config::binary_detection, &Binary::enabled>(
        "binary_detection.enabled", "boolean", 0, 0,
        "Finds encoded bytes inside strings. false: only typed blocks and the places named in"
        " tool_fields count as bytes."),
    row<&Config::binary_detection, &Binary::signatures>(
        "binary_detection.signatures", "object", 0, 256,
        "Signatures to recognise in addition to the built-in ones: the first characters of "
        "the base64 encoding, each with an extension and a MIME type."),
    row<&Config::binary_detection, &Binary::min_size_for_detection>(
        "binary_detection.min_size_for_detection", "integer", 64, 10'000'000,
        "Shortest encoded run, in characters, that counts as bytes. In a data: URI, 64 "
        "characters are enough."),
    row<&Config::binary_detection, &Binary::max_decode_bytes>(
        "binary_detection.max_decode_bytes", "integer", 16, 1'000'000'000,
        "Decoded bytes that are examined to recognise content. Stored content is never cut."),
    row<&Config::binary_detection, &Binary::require_magic_bytes>(
        "binary_detection.require_magic_bytes", "boolean", 0, 0,
        "Leaves encoded bytes without a known signature in place, unless they are longer than"
        " max_inline_size. false: stores every valid encoded run."),
    row<&Config::resources, &ResourcePolicy::enabled>(
        "resources.enabled", "boolean", 0, 0,
        "Reads resource links according to the keys below. false: every link stays a link."),
    row<&Config::resources, &ResourcePolicy::auto_read_if_size_under_bytes>(
        "resources.auto_read_if_size_under_bytes", "integer", 0, 1'073'741'824,
        "Reads a linked resource at once if the link states a size below this many bytes. 0: "
        "never."),
    row<&Config::resources, &ResourcePolicy::inline_text_if_under_chars>(
        "resources.inline_text_if_under_chars", "integer", 0, 10'000'000,
        "Shows the text of a resource in place if it has fewer characters than this. Longer "
        "text is stored."),
    row<&Config::resources, &ResourcePolicy::cache_reads_to_artifacts>(
        "resources.cache_reads_to_artifacts", "boolean", 0, 0,
        "Stores the text of a resource even when it is short enough to be shown. false: short"
        " text is only shown."),
    row<&Config::tool_fields>(
        "tool_fields", "object", 0, 1'000,
        "Per tool, the places in its results that hold artifacts. They are stored whatever "
        "they look like."),
    row<&Config::default_summary_template>(
        "default_summary_template", "string|null", 0, 2'000,
        "The summary of an artifact. Filled in are {description}, {content_type}, {filename},"
        " {size}, {size_human}, {artifact_id} and the names of fields beside it. null: the "
        "description alone."),
    row<&Config::guardrail, &Guardrail::max_observation_chars>(
        "guardrail.max_observation_chars", "integer", kMinObservationChars, 10'000'000,
        "Most characters of an observation, whichever tool it came from. A longer one is cut."),
    row<&Config::guardrail, &Guardrail::max_field_chars>(
        "guardrail.max_field_chars", "integer", 16, 10'000'000,
        "Characters to which single strings are cut first when an observation is too long."),
    row<&Config::guardrail, &Guardrail::truncation_suffix>(
        "guardrail.truncation_suffix", "string", 0, 200,
        "Text at the end of a cut string. {truncated_chars} is replaced with the number of "
        "characters left out."),
    row<&Config::guardrail, &Guardrail::preserve_structure>(
        "guardrail.preserve_structure", "boolean", 0, 0,
        "Keeps objects and arrays when an observation is cut. false: it becomes one string of cut "
        "JSON text."),
    row<&Config::guardrail, &Guardrail::auto_artifact_threshold>(
        "guardrail.auto_artifact_threshold", "integer", 0, 1'000'000'000,
        "An observation that is too long and has more characters than this is stored whole "
        "and replaced with a reference. A shorter one is cut."),
    row<&Config::inline_media, &InlineMedia::mode>(
        "inline_media", "string|object", 0, 0,
        "Keeps images in place for models that can see them, and stores them too. auto: for "
        "clients known to show images; off: never; an object: always, within the keys below. "
        "Images longer than 2,000 pixels are scaled down."),
    row<&Config::inline_media, &InlineMedia::types>(
        "inline_media.types", "array", 1, 32,
        "MIME types of the images that may stay, such as image/png or image/*. Others are "
        "only stored."),
    row<&Config::inline_media, &InlineMedia::max_bytes>(
        "inline_media.max_bytes", "integer", 1, 5'242'880,
        "Bytes of an image that stays as it is. Larger ones are scaled down."),
    row<&Config::inline_media, &InlineMedia::max_count>(
        "inline_media.max_count", "integer", 1, 20,
        "Most images that stay in one result, counted from the first. The rest are only "
        "stored."),
    row<&Config::prefer>(
        "prefer", "string", 0, 0,
        "Which half of a result is shown when a server sends both: structured shows "
        "structuredContent, content shows the blocks. What only the other half says is added."),
};

constexpr auto kReadRows = [] {
  std::array<ReadRow, std::size(kRows)> rows{};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = kRows[i];
    rows[i] = {row.key, row.limits(), row.read};
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
