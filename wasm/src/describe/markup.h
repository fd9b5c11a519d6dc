// Looks into XML for single facts, without parsing it whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// What stands from the first start tag `name` on, behind its `<`; empty where there is none. The
/// name counts with its prefix: `dc:title`.
std::string_view find_tag(std::string_view xml, std::string_view name);

/// The text between the first tag `name` and the next tag, its entities resolved.
std::string read_element(std::string_view xml, std::string_view name);

/// The value of an attribute of the tag that begins `tag`, its entities resolved.
std::string read_attribute(std::string_view tag, std::string_view name);

/// A whole number that an element, or else an attribute of any tag, has as its text; 0 when none.
uint64_t read_count(std::string_view xml, std::string_view name);

/// How many tags `name` there are.
uint64_t count_tags(std::string_view xml, std::string_view name);

/// Text with the five entities of XML and character references resolved.
std::string resolve_entities(std::string_view text);

/// The digits that begin `text` as a number; 0 when there are none, or more than 15.
uint64_t read_number(std::string_view text);

}  // namespace sluice
