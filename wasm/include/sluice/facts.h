// What a file says of itself beyond its kind and size: pages, sheets, entries, length. A library of
// its own, and for JavaScript a module of its own, which is loaded when the first file of such a
// kind comes by.
#pragma once

#include <string>
#include <string_view>

#include "sluice/describe.h"

namespace sluice {

/// Whether a file of this type, which begins with `head`, may have facts that `tell_facts` tells.
bool has_facts(const FileType& type, Bytes head);

/// What `tell_facts` needs to know of a file: its type, its size and both of its ends.
std::string write_evidence(const Subject& subject);

/// The description of a file in place of what `describe` said: `PDF, 2.1 MB, 14 pages`, or the same
/// where there is nothing to add. Empty for what `write_evidence` did not write, and for bytes of
/// no known type of which there is nothing to tell.
std::string tell_facts(std::string_view evidence);

/// The same of a PDF, without what other files need: for JavaScript a module of its own, a quarter
/// as large.
std::string tell_pdf_facts(std::string_view evidence);

}  // namespace sluice
