import { describe, expect, test } from "vitest";
import type { ArtifactRef } from "../../../web/src/artifacts/store.js";
import { claimOf, refOf } from "../../../web/src/artifacts/reference.js";
import { SinkWriter, type ByteSink } from "../../../web/src/artifacts/writer.js";

/** A disk with room for three bytes. */
class SmallSink implements ByteSink {
  readonly calls: string[] = [];
  #room = 3;
  readonly #slow: boolean;

  constructor(slow: boolean) {
    this.#slow = slow;
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    this.calls.push(`write ${chunk.join()}`);
    const take = (): void => {
      this.#room -= chunk.byteLength;
      if (this.#room < 0) throw Object.assign(new Error("no space left on /secret"), { code: "ENOSPC" });
    };
    if (this.#slow) return new Promise((resolve) => setTimeout(resolve, 2)).then(take);
    take();
    return undefined;
  }

  commit(): Promise<ArtifactRef> {
    this.calls.push("commit");
    return Promise.resolve(refOf(claimOf(), "artifact_000000000000", "0".repeat(64), 3 - this.#room));
  }

  discard(): Promise<void> {
    this.calls.push("discard");
    return Promise.resolve();
  }
}

const byte = (value: number): Uint8Array => new Uint8Array([value]);
const full = { code: "E_STORE_FULL" };

describe.each([{ slow: false }, { slow: true }])("over a sink, slow: $slow", ({ slow }) => {
  test("a failure stays, is coded, and throws away what was written", async () => {
    const mine = new SmallSink(slow);
    const failing = new SinkWriter(mine);
    for (const value of [1, 2, 3]) await failing.write(byte(value));
    await expect(failing.write(byte(4))).rejects.toMatchObject(full);
    expect(mine.calls.at(-1)).toBe("discard");
    await expect(failing.write(byte(5))).rejects.toMatchObject(full);
    await expect(failing.close()).rejects.toMatchObject(full);
    await expect(failing.close()).rejects.toMatchObject(full);
    await failing.abort();
    expect(mine.calls).toEqual(["write 1", "write 2", "write 3", "write 4", "discard"]);
  });

  test("writes that nobody awaits are in order, and fail at close", async () => {
    const mine = new SmallSink(slow);
    const failing = new SinkWriter(mine);
    for (const value of [1, 2, 3, 4, 5]) void failing.write(byte(value)).catch(() => undefined);
    await expect(failing.close()).rejects.toMatchObject(full);
    expect(mine.calls).toEqual(["write 1", "write 2", "write 3", "write 4", "discard"]);
  });

  test("an abort waits for what is in flight", async () => {
    const mine = new SmallSink(slow);
    const aborted = new SinkWriter(mine);
    const flying = aborted.write(byte(1));
    await Promise.all([aborted.abort(), aborted.abort()]);
    await flying;
    await expect(aborted.write(byte(2))).rejects.toMatchObject({ code: "E_STORE_CLOSED" });
    await expect(aborted.close()).rejects.toMatchObject({ code: "E_STORE_CLOSED" });
    expect(mine.calls).toEqual(["write 1", "discard"]);
  });

  test("an abort after close changes nothing", async () => {
    const mine = new SmallSink(slow);
    const closed = new SinkWriter(mine);
    void closed.write(byte(1));
    const closing = closed.close();
    await closed.abort();
    expect(await closing).toMatchObject({ size_bytes: 1 });
    expect(mine.calls).toEqual(["write 1", "commit"]);
  });
});
