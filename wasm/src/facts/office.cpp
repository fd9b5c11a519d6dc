// Office Open XML (ECMA-376), OpenDocument (ISO/IEC 26300) and EPUB: what their small parts say.
#include "describe/markup.h"
#include "facts/inflate.h"
#include "facts/package.h"
#include "text/ascii.h"

namespace sluice {

// --- entries -----------------------------------------------------------------------------------

std::optional<Package> Package::open(const Glimpse& file) {
  if (!stands(file.head, 0, "PK")) return std::nullopt;
  const auto directory = zip_directory(file);
  return directory ? std::optional(Package(file, *directory)) : std::nullopt;
}

std::string Package::read(std::string_view name, size_t limit) const {
  auto entry = list(0);
  while (entry && entry->name != name) entry = list(entry->next);
  if (!entry || entry->encrypted) return {};
  //   PK34 version:2 flags:2 method:2 … lengths of name:2 (at 26) extra:2
  const Bytes local = file_.from(entry->place + directory_.shift);
  const uint64_t at = 30 + uint64_t{le16(local, 26)} + le16(local, 28);
  if (!stands(local, 0, "PK\3\4") || at >= local.size()) return {};
  const Bytes packed = local.subspan(static_cast<size_t>(at));
  const Bytes content =
      packed.first(static_cast<size_t>(std::min<uint64_t>(packed.size(), entry->packed)));
  if (entry->method == 8) return inflate(content, limit);
  if (entry->method != 0) return {};
  return std::string(as_text(content).substr(0, limit));
}

// --- documents ---------------------------------------------------------------------------------

namespace {

void append_title(std::string& line, std::string_view xml) {
  const std::string title = read_element(xml, "dc:title");
  // What PowerPoint's makers write where nothing was given.
  if (title != "PowerPoint Presentation") Quotes(line, ", title").add(title);
}

/// Pages count where words do: libraries write `1` and `0` without having laid anything out.
void append_length_facts(std::string& line, std::string_view xml, std::string_view pages,
                         std::string_view words) {
  const uint64_t many = read_count(xml, words);
  if (many == 0) return;
  if (const uint64_t count = read_count(xml, pages); count > 0) append_count(line, count, "page");
  append_count(line, many, "word");
}

// --- workbooks and slides ----------------------------------------------------------------------

/// A cell `AB12` as its row and column.
struct Cell {
  uint64_t column = 0;
  uint64_t row = 0;
};

Cell read_cell(std::string_view text) {
  Cell cell;
  for (; !text.empty() && is_upper(text[0]) && cell.column < 99'999; text.remove_prefix(1)) {
    cell.column = cell.column * 26 + static_cast<uint64_t>(text[0] - 'A' + 1);
  }
  cell.row = read_number(text);
  return cell;
}

/// `A1:D120` as ` 120 × 4`; nothing for one cell, which writers give that do not know.
void append_extent(std::string& line, std::string_view range) {
  const size_t colon = range.find(':');
  if (colon == range.npos) return;
  const Cell from = read_cell(range.substr(0, colon));
  const Cell to = read_cell(range.substr(colon + 1));
  if (from.column == 0 || from.row == 0 || to.column < from.column || to.row < from.row) return;
  line += ' ';
  line += grouped(to.row - from.row + 1);
  line += " × ";
  line += grouped(to.column - from.column + 1);
}

/// The beginning of the sheet with a relation's id.
std::string read_sheet(const Package& package, std::string_view relations, const std::string& id) {
  constexpr size_t kBeforeCells = 2'048;
  while (!(relations = find_tag(relations, "Relationship")).empty()) {
    if (read_attribute(relations, "Id") == id) {
      std::string target = read_attribute(relations, "Target");
      if (target.starts_with('/')) {
        target.erase(0, 1);
      } else {
        target.insert(0, "xl/");
      }
      return package.read(target, kBeforeCells);
    }
    relations.remove_prefix(1);
  }
  return {};
}

/// The number of tags, and the names that an attribute of theirs has; of Excel's sheets their
/// extents too.
void append_parts(std::string& line, const Package& package, std::string_view xml,
                  std::string_view tag, std::string_view attribute, std::string_view noun) {
  const uint64_t count = count_tags(xml, tag);
  if (count == 0) return;
  append_count(line, count, noun);
  Quotes names(line, "");
  const std::string relations =
      tag == "sheet" ? package.read("xl/_rels/workbook.xml.rels") : std::string();
  while (!(xml = find_tag(xml, tag)).empty()) {
    if (!names.add(read_attribute(xml, attribute))) break;
    const std::string sheet = read_sheet(package, relations, read_attribute(xml, "r:id"));
    append_extent(line, read_attribute(find_tag(sheet, "dimension"), "ref"));
    xml.remove_prefix(1);
  }
}

void append_book(std::string& line, const Package& package) {
  const std::string container = package.read("META-INF/container.xml");
  const std::string book =
      package.read(read_attribute(find_tag(container, "rootfile"), "full-path"));
  if (book.find("spine>") != book.npos) {
    const uint64_t count = count_tags(book, "itemref") + count_tags(book, "opf:itemref");
    append_count(line, count, "section");
  }
  append_title(line, book);
}

}  // namespace

bool append_office_facts(std::string& line, const Package& package, std::string_view extension,
                         std::string_view counted) {
  // By the letters that all of them share: docx and dotm; xlsx and xltm, but not xlsb; pptx and
  // potm; odt and ott, ods and ots, odp and otp.
  const std::string_view kind = extension.substr(0, 2);
  const size_t before = line.size();
  if (extension == "epub") {
    append_book(line, package);
  } else if (kind == "xl" && extension != "xlsb") {
    append_parts(line, package, package.read("xl/workbook.xml"), "sheet", "name", "sheet");
    if (line.size() == before) line += counted;
  } else if (extension.size() == 4 && (kind == "do" || kind == "pp" || kind == "po")) {
    append_length_facts(line, package.read("docProps/app.xml"), "Pages",
                        kind == "do" ? "Words" : "none");
    line += counted;
    append_title(line, package.read("docProps/core.xml"));
  } else if (kind == "od" || kind == "ot") {
    const std::string meta = package.read("meta.xml");
    const std::string content = package.read("content.xml");
    const bool whole = content.find("</office:document-content>") != content.npos;
    if (extension[2] == 's' && whole)
      append_parts(line, package, content, "table:table", "table:name", "sheet");
    if (extension[2] == 'p' && whole)
      append_parts(line, package, content, "draw:page", "", "slide");
    if (extension[2] == 't') append_length_facts(line, meta, "meta:page-count", "meta:word-count");
    if (extension[2] != 's' && extension[2] != 'p') line += counted;
    append_title(line, meta);
  } else {
    return false;
  }
  return true;
}

}  // namespace sluice
