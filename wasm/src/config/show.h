// Values as JSON, by the type of the member they belong to. Only the documentation needs them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/config.h"

namespace sluice::config {

/// Appends a text as a JSON string.
void append_quoted(std::string& out, std::string_view text);

void show_value(bool value, std::string& out);
void show_value(uint64_t value, std::string& out);
void show_value(const std::string& value, std::string& out);
void show_value(Prefer value, std::string& out);
void show_value(InlineMedia::Mode value, std::string& out);
void show_value(const std::vector<std::string>& value, std::string& out);
void show_value(const std::vector<Signature>& value, std::string& out);
void show_value(const decltype(Config::tool_fields)& value, std::string& out);

}  // namespace sluice::config
