// References that the core put in the place of what it diverted.
#pragma once

#include <string_view>

namespace sluice::files {

/// Whether a text is wholly a reference, as the core writes them: `artifact://`, then at most 1,024
/// characters that stand in a URI.
bool is_reference(std::string_view text);

}  // namespace sluice::files
