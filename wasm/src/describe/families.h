// What the families of files say of themselves. Each looks at its own signature first, appends what
// it finds to the line, and nothing where that is not to be seen; time is linear in the glimpse.
#pragma once

#include <string>
#include <string_view>

#include "sniff/glimpse.h"

namespace sluice {

/// `, 14 pages, encrypted, untrusted file text: "Title"`.
void append_pdf_facts(std::string& line, const Glimpse& file);

/// `, 12 entries, untrusted file text: "a.txt", …`; of Office files what they are made of: `, 3
/// sheets`, `, 12 slides`.
void append_zip_facts(std::string& line, const Glimpse& file, std::string_view extension);

/// The names of a tar archive's first members, and their number if all are seen; the name of a
/// gzip archive's file.
void append_tar_facts(std::string& line, const Glimpse& file);
void append_gzip_facts(std::string& line, const Glimpse& file);

/// How long sound or a moving picture lasts: `, 3:25`, `, 1:02:03`, `, 0:07`.
void append_length(std::string& line, const Glimpse& file);

}  // namespace sluice
