// Source code: its language, and what it defines at its margin.
#include <algorithm>

#include "describe/facts.h"
#include "describe/text_kind.h"
#include "text/ascii.h"

namespace sluice::kinds {

namespace {

/// A language: how its statements begin at the margin, of which one that hardly anything else has;
/// and its comments.
struct Language {
  std::string_view name;
  std::string_view sure;
  std::string_view opens;
  std::string_view comments;
};

constexpr std::string_view kSlashes = "|//|/*|*/|* |*|";

constexpr Language kLanguages[] = {
    {"PHP source", "|<?php|", "|use |namespace |class |function |$|final |interface |require|",
     kSlashes},
    {"Shell script",
     "|#!/bin/sh|#!/bin/bash|#!/usr/bin/env bash|#!/usr/bin/env sh|#!/usr/bin/bash|",
     "|#!|set |if |fi|for |done|while |case |esac|export |echo |cd |function |local |then|else|",
     "|#|"},
    {"Go source", "|package |", "|package |import |func |type |var |const |", kSlashes},
    {"Perl source", "|use strict|use warnings|#!/usr/bin/perl|#!/usr/bin/env perl|",
     "|package |use |sub |my |our |require |@|$|%|BEGIN |__|", "|#|=|"},
    {"Java source", "|package |import java|public class |public final class |public interface |",
     "|package |import |public |private |protected |@|class |interface |abstract |final |enum |",
     kSlashes},
    {"C# source", "|using System|using Microsoft|",
     "|using |namespace |public |internal |[|class |", kSlashes},
    {"Rust source",
     "|use std::|use crate::|use super::|pub fn |fn |pub struct |pub enum |impl |pub mod |pub "
     "trait |#![|",
     "|use |pub |fn |impl|mod |struct |enum |trait |#[|#![|const |static |unsafe |extern "
     "|macro_rules|type |where|",
     kSlashes},
    {"C++ source", "|#include |#pragma once|",
     "|#|namespace |template |template<|using |static |typedef |struct |class |enum |extern |void "
     "|int |bool |char "
     "|double |float |constexpr |inline |const |std::|size_t |public:|private:|protected:|auto "
     "|uint|unsigned |",
     kSlashes},
    {"TypeScript source",
     "|import {|import *|import type |import \"|import '|export |const |function |async function "
     "|class |\"use strict\"|'use strict'|interface |declare |",
     "|import |export |const |let |var |function |async |class |interface |type |declare |enum |} "
     "from |describe(|test(|it(|"
     "module.exports|exports.|require(|\"use |'use |abstract |for (|if (|@|",
     kSlashes},
    {"Python source", "|def |class |import |from |async def |",
     "|def |class |import |from |async |@|if |try:|except|else|elif |for |with |while |return "
     "|raise |__|",
     "|#|"},
    {"Ruby source", "|require |require_relative |module |class |def |# frozen",
     "|require|module |class |def |end|attr_|include |extend |private|", "|#|"},
    {"SQL", "|CREATE |INSERT INTO |SELECT |ALTER TABLE |DROP |BEGIN;|",
     "|CREATE |INSERT |SELECT |ALTER |DROP |BEGIN|COMMIT|UPDATE |DELETE |SET |FROM |WHERE |JOIN "
     "|LEFT |GROUP |ORDER |WITH |AND |",
     "|--|/*|"},
};

/// Words before what a line defines, and those that say that it does.
constexpr std::string_view kModifiers =
    "|export |default |declare |abstract |async |public |private |protected |static |final |pub |"
    "pub(crate) |unsafe |inline |constexpr |internal |sealed |partial |extern |OR REPLACE |CREATE "
    "|UNIQUE |";
constexpr std::string_view kDefines =
    "|def |class |function |function* |interface |enum class |enum |struct |trait |fn |func |mod "
    "|module |"
    "namespace |type |const |sub |TABLE |VIEW |INDEX |FUNCTION |PROCEDURE |TRIGGER |union |record "
    "|";

std::string_view skip_words(std::string_view line, std::string_view words) {
  for (bool found = true; found;) {
    found = false;
    for (std::string_view rest = words; rest.size() > 1;) {
      const std::string_view word = rest.substr(1, rest.find('|', 1) - 1);
      rest.remove_prefix(word.size() + 1);
      if (!line.starts_with(word)) continue;
      line.remove_prefix(word.size());
      found = true;
    }
  }
  return line;
}

std::string_view read_name(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && (is_alphanumeric(text[end]) || is_among(text[end], "_$:~"))) ++end;
  while (end > 0 && text[end - 1] == ':') --end;
  return text.substr(0, end);
}

bool is_closing(std::string_view line) {
  return is_among(line[0], "})]") || line == "end" || line.starts_with("EOF");
}

/// `name = …`
bool is_assignment(std::string_view line) {
  const size_t end = line.find(" = ");
  return end != line.npos && end > 0 &&
         std::all_of(line.begin(), line.begin() + static_cast<ptrdiff_t>(end),
                     [](char c) { return is_alphanumeric(c) || is_among(c, "_.:"); });
}

bool has_end(std::string_view line) {
  return line.ends_with(':') || line.ends_with(')') || line.ends_with(',') || line.ends_with('(');
}

/// Whether a line can only be of the language, not of prose that begins with the same word.
bool is_sure(const Language& language, std::string_view line) {
  if (!begins_with(line, language.sure)) return false;
  if (language.name == "Python source") {
    if (begins_with(line, "|def |class |async def |")) return has_end(line);
    // `import duties rose` is prose.
    const bool names = line.find(' ', 7) == line.npos || line.find(" as ") != line.npos ||
                       line.find(", ") != line.npos;
    const bool imports = line.starts_with("import ") ? names : line.find(" import ") != line.npos;
    return imports && line.find_first_of(";{}\"'") == line.npos;
  }
  if (language.name == "Go source") return line.find_first_of(";. ", 8) == line.npos;
  if (language.name == "Java source") return line.ends_with(';') || line.ends_with('{');
  if (language.name == "C# source")
    return line.ends_with(';') || line.ends_with('{') || line.find_first_of(" <", 10) == line.npos;
  if (line.starts_with("class ") && language.name == "TypeScript source")
    return line.ends_with('{');
  if (language.name == "TypeScript source" || language.name == "Rust source") {
    return line.find_first_of(";{(='\"[") != line.npos;
  }
  if (language.name == "Ruby source") {
    if (begins_with(line, "|require|")) return line.find_first_of("'\"") != line.npos;
    return line.find_first_of(":;{") == line.npos || line.find("::") != line.npos;
  }
  return true;
}

bool is_typed(const Lines& lines) {
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return begins_with(line,
                       "|interface |export interface |import type |export type |type |declare "
                       "|enum |export enum |") ||
           line.find(": string") != line.npos || line.find(": number") != line.npos ||
           line.find("readonly ") != line.npos || line.find("): ") != line.npos;
  });
}

