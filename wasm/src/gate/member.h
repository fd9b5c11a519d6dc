// Members of a result that mean something to the gate by their names.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::gate {

/// What a key says. Whoever stands between a server and its client hands `fixed` members of a
/// result on as they are, and `icons` wherever they stand.
enum class Member : uint8_t {
  other,
  jsonrpc,
  result,
  icons,
  fixed,  ///< `_meta`, `requestState`, `inputRequests`, `inputResponses`, `nextCursor`,
          ///< `resultType`
};

/// Bytes of the longest name, each character spelled `\\u0061`.
inline constexpr size_t kMaxMemberSource = 14 * 6;

/// Tells a key by its value.
Member member_named(std::string_view name);

}  // namespace sluice::gate
