// The tool output contract (MCP 2.1 with user storage, §1, §6.1, §7.1, §8.1): what a tool answers,
// found, checked and written anew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// What an answer is.
struct ContractReading {
  enum class Kind : uint8_t {
    other,     ///< it carries no contract
    contract,  ///< `json` is the contract, normalised
    invalid,   ///< `json` tells which rule it breaks
  };

  Kind kind = Kind::other;

  /// A contract: `{"results":…,"artifacts":[…],"deferred_artifacts":[…],"display":{…}}`, with
  /// `meta_data` and `retryable` where they were given. `results` and `meta_data` are copied as
  /// source, defaults are filled in, unknown members are gone.
  /// An invalid one: `{"field":"artifacts[2].mime","rule":"must be a media type such as
  /// text/csv"}`.
  std::string json;
};

/// Reads JSON text: a CallToolResult, reduced to the mcp dialect or not, or any other value. A
/// contract is `structuredContent` when that is an object with `results`; else what stands as JSON
/// in the text of the only content block, when that is one; else, where the value is no
/// CallToolResult, the value itself. What is no JSON is no contract. Time and memory are linear in
/// the text.
///
/// Where bytes may stand as base64, and an object as `results` or `meta_data`, a reference that the
/// core put in its place is kept: a string that is wholly `artifact://…`.
ContractReading read_contract(std::string_view text);

}  // namespace sluice
