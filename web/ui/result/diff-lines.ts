/**
 * Compares what a server sent with what the model sees, line by line.
 * @module
 */
import { pause } from "../pace.js";
import { findArtifact, type Artifacts, chipText } from "./labels.js";
import type { MarkedText } from "./marked-text.js";
import { prettyLines, type PrettyOptions } from "./pretty.js";

/** A line of a comparison. */
export interface DiffLine {
  /** Whether both sides have it, or only one. */
  readonly side: "both" | "sent" | "model";
  /** The line. */
  readonly text: string;
}

/** A comparison. */
export interface DiffLines {
  /** Its lines. */
  readonly lines: readonly DiffLine[];
  /** Whether both sides were compared to their ends. */
  readonly whole: boolean;
}

/** Most lines of one side that are compared. */
export const MOST_LINES = 5_000;
/** With more edits, the sides are shown one after the other. */
const MOST_EDITS = 1_500;
const MOST_CHARS = 400;

/** Compares what was sent, with chips for stored bytes, with what the model sees. */
export async function diffLines(sent: MarkedText, observation: string, artifacts: Artifacts): Promise<DiffLines> {
  const { diffArrays } = await import("diff");
  const options: PrettyOptions = {
    lines: MOST_LINES,
    chars: MOST_CHARS,
    hole: (hole) => `[${chipText(findArtifact(hole, artifacts))}]`,
    unfold: true,
  };
  const before = prettyLines(sent, options);
  await pause();
  const after = prettyLines({ text: observation, holes: [] }, options);
  await pause();
  // Indentation is ignored, since a removed envelope changes it everywhere.
  const changes = diffArrays([...before.lines], [...after.lines], { comparator: isSame, maxEditLength: MOST_EDITS });
  const whole = before.whole && after.whole;
  if (changes === undefined) return { lines: [...only("sent", before.lines), ...only("model", after.lines)], whole };
  const lines = changes.flatMap(({ added, removed, value }) =>
    only(removed ? "sent" : added ? "model" : "both", value),
  );
  return { lines: levelLines(lines, before.lines), whole };
}

// Lines of the server take the indentation that the model's text has around them: both sides are read as one text.
function levelLines(lines: readonly DiffLine[], before: readonly string[]): DiffLine[] {
  let at = 0;
  const shifts = lines.map(({ side, text }) => {
    if (side === "model") return null;
    const shift = measureIndent(text) - measureIndent(before[at] ?? "");
    at += 1;
    return side === "both" ? shift : null;
  });
  let shift = shifts.find((one) => one !== null) ?? 0;
  return lines.map((line, index) => {
    shift = shifts[index] ?? shift;
    if (line.side !== "sent") return line;
    return { side: "sent", text: " ".repeat(Math.max(0, measureIndent(line.text) + shift)) + line.text.trimStart() };
  });
}

function measureIndent(line: string): number {
  return line.length - line.trimStart().length;
}

function isSame(a: string, b: string): boolean {
  return bare(a) === bare(b);
}

function only(side: DiffLine["side"], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ side, text }));
}

function bare(line: string): string {
  return line.trim().replace(/,$/, "");
}
