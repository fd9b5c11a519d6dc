// Values of a configuration as JSON: what is shown reads back as what it was.
#include <gtest/gtest.h>

#include <string>

#include "config/row.h"

namespace sluice {
namespace {

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
  std::string value;
  row.show(config, value);
  return value;
}

Config config_of(std::string_view json) {
  Config config;
  const Status status = parse_config(json, config);
  EXPECT_TRUE(status.ok()) << status.path << ": " << status.message;
  return config;
}

/// `{"a":{"b":value}}` for the key `a.b`.
std::string nested(std::string_view key, const std::string& value) {
  const size_t dot = key.find('.');
  const std::string step = "{\"" + std::string(key.substr(0, dot)) + "\":";
  return step + (dot == std::string_view::npos ? value : nested(key.substr(dot + 1), value)) + "}";
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
