/**
 * What stands behind the question mark of an address.
 * @module
 */
import { z } from "zod";
import { BodyRefused } from "./read-body.js";

/** Characters that the name of a trace may have. */
export const MAX_TRACE = 200;

/** A run within a session, as callers name it. */
export const TRACE: z.ZodType<string> = z
  .string()
  .min(1)
  .max(MAX_TRACE)
  .refine((trace) => trace !== "*", "* names all traces, and is the name of none")
  // What is kept as UTF-8 comes back as another one, whose artifacts nobody would find.
  .refine((trace) => !/\p{Cs}/u.test(trace), "it must be Unicode, without halves of pairs");

/** The parameters as they should be, each the first of its name; others are ignored. Throws BodyRefused that names the one that is wrong. */
export function readQuery<T>(request: Request, schema: z.ZodType<T>): T {
  const said: Record<string, string> = {};
  for (const [name, value] of new URL(request.url).searchParams) if (!Object.hasOwn(said, name)) said[name] = value;
  const read = schema.safeParse(said);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? "");
  throw new BodyRefused(400, `The parameter ${name} is not as it should be: ${issue?.message ?? ""}.`, name);
}
