// A long text cut to a budget: its head, a suffix that says how much is missing, its references.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "guardrail/cut.h"
#include "guardrail/measure.h"

namespace sluice::guardrail {

/// The source bytes [begin, end) of a document as the inside of a JSON string of at most `room`
/// code points:
///
///   head of the text … suffix artifact://in_the_rest artifact://as_well
///
/// `Spelling::source` for the inside of a string, `escaped` for JSON source that becomes a string.
/// With little room the head ends in `… 963 more`, or only in an ellipsis.
std::string cut_text(const Measure& measure, size_t begin, size_t end, size_t room,
                     Spelling spelling);

}  // namespace sluice::guardrail
