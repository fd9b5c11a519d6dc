// Contracts for tests: an answer around what a test says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sluice/contract.h"
#include "sluice/tape.h"

namespace sluice {

using Kind = ContractReading::Kind;

/// The display of a contract that gives none, and the end of the contract.
inline const std::string kNoDisplay =
    R"("display":{"open_canvas":false,"storage_action":"store"}})";

/// The normalised contract of an answer, or "other".
inline std::string contract_of(const std::string& text) {
  const ContractReading reading = read_contract(text);
  return reading.kind == Kind::contract ? reading.json : "other";
}

/// An answer with `members` beside its results.
inline std::string with(const std::string& members) {
  return R"({"results":{},)" + members + "}";
}

/// What is left out of an answer: `field: rule`, one line each, or "none".
inline std::string dropped_in(const std::string& text) {
  const std::string json = read_contract(text).dropped;
  Tape tape;
  if (!Tape::parse(json, tape).ok()) return json.empty() ? "none" : json;
  const size_t fields = *tape.find(0, "fields");
  std::string lines;
  for (size_t at = fields + 1; at < tape[fields].next; at = tape[at].next) {
    if (!lines.empty()) lines += '\n';
    lines += tape.string(*tape.find(at, "field")) + ": " + tape.string(*tape.find(at, "rule"));
  }
  return lines;
}

/// The same of an answer with `members`.
inline std::string dropped_of(const std::string& members) {
  return dropped_in(with(members));
}

/// The artifact that comes of members beside its name, content and type.
inline std::string artifact_with(const std::string& members) {
  return R"("artifacts":[{"name":"a","b64":"","mime":"text/csv",)" + members + "}]";
}

inline std::string deferred_with(const std::string& members) {
  return R"("deferred_artifacts":[{"name":"a","path":"/p","mime":"text/csv",)" + members + "}]";
}

}  // namespace sluice
