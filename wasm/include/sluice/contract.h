// The tool output contract (MCP 2.1 with user storage, §1, §6.1, §7.1, §8.1): finds it in what a
// tool answered, checks it and writes it normalised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// An answer that was read.
struct ContractReading {
  enum class Kind : uint8_t {
    other,     ///< it carries no contract
    contract,  ///< `json` is the contract, normalised
  };

  Kind kind = Kind::other;

  /// The contract: `{"results":…,"artifacts":[…],"deferred_artifacts":[…],"display":{…}}`, with
  /// `meta_data` and `retryable` if given. `results` and `meta_data` are copied as source, defaults
  /// are filled in, and what breaks a rule is left out.
  std::string json;

  /// What was left out: `{"count":2,"fields":[{"field":"artifacts[2].mime","rule":"must be a media
  /// type such as text/csv"},…]}`, at most 16 fields, each of about 100 characters at most and
  /// without hidden ones. Empty if nothing was.
  std::string dropped;
};

/// Reads JSON text: a CallToolResult, reduced to the mcp dialect or not, or any other value. A
/// contract is `structuredContent` when that is one; else what stands as JSON in the text of the
/// only content block, when that is one; else, where the value is no CallToolResult, the value
/// itself. What is no JSON is no contract. Time and memory are linear in the text.
///
/// An object is a contract when `artifacts` or `deferred_artifacts` is an array in which an object
/// has a string `name`, and a string `b64` or an absolute `path`; or when it has no members but
/// those of a contract, and `results` is an object or such an array has a name with any path.
///
/// One field that breaks a rule costs that field. A file without a usable name or content is left
/// out, and of more than 256 files the first are taken. Results that are no object are kept as the
/// member `result` of one.
///
/// Where bytes may stand as base64, and an object as `results` or `meta_data`, a reference that the
/// core put in its place is kept: a string that is wholly `artifact://…`.
ContractReading read_contract(std::string_view text);

}  // namespace sluice
