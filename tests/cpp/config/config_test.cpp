// The configuration: every key is read, bounded, documented, and refused with its path when wrong.
#include "sluice/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "config/row.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice {
namespace {

// --- reading ---------------------------------------------------------------------------------

Status read(std::string_view json) {
  Config config;
  return parse_config(json, config);
}

Config config_of(std::string_view json) {
  Config config;
  const Status status = parse_config(json, config);
  EXPECT_TRUE(status.ok()) << status.message;
  return config;
}

void expect_refused(std::string_view json, Code code, std::string_view path,
                    std::string_view message) {
  const Status status = read(json);
  EXPECT_EQ(status.code, code) << json << ": " << status.message;
  EXPECT_EQ(status.path, path) << json;
  EXPECT_EQ(status.message, message) << json;
}

/// `{"a":{"b":value}}` for the key `a.b`.
std::string nested(std::string_view key, const std::string& value) {
  const size_t dot = key.find('.');
  const std::string step = "{\"" + std::string(key.substr(0, dot)) + "\":";
  return step + (dot == std::string_view::npos ? value : nested(key.substr(dot + 1), value)) + "}";
}

TEST(ConfigTest, AnEmptyObjectGivesTheDefaults) {
  const Config config = config_of(" {} ");
  EXPECT_EQ(config.max_inline_size, 10'000u);
  EXPECT_EQ(config.binary_detection.max_decode_bytes, 5'000'000u);
  EXPECT_EQ(config.resources.auto_read_if_size_under_bytes, 0u);
  EXPECT_EQ(config.guardrail.truncation_suffix, "\n... [truncated: {truncated_chars} chars]");
  EXPECT_EQ(config.inline_media.mode, InlineMedia::Mode::automatic);
  EXPECT_EQ(config.prefer, Prefer::structured);
  EXPECT_TRUE(config.default_summary_template.empty());
}

TEST(ConfigTest, ReadsEveryKey) {
  const Config config = config_of(R"({
    "max_inline_size": 300, "auto_artifact_large_content": false,
    "binary_detection": {"enabled": false, "signatures": {"T2dnUw": ["ogg", "audio/ogg"]},
      "min_size_for_detection": 64, "max_decode_bytes": 4096, "require_magic_bytes": false},
    "resources": {"enabled": false, "auto_read_if_size_under_bytes": 5, "inline_text_if_under_chars": 6,
      "cache_reads_to_artifacts": false},
    "tool_fields": {"download": [{"field_path": "a.*.0", "content_type": "pdf",
      "mime_type": "application/pdf", "summary_template": "{size}"}, {"field_path": "b", "content_type": "image", "mime_type": null}]},
    "default_summary_template": "{description}",
    "guardrail": {"max_observation_chars": 256, "max_field_chars": 16, "truncation_suffix": "…",
      "preserve_structure": false, "auto_artifact_threshold": 0},
    "inline_media": {"types": ["image/*"], "max_bytes": 7, "max_count": 3},
    "prefer": "content"})");
  EXPECT_EQ(config.max_inline_size, 300u);
  EXPECT_FALSE(config.auto_artifact_large_content);
  EXPECT_FALSE(config.binary_detection.enabled);
  ASSERT_EQ(config.binary_detection.signatures.size(), 1u);
  EXPECT_EQ(config.binary_detection.signatures[0].base64_prefix, "T2dnUw");
  EXPECT_EQ(config.binary_detection.signatures[0].type, (FileType{"audio/ogg", "ogg", "OGG"}));
  EXPECT_EQ(config.binary_detection.min_size_for_detection, 64u);
  EXPECT_EQ(config.binary_detection.max_decode_bytes, 4096u);
  EXPECT_FALSE(config.binary_detection.require_magic_bytes);
  EXPECT_FALSE(config.resources.enabled);
  EXPECT_EQ(config.resources.auto_read_if_size_under_bytes, 5u);
  EXPECT_EQ(config.resources.inline_text_if_under_chars, 6u);
  EXPECT_FALSE(config.resources.cache_reads_to_artifacts);
  ASSERT_EQ(config.tool_fields.at("download").size(), 2u);
  EXPECT_EQ(config.tool_fields.at("download")[0].field_path, "a.*.0");
  EXPECT_EQ(config.tool_fields.at("download")[0].summary_template, "{size}");
  EXPECT_EQ(config.tool_fields.at("download")[1].content_type, "image");
  EXPECT_EQ(config.tool_fields.at("download")[1].mime_type, "");
  EXPECT_EQ(config.default_summary_template, "{description}");
  EXPECT_EQ(config.guardrail.max_observation_chars, 256u);
  EXPECT_EQ(config.guardrail.max_field_chars, 16u);
  EXPECT_EQ(config.guardrail.truncation_suffix, "…");
  EXPECT_FALSE(config.guardrail.preserve_structure);
  EXPECT_EQ(config.guardrail.auto_artifact_threshold, 0u);
  EXPECT_EQ(config.inline_media.mode, InlineMedia::Mode::listed);
  EXPECT_EQ(config.inline_media.types, std::vector<std::string>{"image/*"});
  EXPECT_EQ(config.inline_media.max_bytes, 7u);
  EXPECT_EQ(config.inline_media.max_count, 3u);
  EXPECT_EQ(config.prefer, Prefer::content);
}

TEST(ConfigTest, EveryNumberHasItsBounds) {
  int integers = 0;
  for (const config::Row& row : config::config_rows()) {
    if (row.type != "integer") continue;
    ++integers;
    const std::string bounds = grouped(row.least) + " to " + grouped(row.most);
    const std::string message = std::string(row.key) + " must be an integer from " + bounds;
    EXPECT_TRUE(read(nested(row.key, std::to_string(row.least))).ok()) << row.key;
    EXPECT_TRUE(read(nested(row.key, std::to_string(row.most))).ok()) << row.key;
    if (row.least > 0)
      expect_refused(nested(row.key, std::to_string(row.least - 1)), Code::config_value, row.key,
                     message);
    for (const std::string& wrong :
         {std::to_string(row.most + 1), std::string("-1"), std::string("300.5"),
          std::string("\"300\""), std::string("null"), std::string("true"), std::string("[300]"),
          std::string("99999999999999999999999")})
      expect_refused(nested(row.key, wrong), Code::config_value, row.key, message);
  }
  EXPECT_EQ(integers, 10);
}

TEST(ConfigTest, EveryBooleanIsOne) {
  int booleans = 0;
  for (const config::Row& row : config::config_rows()) {
    if (row.type != "boolean") continue;
    ++booleans;
    EXPECT_TRUE(read(nested(row.key, "true")).ok());
    for (const char* wrong : {"0", "\"true\"", "null", "{}", "[]"})
      expect_refused(nested(row.key, wrong), Code::config_value, row.key,
                     std::string(row.key) + " must be true or false");
  }
  EXPECT_EQ(booleans, 6);
}

TEST(ConfigTest, EverySectionIsAnObject) {
  for (const char* section : {"binary_detection", "resources", "guardrail"})
    for (const char* wrong : {"true", "null", "[]", "5", "\"auto\""})
      expect_refused(nested(section, wrong), Code::config_value, section,
                     std::string(section) + " must be an object");
}

TEST(ConfigTest, SuggestsTheNearestKey) {
  expect_refused(R"({"max_inline_sise":1000})", Code::config_key, "max_inline_sise",
                 "max_inline_sise is not a configuration key; did you mean max_inline_size?");
  expect_refused(
      R"({"binary_detection":{"enable":true}})", Code::config_key, "binary_detection.enable",
      "binary_detection.enable is not a configuration key; did you mean binary_detection.enabled?");
  expect_refused(R"({"Max-Inline-Size":1000})", Code::config_key, "Max-Inline-Size",
                 "Max-Inline-Size is not a configuration key; did you mean max_inline_size?");
  expect_refused(
      R"({"resources":{"q":1}})", Code::config_key, "resources.q",
      "resources.q is not a configuration key; the keys of resources are enabled, "
      "auto_read_if_size_under_bytes, inline_text_if_under_chars and cache_reads_to_artifacts");
  expect_refused(R"({"tool_fields":{"t":[{"field_path":"a","content_typ":"b"}]}})",
                 Code::config_key, "tool_fields.t[0].content_typ",
                 "tool_fields.t[0].content_typ is not a configuration key; did you mean "
                 "tool_fields.t[0].content_type?");
  EXPECT_EQ(read(R"({"guardrail.max_field_chars":99})").code, Code::config_key);
}

TEST(ConfigTest, NeverQuotesAtLength) {
  const std::string key(500'000, 'k');
  for (const std::string& json :
       {"{\"" + key + "\":1}", "{\"tool_fields\":{\"" + key + "\":1}}",
        "{\"binary_detection\":{\"signatures\":{\"" + key + "\":1}}}",
        "{\"tool_fields\":{\"t\":[{\"" + key + "\":1}]}}", "{\"prefer\":\"" + key + "\"}"}) {
    const Status status = read(json);
    EXPECT_FALSE(status.ok());
    EXPECT_LT(status.path.size(), 300u);
    EXPECT_LT(status.message.size(), 700u);
  }
}

TEST(ConfigTest, ToolFieldsNameTheirPlace) {
  expect_refused(R"({"tool_fields":{"download_workbook":[{"content_type":"pdf"}]}})",
                 Code::config_value, "tool_fields.download_workbook[0].field_path",
                 "tool_fields.download_workbook[0].field_path must be given: a dot path of 1 to "
                 "500 characters such as "
                 "result.pages.0.image or items.*.data");
  const std::string fields = R"({"tool_fields":{"t":[{"field_path":"a","content_type":"b"},)";
  EXPECT_EQ(read(fields + R"({"field_path":"a","content_type":7}]}})").path,
            "tool_fields.t[1].content_type");
  EXPECT_EQ(read(fields + R"({"field_path":"a..b","content_type":"c"}]}})").path,
            "tool_fields.t[1].field_path");
  EXPECT_EQ(read(fields + R"({"field_path":"a","content_type":"c","mime_type":"pdf"}]}})").path,
            "tool_fields.t[1].mime_type");
  EXPECT_EQ(read(fields + "3]}}").path, "tool_fields.t[1]");
  EXPECT_EQ(read(R"({"tool_fields":{"t":{}}})").path, "tool_fields.t");
  EXPECT_EQ(read(R"({"tool_fields":[]})").path, "tool_fields");
  EXPECT_EQ(read(R"({"tool_fields":{"":[]}})").path, "tool_fields");
}

TEST(ConfigTest, SignaturesAreChecked) {
  const auto signature = [](const std::string& entry) {
    return read("{\"binary_detection\":{\"signatures\":{" + entry + "}}}");
  };
  EXPECT_TRUE(signature(R"("/9j/":["jpeg","image/jpeg"],"AB+/":["x","application/x-y.z+w"])").ok());
  EXPECT_EQ(signature(R"("abc":["x","a/b"])").path, "binary_detection.signatures");
  EXPECT_EQ(signature(R"("ab-_":["x","a/b"])").path, "binary_detection.signatures");
  for (const char* entry :
       {R"("JVBERi":"pdf")", R"("JVBERi":["pdf"])", R"("JVBERi":["pdf","application/pdf",1])",
        R"("JVBERi":["","a/b"])", R"("JVBERi":["../x","a/b"])", R"("JVBERi":["pdf","pdf"])",
        R"("JVBERi":["pdf","a/*"])"})
    EXPECT_EQ(signature(entry).path, "binary_detection.signatures.JVBERi") << entry;
}

TEST(ConfigTest, InlineMediaTakesWordsOrAnObject) {
  EXPECT_EQ(config_of(R"({"inline_media":"auto"})").inline_media.mode,
            InlineMedia::Mode::automatic);
  EXPECT_EQ(config_of(R"({"inline_media":"off"})").inline_media.mode, InlineMedia::Mode::off);
  EXPECT_EQ(config_of(R"({"inline_media":{}})").inline_media.mode, InlineMedia::Mode::listed);
  expect_refused(
      R"({"inline_media":true})", Code::config_value, "inline_media",
      R"(inline_media must be "auto", "off" or an object {"types", "max_bytes", "max_count"})");
  EXPECT_EQ(read(R"({"inline_media":{"types":[]}})").path, "inline_media.types");
  EXPECT_EQ(read(R"({"inline_media":{"types":["png"]}})").path, "inline_media.types");
  EXPECT_EQ(read(R"({"inline_media":{"type":["image/png"]}})").code, Code::config_key);
  expect_refused(R"({"prefer":"both"})", Code::config_value, "prefer",
                 R"(prefer must be "structured" or "content")");
}

TEST(ConfigTest, StringsAreBounded) {
  EXPECT_TRUE(read(nested("guardrail.truncation_suffix", "\"\"")).ok());
  expect_refused(nested("guardrail.truncation_suffix", '"' + std::string(201, 'x') + '"'),
                 Code::config_value, "guardrail.truncation_suffix",
                 "guardrail.truncation_suffix must be a string of at most 200 characters");
  EXPECT_EQ(read(nested("guardrail.truncation_suffix", "null")).path,
            "guardrail.truncation_suffix");
  EXPECT_TRUE(config_of(R"({"default_summary_template":null})").default_summary_template.empty());
  expect_refused(R"({"default_summary_template":1})", Code::config_value,
                 "default_summary_template",
                 "default_summary_template must be null or a string of at most 2,000 characters");
}

TEST(ConfigTest, HostileTextsAreRefused) {
  EXPECT_EQ(read("").code, Code::config_json);
  EXPECT_EQ(read("{\"prefer\":\n x}").code, Code::config_json);
  EXPECT_EQ(read("{\"prefer\":\n x}").line, 2u);
  EXPECT_EQ(read("[]").message, "the configuration must be a JSON object");
  EXPECT_EQ(read("{\"tool_fields\":" + std::string(100'000, '[')).code, Code::config_json);
  EXPECT_EQ(read("{\"prefer\":\"" + std::string(1'100'000, 'x') + "\"}").message,
            "the configuration is larger than 1 MiB");
  EXPECT_EQ(read("{\"max_inline_size\":1" + std::string(5'000, '0') + "}").code, Code::config_json);
  EXPECT_EQ(read(R"({"default_summary_template":"\ud800"})").code, Code::config_json);
}

TEST(ConfigTest, AFailureLeavesTheConfigurationAlone) {
  Config config;
  config.max_inline_size = 777;
  EXPECT_FALSE(parse_config(R"({"max_inline_size":888,"prefer":0})", config).ok());
  EXPECT_EQ(config.max_inline_size, 777u);
}

/// What a schema says of a key; of one in a section that is also a value, in the section.
std::optional<size_t> schema_of(const Tape& schema, std::string_view key) {
  std::optional<size_t> node = 0;
  while (node) {
    if (const auto either = schema.find(*node, "anyOf")) node = schema[*either + 1].next;
    const auto below = schema.find(*node, "properties");
    if (!below) return std::nullopt;
    const size_t dot = key.find('.');
    node = schema.find(*below, key.substr(0, dot));
    if (dot == std::string_view::npos) return node;
    key.remove_prefix(dot + 1);
  }
  return node;
}

TEST(ConfigTest, TheSchemaShowsEveryKeyWithTheDefaultThatHolds) {
  const std::string schema = config_schema_json();
  Tape tape;
  ASSERT_TRUE(Tape::parse(schema, tape).ok());
  for (const config::Row& row : config::config_rows()) {
    const auto node = schema_of(tape, row.key);
    ASSERT_TRUE(node) << row.key;
    EXPECT_EQ(tape.string(*tape.find(*node, "description")), row.description);
    const auto standard = tape.find(*node, "default");
    ASSERT_TRUE(standard) << row.key;
    EXPECT_TRUE(read(nested(row.key, std::string(tape.source(*standard)))).ok()) << row.key;
    EXPECT_EQ(tape.find(*node, "minimum").has_value(), row.type == "integer") << row.key;
  }
}

TEST(ConfigTest, TheSchemaAllowsNoOtherKey) {
  const std::string schema = config_schema_json();
  Tape tape;
  ASSERT_TRUE(Tape::parse(schema, tape).ok());
  for (const char* section : {"binary_detection", "resources", "guardrail"}) {
    const auto node = schema_of(tape, section);
    ASSERT_TRUE(node) << section;
    EXPECT_EQ(tape.source(*tape.find(*node, "additionalProperties")), "false");
    EXPECT_GT(tape.string(*tape.find(*node, "description")).size(), 20u) << section;
  }
  EXPECT_EQ(tape.source(*tape.find(0, "additionalProperties")), "false");
}

TEST(ConfigTest, TheGateFollowsTheConfiguration) {
  const GateOptions standard = gate_options({});
  EXPECT_EQ(standard.max_inline_size, 10'000u);
  EXPECT_EQ(standard.max_document_chars, 50'000u);
  EXPECT_EQ(standard.min_run_chars, 1'000u);
  EXPECT_EQ(standard.max_probe_bytes, 5'000'000u);
  EXPECT_TRUE(standard.detect_runs && standard.require_magic && standard.divert_text);
  EXPECT_EQ(standard.keep_bytes, 1'048'576u);
  EXPECT_EQ(standard.keep_count, 20u);
  const GateOptions set =
      gate_options(config_of(R"({"max_inline_size":300,"auto_artifact_large_content":false,
    "binary_detection":{"enabled":false,"require_magic_bytes":false,"min_size_for_detection":99,"max_decode_bytes":999,
      "signatures":{"JVBERi":["pdf","application/pdf"]}},
    "guardrail":{"max_observation_chars":4000},"inline_media":"off"})"));
  EXPECT_EQ(set.max_inline_size, 300u);
  EXPECT_EQ(set.max_document_chars, 4'000u);
  EXPECT_EQ(set.min_run_chars, 99u);
  EXPECT_EQ(set.max_probe_bytes, 999u);
  EXPECT_FALSE(set.detect_runs || set.require_magic || set.divert_text);
  EXPECT_EQ(set.signatures.size(), 1u);
  EXPECT_EQ(set.keep_bytes, 0u);
  EXPECT_EQ(gate_options(config_of(R"({"guardrail":{"max_observation_chars":90000}})"))
                .max_document_chars,
            50'000u);
}

// --- what JSON can write and a configuration cannot hold, judged by the C library's own reader

bool is_valued(const std::string& json) {
  Tape tape;
  EXPECT_TRUE(Tape::parse(json, tape).ok()) << json;
  return !read_json(tape).is_discarded();
}

bool is_finite(const std::string& number) {
  return std::isfinite(std::strtod(number.c_str(), nullptr));
}

TEST(ConfigValuedTest, ANumberIsValuedWhenADoubleHoldsIt) {
  for (const char* digits : {"0", "1", "-1", "9", "1.5", "0.001", "123456789", "17976931348623157",
                             "1.7976931348623157", "1.7976931348623158", "1.7976931348623159",
                             "1.8", "0.17976931348623159", "179.76931348623159", "-1.7976931348624",
                             "0.0", "0.00000000000000000000017976931348623159"}) {
    for (int exponent = -330; exponent <= 330; ++exponent) {
      for (const char* mark : {"e", "E"}) {
        const std::string number = digits + (mark + std::to_string(exponent));
        EXPECT_EQ(is_valued("[" + number + "]"), is_finite(number)) << number;
      }
    }
  }
}

TEST(ConfigValuedTest, APlusBeforeTheExponentChangesNothing) {
  for (const char* number : {"1e+308", "2e+308", "1.7976931348623157E+308", "1e+0"})
    EXPECT_EQ(is_valued(number), is_finite(number)) << number;
}

TEST(ConfigValuedTest, AnExponentOfAnyLengthIsReadInBoundedNumbers) {
  const std::string nines(10'000, '9');
  EXPECT_FALSE(is_valued("1e" + nines));
  EXPECT_TRUE(is_valued("1e-" + nines));
  EXPECT_TRUE(is_valued("0e" + nines));
  EXPECT_TRUE(is_valued("-0.0e" + nines));
}

TEST(ConfigValuedTest, DigitsCountLikeAnExponent) {
  for (const size_t zeros : {300, 307, 308, 309, 400}) {
    const std::string number = "1" + std::string(zeros, '0');
    EXPECT_EQ(is_valued(number), is_finite(number)) << zeros;
    EXPECT_TRUE(is_valued(number + "e-400"));
    EXPECT_TRUE(is_valued("0." + std::string(zeros, '0') + "1e" + std::to_string(zeros)));
  }
}

TEST(ConfigValuedTest, ALoneSurrogateHasNoValueWhereverItStands) {
  EXPECT_FALSE(is_valued(R"("\ud800")"));
  EXPECT_FALSE(is_valued(R"(["fine", "a\udfffb"])"));
  EXPECT_FALSE(is_valued(R"({"\ud83d": 1})"));
  EXPECT_FALSE(is_valued(R"("\ude00\ud83d")"));
  EXPECT_TRUE(is_valued(R"("\ud83d\ude00")"));
  EXPECT_TRUE(is_valued(R"("\ud7ff\ue000 \ubc14")"));
}

TEST(ConfigValuedTest, TheConfigurationIsRefusedWithTheReason) {
  Config config;
  for (const char* json : {R"({"max_inline_size": 1e999})", R"({"\ud800": 1})"}) {
    const Status status = parse_config(json, config);
    EXPECT_EQ(status.code, Code::config_json) << json;
    EXPECT_EQ(status.message,
              "the configuration has an invalid number or escape sequence, "
              "or an object with more than 2,000 members");
  }
}

// --- what is shown reads back as what it was -------------------------------------------------

constexpr std::string_view kEverySetting = R"({
  "max_inline_size": 300, "auto_artifact_large_content": false,
  "binary_detection": {"enabled": false, "min_size_for_detection": 64, "max_decode_bytes": 4096,
    "require_magic_bytes": false,
    "signatures": {"T2dnUw": ["ogg", "audio/ogg"], "JVBERi": ["pdf", "application/pdf"]}},
  "resources": {"enabled": false, "auto_read_if_size_under_bytes": 5,
    "inline_text_if_under_chars": 6, "cache_reads_to_artifacts": false},
  "tool_fields": {
    "download": [
      {"field_path": "a.*.0", "content_type": "pdf", "mime_type": "application/pdf",
        "summary_template": "a \"quoted\" \\ line\nof é"},
      {"field_path": "b", "content_type": "image"}],
    "say \"hi\"": [{"field_path": "c", "content_type": "binary"}]},
  "default_summary_template": "{content_type}: {size}",
  "inline_media": {"types": ["image/png", "image/*"], "max_bytes": 9, "max_count": 1},
  "prefer": "content"})";

std::string shown(const config::Row& row, const Config& config) {
  return write_json(row.show(config));
}

TEST(ConfigShowTest, AnyValueReadsBackAsWhatItWas) {
  for (const std::string_view json :
       {kEverySetting, std::string_view("{}"), std::string_view(R"({"inline_media":"off"})"),
        std::string_view(R"({"inline_media":"auto"})")}) {
    const Config config = config_of(json);
    for (const config::Row& row : config::config_rows()) {
      const std::string value = shown(row, config);
      EXPECT_EQ(shown(row, config_of(nested(row.key, value))), value) << row.key;
    }
  }
}

TEST(ConfigShowTest, WhatIsSetIsShownAndNotTheDefault) {
  const Config config = config_of(kEverySetting);
  for (const config::Row& row : config::config_rows()) {
    if (row.key.starts_with("guardrail.")) continue;
    EXPECT_NE(shown(row, config), shown(row, Config{})) << row.key;
  }
}

std::string shown(std::string_view key, const Config& config) {
  for (const config::Row& row : config::config_rows())
    if (row.key == key) return shown(row, config);
  return "no such key";
}

TEST(ConfigShowTest, ListsAndMapsAreShownInFull) {
  const Config config = config_of(kEverySetting);
  EXPECT_EQ(shown("binary_detection.signatures", config),
            R"({"T2dnUw":["ogg","audio/ogg"],"JVBERi":["pdf","application/pdf"]})");
  EXPECT_EQ(shown("inline_media.types", config), R"(["image/png","image/*"])");
}

}  // namespace
}  // namespace sluice