bool is_of_cpp(const Lines& lines) {
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return begins_with(line, "|namespace |template|using |class |#pragma once|") ||
           line.find("std::") != line.npos || line.find("::") != line.npos ||
           (line.starts_with("#include <") && line.find(".h") == line.npos);
  });
}

bool fits_source(const Sample& sample, Tally& tally) {
  const Lines& lines = sample.filled;
  for (const Language& language : kLanguages) {
    size_t sure = 0, code = 0, other = 0, indented = 0;
    bool quoted = false;
    for (const std::string_view line : lines) {
      const bool marks =
          line.find("\"\"\"") != line.npos && line.find("\"\"\"") == line.rfind("\"\"\"");
      const bool was_quoted = quoted;
      quoted = quoted != marks;
      if (line.starts_with("```")) return false;  // prose about code
      if (was_quoted || marks) continue;
      if (line[0] == ' ' || line[0] == '\t') {
        ++indented;
        continue;
      }
      sure += is_sure(language, line) ? 1 : 0;
      const bool opens = begins_with(line, language.opens);
      if (!opens && begins_with(line, language.comments)) continue;
      ++(opens || is_closing(line) || line.ends_with('{') || line.ends_with(';') ||
                 is_assignment(line)
             ? code
             : other);
    }
    if (sure == 0 || code < 2 || code + indented < 3 || !is_share(code, code + other, 75)) continue;
    tally.label = language.name;
    if (tally.label == "TypeScript source" && !is_typed(lines)) tally.label = "JavaScript source";
    if (tally.label == "C++ source" && !is_of_cpp(lines)) tally.label = "C source";
    return true;
  }
  return false;
}

/// The name of a function of C, `name(…` at the margin without an end, or empty.
std::string_view read_function(std::string_view line) {
  const size_t open = line.find('(');
  if (open == line.npos || open == 0 || line.ends_with(';') || !is_letter(line[0])) return {};
  if (begins_with(line,
                  "|if |for |while |switch |return |else |describe|test|it(|using |typedef |#|"))
    return {};
  size_t begin = open;
  while (begin > 0 && (is_alphanumeric(line[begin - 1]) || is_among(line[begin - 1], "_:~")))
    --begin;
  return line.substr(begin, open - begin);
}

void take_source(Tally& tally, std::string_view line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t') return;
  const std::string_view bare = skip_words(line, kModifiers);
  std::string_view name;
  const bool c = tally.label == "C source" || tally.label == "C++ source";
  if (begins_with(bare, kDefines)) {
    name = skip_words(bare, kDefines);
    name = skip_words(name, "|IF NOT EXISTS |mut |");
    // The receiver of a method in Go.
    if (name.starts_with('('))
      name = skip_indent(name.substr(std::min(name.find(')'), name.size() - 1) + 1));
    name = read_name(name);
    // Of data in other languages than these, and of what is only declared, there is too much.
    const bool data = bare.starts_with("const ");
    const bool declared = c && line.ends_with(';') && !bare.starts_with("using ");
    const bool inner = c && bare.starts_with("namespace ");
    if (declared || inner || (data && (c || line.find("=>") == line.npos))) name = {};
  }
  if (name.empty() && (c || tally.label == "Shell script")) name = read_function(bare);
  if (name.empty()) return;
  ++tally.things;
  add_named(tally, name);
}

void tell_source(const Tally& tally, std::string& facts) {
  if (tally.things == 0) return;
  append_count(facts, tally.things, "definition");
  append_named(facts, "", tally);
}

}  // namespace

const Kind kSource = {fits_source, take_source, tell_source};

}  // namespace sluice::kinds
