// ZIP archives and what is built on them, by their central directory (APPNOTE.TXT 6.3 §4.3, §4.4).
#include <optional>

#include "describe/facts.h"
#include "describe/families.h"
#include "sniff/fields.h"
#include "sniff/zip_directory.h"

namespace sluice {
namespace {

using namespace std::string_view_literals;

constexpr uint64_t kEntryBytes = 46;

/// What an Office file's entries are to a person: those named `prefix…suffix`.
struct Part {
  std::string_view extension;
  std::string_view prefix;
  std::string_view suffix;
  std::string_view noun;
};

constexpr Part kParts[] = {
    {"xlsx", "xl/worksheets/sheet", ".xml", "sheet"},
    {"xlsb", "xl/worksheets/sheet", ".bin", "sheet"},
    {"pptx", "ppt/slides/slide", ".xml", "slide"},
    {"docx", "word/media/", "", "picture"},
    {"odt", "Pictures/", "", "picture"},
    {"odp", "Pictures/", "", "picture"},
    {"epub", "", "html", "section"},
    {"jar", "", ".class", "class file"},
};

/// What the entries show.
struct Survey {
  uint64_t entries = 0;
  uint64_t parts = 0;
  bool encrypted = false;
};

//   PK12 version:2 version:2 flags:2 … lengths of name:2 (at 28) extra:2 comment:2 … name (at 46)
Survey walk(Bytes seen, const Part* part, Quotes* names) {
  Survey survey;
  for (uint64_t at = 0; stands(seen, at, "PK\1\2"sv); ++survey.entries) {
    const uint64_t length = le16(seen, at + 28);
    if (!holds(seen, at + kEntryBytes, length)) break;
    const std::string_view name =
        as_text(seen.subspan(static_cast<size_t>(at + kEntryBytes), static_cast<size_t>(length)));
    if (part && name.starts_with(part->prefix) && name.ends_with(part->suffix)) ++survey.parts;
    if (le16(seen, at + 8) & 1) survey.encrypted = true;
    if (names && !name.ends_with('/') && !names->add(name)) names = nullptr;
    at += kEntryBytes + length + le16(seen, at + 30) + le16(seen, at + 32);
  }
  return survey;
}

const Part* part_of(std::string_view extension) {
  for (const Part& part : kParts) {
    if (part.extension == extension) return &part;
  }
  return nullptr;
}

}  // namespace

void append_zip_facts(std::string& line, const Glimpse& file, std::string_view extension) {
  if (!stands(file.head, 0, "PK"sv)) return;
  const auto directory = zip_directory(file);
  if (!directory) return;
  const Part* const part = part_of(extension);
  const Survey survey = walk(directory->seen, part, nullptr);
  if (part) {
    if (survey.parts > 0 && survey.entries == directory->entries)
      append_count(line, survey.parts, part->noun);
  } else {
    append_count(line, directory->entries, "entry");
  }
  if (survey.encrypted) line += ", encrypted";
  if (extension != "zip") return;
  Quotes names(line);
  walk(directory->seen, nullptr, &names);
}

}  // namespace sluice
