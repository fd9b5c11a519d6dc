/**
 * What gives up one call, as the host gives it.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { CallPlace } from "./event.js";

/** Asks the host for what gives up a call: see `RunOptions.callSignal`. */
export type CallSignals = (place: CallPlace) => AbortSignal | undefined;

/**
 * The host's signal for a call.
 *
 * @throws SluiceError E_INVALID_ARGUMENT where the host's function fails, or gives something else.
 */
export function callSignalOf(asked: CallSignals, place: CallPlace): AbortSignal | undefined {
  let signal: unknown;
  try {
    signal = asked(place);
  } catch (cause) {
    throw wrong("but threw an error", { cause });
  }
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw wrong("but gave something else");
}

function wrong(what: string, options?: ErrorOptions): SluiceError {
  const sentence = `The option callSignal of a run must give an AbortSignal or undefined, ${what}.`;
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "callSignal" }, options);
}
