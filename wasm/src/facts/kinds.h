// The facts of files by their kind, each looking for its own signature first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "describe/facts.h"
#include "sluice/bytes.h"
#include "sniff/structure.h"

namespace sluice {

/// `, 14 pages, encrypted, title (from the file): "Title"`.
void append_pdf_facts(std::string& line, const Glimpse& file);

/// The string object of a PDF that begins `source`, `(…)` or `<…>`, as UTF-8: from PDFDocEncoding,
/// or from UTF-16 or UTF-8 where it begins with a byte order mark. Its first bytes where it is
/// long; empty when there is no string.
std::string pdf_text(std::string_view source);

/// `, 12 entries, names (from the file): "a.txt", …`; of Office files what they are made of: `, 3
/// sheets`, `, 12 slides`.
void append_zip_facts(std::string& line, const Glimpse& file, std::string_view extension);

/// Of an OLE compound file: `, 3 pages, 812 words`, `, 2 sheets (from the file): "Alpha"`, the
/// subject of a message and its sender's name.
void append_compound_facts(std::string& line, const Glimpse& file, std::string_view extension);

/// The names of a tar archive's first members, and their number if all are seen; the name of a
/// gzip file's content.
void append_tar_facts(std::string& line, const Glimpse& file);
void append_gzip_facts(std::string& line, const Glimpse& file);

/// What stands at a fixed place, or a short walk from one, in files of many trades: `, 12
/// triangles`, `, 3 tables (from the file): "users"`, `, CT, 512 × 512`. Nothing of a person.
void append_family_facts(std::string& line, const Glimpse& file, std::string_view extension);

/// How large a film is, how long it or sound lasts, its codecs: `, 1,920 × 1,080, 1:02:03 long,
/// H.264, AAC, 25 fps`, `, 0:07 long`.
void append_media_facts(std::string& line, const Glimpse& file);

/// What the tracks of a film say. 0: not known.
struct Film {
  uint64_t width = 0;
  uint64_t height = 0;
  uint64_t seconds = 0;  ///< where only the container tells them
  uint64_t rate = 0;     ///< hundred times the frames a second
  std::string codecs;    ///< `, H.264, AAC`
};

Film read_film(const Glimpse& file);

/// The content of the box `moov` of an ISO base media file; empty where it is not seen.
Bytes find_movie(const Glimpse& file);

/// The dimensions of whatever image begins with `head`; nothing when it is no known image or they
/// are not to be seen there. Time is linear in the head.
std::optional<Dimensions> find_dimensions(Bytes head);

}  // namespace sluice
