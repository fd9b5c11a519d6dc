// Terminal control sequences in text.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice {

/// Bytes of the control sequence (ECMA-48 §5.3–5.6) that starts at `text[at]`, 0 when none does.
/// Both spellings, `ESC [` and the C1 character U+009B; CSI with parameters and final byte, the
/// strings OSC, DCS, SOS, PM, APC with all they hold up to BEL or ST (or the end of the text), and
/// two-byte escapes.
size_t ansi_length(std::string_view text, size_t at);

}  // namespace sluice
