// The facts of a description, and how they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/bytes.h"
#include "sniff/structure.h"

namespace sluice {

/// Appends `, 14 pages`, `, 1 page`: a noun that ends in `y` becomes `…ies`.
void append_count(std::string& line, uint64_t count, std::string_view noun);

/// Texts quoted from a file, as a list: `, names (from the file): "a", "b"`. The words in
/// parentheses are the mark that tells them from our own. A sixth becomes `and more`, and one that
/// shows nothing is left out.
class Quotes {
 public:
  /// `intro` says what the texts are, with its comma: `, names`.
  Quotes(std::string& line, std::string_view intro) : line_(line), intro_(intro) {}

  /// False if no further one is shown.
  bool add(std::string_view text);

 private:
  std::string& line_;
  std::string_view intro_;
  int count_ = 0;
};

/// `, 14 pages, encrypted, title (from the file): "Title"`.
void append_pdf_facts(std::string& line, const Glimpse& file);

/// The string object of a PDF that begins `source`, `(…)` or `<…>`, as UTF-8: from PDFDocEncoding,
/// or from UTF-16 or UTF-8 where it begins with a byte order mark. Its first bytes where it is
/// long; empty when there is no string.
std::string pdf_text(std::string_view source);

/// `, 12 entries, names (from the file): "a.txt", …`; of Office files what they are made of: `, 3
/// sheets`, `, 12 slides`.
void append_zip_facts(std::string& line, const Glimpse& file, std::string_view extension);

/// The names of a tar archive's first members, and their number if all are seen; the name of a
/// gzip file's content.
void append_tar_facts(std::string& line, const Glimpse& file);
void append_gzip_facts(std::string& line, const Glimpse& file);

/// How long sound or a moving picture lasts: `, 3:25 long`, `, 1:02:03 long`, `, 0:07 long`.
void append_length(std::string& line, const Glimpse& file);

// --- images --------------------------------------------------------------------------------------

namespace image {

/// In pixels, as stored: a rotation that metadata asks for is not applied. Neither is 0.
struct Dimensions {
  uint64_t width = 0;
  uint64_t height = 0;

  bool operator==(const Dimensions&) const = default;
};

/// The dimensions of whatever image begins with `head`; nothing when it is no known image or they
/// are not to be seen there. Time is linear in the head.
std::optional<Dimensions> dimensions(Bytes head);

}  // namespace image

}  // namespace sluice
