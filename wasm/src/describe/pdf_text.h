// Text strings of PDF (ISO 32000-1 §7.3.4, §7.9.2.2).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// The string object that begins `source`, `(…)` or `<…>`, as UTF-8: from PDFDocEncoding, or from
/// UTF-16 or UTF-8 where it begins with a byte order mark. Its first bytes where it is long; empty
/// when there is no string.
std::string pdf_text(std::string_view source);

}  // namespace sluice
