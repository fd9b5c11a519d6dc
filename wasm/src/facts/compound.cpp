// What OLE compound files say of themselves: documents of Office 97 ([MS-OLEPS] property sets,
// [MS-XLS] sheets) and messages of Outlook ([MS-OXMSG]).
#include "sniff/compound.h"

#include "facts/kinds.h"
#include "text/utf8.h"

namespace sluice {

namespace {

/// A property of a set's first section: its type, and where its value stands.
struct Property {
  uint32_t type = 0;
  uint64_t at = 0;
};

//   44: place of the section; there size:4 count:4, then pairs of identifier:4 place:4
Property find_property(Bytes set, uint32_t wanted) {
  const uint64_t section = le32(set, 44);
  const uint32_t count = le32(set, section + 4);
  for (uint32_t i = 0; i < count && holds(set, section + 8 + 8 * uint64_t{i}, 8); ++i) {
    if (le32(set, section + 8 + 8 * uint64_t{i}) != wanted) continue;
    const uint64_t at = section + le32(set, section + 12 + 8 * uint64_t{i});
    return {le32(set, at), at + 4};
  }
  return {};
}

uint64_t read_property(Bytes set, uint32_t wanted) {
  const Property found = find_property(set, wanted);
  return found.type == 3 ? le32(set, found.at) : found.type == 2 ? le16(set, found.at) : 0;
}

/// Text in UTF-16, the lower byte first.
std::string read_wide(std::string_view bytes) {
  return decode_wide(bytes, 2, false, std::string_view("\0", 1));
}

/// Text in one of the usual code pages; empty for what another would garble.
std::string read_title(Bytes set) {
  constexpr size_t kMost = 512;
  const uint64_t page = read_property(set, 1);
  const Property found = find_property(set, 2);
  const size_t size = std::min<size_t>(le32(set, found.at), kMost);
  if (found.type != 0x1e || !holds(set, found.at + 4, size)) return {};
  std::string_view bytes = as_text(set.subspan(static_cast<size_t>(found.at) + 4, size));
  bytes = bytes.substr(0, bytes.find('\0'));
  if (page == 65'001) return std::string(bytes);
  if (page == 1'200) return read_wide(bytes);
  std::string text;
  for (const char byte : bytes) {
    const auto point = static_cast<uint8_t>(byte);
    if (point >= 0x80 && (page != 1'252 || point < 0xa0)) return {};
    append_code_point(text, point);
  }
  return text;
}

/// `, 2 sheets (from the file): "Alpha", "Beta"`: BoundSheet8 records, type 0x85, before the first
/// end (0x0a).
void append_bound_sheets(std::string& line, const std::string& stream) {
  const Bytes book = as_bytes(stream);
  std::string quoted;
  Quotes names(quoted, "");
  uint64_t sheets = 0;
  for (uint64_t at = 0; holds(book, at, 4) && le16(book, at) != 0x0a;
       at += 4 + le16(book, at + 2)) {
    if (le16(book, at) != 0x85) continue;
    ++sheets;
    const uint32_t length = u8(book, at + 10);
    const bool wide = (u8(book, at + 11) & 1) != 0;
    if (!holds(book, at + 12, length * (wide ? 2 : 1))) break;
    const std::string_view name =
        as_text(book.subspan(static_cast<size_t>(at) + 12, length * (wide ? 2 : 1)));
    std::string plain;
    for (const char byte : name) append_code_point(plain, static_cast<uint8_t>(byte));
    names.add(wide ? read_wide(name) : plain);
  }
  if (sheets > 0) append_count(line, sheets, "sheet");
  line += quoted;
}

void append_message(std::string& line, const CompoundFile& file) {
  constexpr std::string_view kTexts[][2] = {{"__substg1.0_0037001", ", subject"},
                                            {"__substg1.0_0C1A001", ", sender"}};
  if (const uint32_t count = file.count("__attach_version1.0_#")) {
    append_count(line, count, "attachment");
  }
  for (const auto& [stream, intro] : kTexts) {
    std::string text = file.read(std::string(stream) + 'E', 512);
    if (text.empty()) text = read_wide(file.read(std::string(stream) + 'F', 512));
    if (text.find('@') == text.npos) Quotes(line, intro).add(text);
  }
}

}  // namespace

void append_compound_facts(std::string& line, const Glimpse& glimpse, std::string_view extension) {
  constexpr size_t kProperties = 16'384;
  constexpr size_t kBook = 65'536;
  const auto file = CompoundFile::open(glimpse);
  if (!file) return;
  if (extension == "msg") return append_message(line, *file);
  const std::string summary = file->read("\5SummaryInformation", kProperties);
  // Of all that the sets may say: 14 pages, 15 words; in the second one 7 slides.
  const bool is_text = extension == "doc" && read_property(as_bytes(summary), 15) > 0;
  const auto tell = [&](const std::string& set, uint32_t property, std::string_view noun) {
    const uint64_t count = read_property(as_bytes(set), property);
    if (count > 0) append_count(line, count, noun);
  };
  if (is_text) {
    tell(summary, 14, "page");
    tell(summary, 15, "word");
  }
  if (extension == "ppt") tell(file->read("\5DocumentSummaryInformation", kProperties), 7, "slide");
  if (extension == "xls") append_bound_sheets(line, file->read("Workbook", kBook));
  if (file->count("EncryptedPackage") > 0) line += ", encrypted";
  if (file->count("_VBA_PROJECT") > 0) line += ", with macros";
  Quotes(line, ", title").add(read_title(as_bytes(summary)));
}

}  // namespace sluice
