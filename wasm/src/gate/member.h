// Members of a result that mean something to the gate by their names.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::gate {

/// What a key says. Whoever stands between a server and its client hands `fixed` members of a
/// result on as they are, `meta` of whatever MCP lets have one, and `icons` wherever they stand.
enum class Member : uint8_t {
  other,
  jsonrpc,
  result,
  blocks,    ///< `content`, `messages`
  entries,   ///< `contents`, `tools`, `resources`, `resourceTemplates`, `prompts`, `tasks`, `task`,
             ///< `roots`
  resource,  ///< of an embedded resource
  icons,
  meta,   ///< `_meta`
  fixed,  ///< `requestState`, `inputRequests`, `inputResponses`, `nextCursor`, `resultType`
};

/// Where a container stands in a message (MCP 2025-11-25 and 2026-07-28).
enum class Place : uint8_t {
  elsewhere,
  result,   ///< the document, its `result`, and the result of a task in there
  blocks,   ///< an array of blocks
  block,    ///< a content block, or a message, which holds some
  entries,  ///< an array of entries
  entry,    ///< a resource, tool, prompt, task …
};

/// Bytes of the longest name, each character spelled `\\u0061`.
inline constexpr size_t kMaxMemberSource = 17 * 6;

/// Tells a key of an object at `place` by its value.
Member member_named(std::string_view name, Place place);

/// Where the value of a member of an object at `place` stands: of blocks and entries an array, or
/// one alone.
Place place_of(Member member, Place place);

/// The same of an object for which `place` is that of its array, or was given by `place_of`.
Place place_of_object(Place place);

/// Whether MCP defines a member with this name for an object at `place`, and nobody may touch it.
bool is_protected(Member member, Place place);

}  // namespace sluice::gate
