/**
 * The events of a run, as the document describes them.
 * @module
 */
import { z } from "zod";
import {
  CLAMPED,
  CLOSING,
  DISPLAY,
  defineEvent,
  FAILURE,
  nameSchema,
  PAYLOAD,
  PROGRESS,
  REASON,
  REFERENCE,
  WAIT,
} from "../schemas.js";

const STEP = { step: z.int().describe("From 1.") };
const CALL = {
  ...STEP,
  call: z.string().describe("The call's id, unique in its step."),
  tool: z.string(),
};
const RUN = { run: z.string().describe("Its address is `chat/{run}`.") };
const OUTCOME = z
  .enum(["answered", "length", "content_filter", "empty", "steps", "tokens", "seconds"])
  .describe("`answered`, what the answer lacks, or the limit that the run reached.");
const SPENT = z.object({ steps: z.number(), tokens: z.number(), seconds: z.number() }).describe("What the run used.");
const ARTIFACTS = z.array(REFERENCE);

const TRAJECTORY = nameSchema(
  "Trajectory",
  z
    .object({
      query: z.string(),
      steps: z.array(
        z.object({
          text: z.string(),
          calls: z.array(
            z.object({
              id: z.string(),
              tool: z.string(),
              args: z.record(z.string(), z.unknown()).optional(),
              observation: z.string().describe("JSON text, as the model saw it."),
              isError: z.boolean(),
              artifacts: ARTIFACTS,
            }),
          ),
        }),
      ),
      artifacts: z.record(z.string(), z.unknown()).describe("Fields that tools marked, by tool and field."),
    })
    .describe("What happened in a run."),
);

/** An event of a run. */
export const CHAT_EVENT = nameSchema(
  "RunEvent",
  z.union([
    defineEvent("run_started", "The run began.", RUN),
    defineEvent("run_resumed", "The run goes on.", RUN),
    defineEvent("step_started", "A turn of the model begins.", STEP),
    defineEvent("step_finished", "All calls of a turn are done.", STEP),
    defineEvent("text", "The model writes.", { ...STEP, text: z.string().describe("The next piece.") }),
    defineEvent("text_discarded", "The text of this step is void: the model is asked again.", STEP),
    defineEvent("model_answered", "The model finished a turn.", {
      ...STEP,
      calls: z.int().describe("Calls that are made."),
      leftOut: z.int().optional().describe("Further calls, for which there is no room."),
      usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }).optional(),
    }),
    defineEvent("tool_called", "A call begins.", CALL),
    defineEvent("tool_progress", "A call makes progress.", { ...CALL, progress: z.object(PROGRESS) }),
    defineEvent("tool_waiting", "A source is silent for long.", { ...CALL, wait: z.object(WAIT) }),
    defineEvent("tool_display", "A tool wants files shown.", { ...CALL, display: DISPLAY }),
    defineEvent("tool_returned", "A call ended.", { ...CALL, isError: z.boolean() }),
    defineEvent("artifact_stored", "Something of a result was stored.", { ...CALL, artifacts: ARTIFACTS }),
    defineEvent("artifact_emitted", "A tool gave a piece of its work.", {
      ...CALL,
      name: z.string(),
      value: z.unknown(),
    }),
    defineEvent("chunk_emitted", "A tool gave a piece of its output.", {
      ...CALL,
      stream: z.string(),
      chunk: z.unknown(),
    }),
    defineEvent("observation_clamped", "The model sees less of a result.", { ...CALL, ...CLAMPED }),
    defineEvent("tool_answered", "The model sees a result.", {
      ...CALL,
      isError: z.boolean(),
      chars: z.number().describe("Characters of JSON."),
    }),
    defineEvent("tool_failed", "A call failed.", { ...CALL, error: FAILURE }),
    defineEvent("paused", "A call waits for a person, and so will the run.", { ...CALL, reason: REASON }),
    defineEvent("state_failed", "The events of the run cannot be saved.", { error: FAILURE }),
    defineEvent("finished", "The run ended.", { steps: z.int(), outcome: OUTCOME }),
    defineEvent("result", "The last event of a run that is over.", {
      answer: z.string(),
      outcome: OUTCOME,
      spent: SPENT,
      trajectory: TRAJECTORY.nullable().describe("Null where it is too large. Then `artifact` holds all, as JSON."),
      artifact: REFERENCE.optional(),
    }),
    defineEvent("pause", "The last event of a run that waits for a person.", {
      reason: REASON,
      payload: PAYLOAD,
      tool: z.string(),
      resume_token: z.string().describe("Answers it, at `chat/resume`."),
    }),
    defineEvent("failed", "The last event of a run that failed.", { error: FAILURE }),
    CLOSING,
    z
      .object({
        kind: z.string(),
        ...STEP,
        call: z.string(),
        tool: z.string(),
        left_out: z.number().describe("Its bytes."),
      })
      .partial({ step: true, call: true, tool: true })
      .describe("An event that is too large to be kept, without most of its members."),
  ]),
);
