/** Events of work are written down in their order, and not more often than somebody can look. */
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ChatEvent } from "../../../../web/src/server/chat/chat-event.js";
import type { LoggedEvent } from "../../../../web/src/server/sessions/event-log.js";
import { EventWriter } from "../../../../web/src/server/work/event-writer.js";

describe("the writer of events", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
  });

  const text = (words: string, step = 1): ChatEvent => ({ kind: "text", step, text: words });
  const progress = (value: number, call = "a"): ChatEvent => ({
    kind: "tool_progress",
    step: 1,
    call,
    tool: "t",
    progress: { progress: value },
  });
  const step = (number: number): ChatEvent => ({ kind: "step_started", step: number });

  /** Text as it is read in the end, and where something else came. */
  function plain(all: readonly LoggedEvent[]): string {
    return all.map((each) => ("text" in each ? (each.text as string) : `|${JSON.stringify(each)}|`)).join("");
  }

  interface Written {
    readonly writer: EventWriter<ChatEvent>;
    readonly log: LoggedEvent[];
    readonly errors: unknown[];
  }

  function written(append: (event: LoggedEvent) => Promise<void> = () => Promise.resolve()): Written {
    const [log, errors]: [LoggedEvent[], unknown[]] = [[], []];
    const writer = new EventWriter<ChatEvent>(
      async (event) => {
        await append(event);
        return `${log.push(event)}-0`;
      },
      (error) => errors.push(error),
    );
    return { writer, log, errors };
  }

  test("text is gathered for a moment, and anything else is written at once, behind the text before it", async () => {
    const { writer, log } = written();
    writer.tell(text("a"));
    writer.tell(text("b"));
    await vi.advanceTimersByTimeAsync(49);
    expect(log).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(log).toEqual([text("ab")]);
    writer.tell(text("c"));
    writer.tell(step(2));
    writer.tell(text("d", 2));
    await writer.settled();
    expect(log.slice(1)).toEqual([text("c"), step(2), text("d", 2)]);
  });

  test("of a call's progress the last counts, and that of each call does", async () => {
    const { writer, log } = written();
    for (let value = 0; value < 100; value++) writer.tell(progress(value, value % 2 === 0 ? "a" : "b"));
    await vi.advanceTimersByTimeAsync(250);
    expect(log).toEqual([progress(98, "a"), progress(99, "b")]);
    writer.tell(progress(100));
    writer.tell(text("x"));
    await vi.advanceTimersByTimeAsync(50);
    expect(log.slice(2)).toEqual([progress(100), text("x")]);
  });

  test("a log that is slow gets what was gathered meanwhile in one", async () => {
    const { writer, log } = written(() => new Promise((resolve) => setTimeout(resolve, 1000)));
    for (let at = 0; at < 100; at++) {
      writer.tell(text("x"));
      await vi.advanceTimersByTimeAsync(50);
    }
    await vi.advanceTimersByTimeAsync(5000);
    expect(log.length).toBeLessThanOrEqual(7);
    expect(log.map((event) => (event as unknown as { text: string }).text).join("")).toBe("x".repeat(100));
  });

  test("an event that cannot be written is reported, and holds up no other; who waits for one is told", async () => {
    const failing = vi.fn<(event: LoggedEvent) => Promise<void>>().mockRejectedValueOnce(new Error("away"));
    const { writer, log, errors } = written(failing);
    writer.tell(step(1));
    writer.tell(step(2));
    await writer.settled();
    expect(log).toEqual([step(2)]);
    expect(errors).toEqual([new Error("away")]);
    failing.mockRejectedValueOnce(new Error("away again"));
    await expect(writer.write(step(3))).rejects.toThrow("away again");
    expect(await writer.write(step(4))).toBe("2-0");
  });

  test("whatever comes, nothing of the text is lost, and nothing changes places with what is no text", async () => {
    const event = fc.oneof(
      fc.string({ minLength: 1 }).map((words) => text(words)),
      fc.constant("pause" as const),
      fc.integer().map((number) => step(number)),
    );
    const property = fc.asyncProperty(fc.array(event), async (all) => {
      const { writer, log } = written();
      for (const each of all) {
        if (each === "pause") await vi.advanceTimersByTimeAsync(60);
        else writer.tell(each);
      }
      await writer.settled();
      expect(plain(log)).toBe(plain(all.filter((each) => each !== "pause")));
    });
    await fc.assert(property);
  });
});
