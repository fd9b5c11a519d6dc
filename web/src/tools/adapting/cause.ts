/**
 * What may be kept of somebody else's error.
 * @module
 */

/** How many errors are looked at: causes, and what an AggregateError holds. */
const MOST_ERRORS = 32;

/** An error's `code` and `syscall`; the latter is empty where there is none. */
export interface CodedError {
  readonly code: string;
  readonly syscall: string;
}

/** The codes of an error, of its causes and of what it aggregates, outermost first. */
export function* codesOf(error: unknown): Generator<CodedError, void> {
  const waiting: unknown[] = [error];
  for (let seen = 0; seen < MOST_ERRORS && waiting.length > 0; seen += 1) {
    const next = waiting.shift();
    if (typeof next !== "object" || next === null) continue;
    const { code, syscall, errors, cause } = next as Record<string, unknown>;
    if (typeof code === "string") yield { code, syscall: typeof syscall === "string" ? syscall : "" };
    if (Array.isArray(errors)) waiting.push(...(errors as unknown[]).slice(0, MOST_ERRORS));
    waiting.push(cause);
  }
}

/**
 * An error like `error` without its sentence and its fields: those of HTTP clients hold headers, addresses and bodies, and
 * whoever logs an error logs its causes too. What is left says where to look: class, code, and the lines of the stack.
 */
export function bareCause(error: unknown): Error {
  const bare = new Error("its own sentence is left out, since it may hold secrets");
  const code = [...codesOf(error)].map((coded) => coded.code).find((one) => WORD.test(one));
  bare.name = code === undefined ? classOf(error) : `${classOf(error)} ${code}`;
  bare.stack = [`${bare.name}: ${bare.message}`, ...framesOf(error)].join("\n");
  return bare;
}

const WORD = /^\w{1,60}$/;
const FRAME = /^ {4}at [\w$.<> [\]]{0,200} ?\(?[^()\s]{1,300}:\d+:\d+\)?$/;
const MOST_FRAMES = 10;

function classOf(error: unknown): string {
  if (!(error instanceof Error)) return "Error";
  const name = Object.getPrototypeOf(error)?.constructor?.name as unknown;
  return typeof name === "string" && WORD.test(name) ? name : "Error";
}

/** The stack behind the sentence, which may have lines in it that look like frames. */
function framesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error) || typeof error.stack !== "string") return [];
  const { message, stack } = error;
  const at = stack.indexOf(message);
  // Another sentence than when the stack was taken: where that ended is not known.
  if (at < 0) return [];
  const lines = stack.slice(at + message.length, at + message.length + 8000).split("\n");
  return lines.filter((line) => FRAME.test(line)).slice(0, MOST_FRAMES);
}
