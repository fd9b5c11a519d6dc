/** What every register of work must do, run against each. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Work, WorkRegister } from "../../../../web/src/server/work/work-register.js";

/** A register under test, which holds at most three of a kind. */
export interface WorkSubject {
  readonly register: WorkRegister;
  /** Lets the lease of everything that is held end. */
  end(): Promise<void>;
  dispose(): Promise<void>;
}

const run = (id: string, session = "s"): Work => ({ kind: "run", session, id });
const idsOf = (works: readonly Work[]): readonly string[] => works.map(({ id }) => id).toSorted();

/** The whole contract, for a register called `title`. */
export function describeWorkRegister(title: string, opening: () => Promise<WorkSubject>): void {
  describe.each([title])("%s", () => {
    let subject: WorkSubject;
    beforeEach(async () => {
      subject = await opening();
    });
    afterEach(() => subject.dispose());

    test("held work is due to no one; when its lease is over it is due to one, who holds it then", async () => {
      const { register } = subject;
      await register.hold("p", [run("a")]);
      expect(await register.due("q", "run", 9)).toEqual([]);
      await subject.end();
      const found = await Promise.all([register.due("q", "run", 9), register.due("r", "run", 9)]);
      expect(found.flat()).toEqual([run("a")]);
      expect(await register.due("r", "run", 9)).toEqual([]);
      await subject.end();
      expect(await register.due("r", "run", 9)).toEqual([run("a")]);
    });

    test("what is held again lasts", async () => {
      const { register } = subject;
      await register.hold("p", [run("a"), run("b")]);
      await subject.end();
      await register.hold("p", [run("a")]);
      expect(await register.due("q", "run", 9)).toEqual([run("b")]);
    });

    test("what is free is due at once, before what nobody holds any more, and no more than is asked for", async () => {
      const { register } = subject;
      await register.hold("p", [run("a"), run("b")]);
      await subject.end();
      await register.hold("p", [run("c")]);
      await register.free("p", [run("c")]);
      expect(await register.due("q", "run", 0)).toEqual([]);
      expect(await register.due("q", "run", 1)).toEqual([run("c")]);
      expect(idsOf(await register.due("q", "run", 9))).toEqual(["a", "b"]);
    });

    test("finished work is due to no one", async () => {
      const { register } = subject;
      await register.hold("p", [run("a"), run("b")]);
      await register.end("p", [run("a")]);
      await subject.end();
      expect(await register.due("q", "run", 9)).toEqual([run("b")]);
    });

    test("one that lost its work neither ends nor frees it, and may hold it again", async () => {
      const { register } = subject;
      await register.hold("p", [run("a")]);
      await register.hold("q", [run("a")]);
      await register.free("p", [run("a")]);
      expect(await register.due("r", "run", 9)).toEqual([]);
      await register.end("p", [run("a")]);
      await register.hold("p", [run("a")]);
      await register.end("p", [run("a")]);
      await subject.end();
      expect(await register.due("r", "run", 9)).toEqual([]);
    });

    test("sessions and kinds are apart, whatever their names are", async () => {
      const { register } = subject;
      const works: readonly Work[] = [run('","b', "a"), run("b", 'a","'), { kind: "call", session: "a", id: "b" }];
      await register.hold("p", works);
      await register.free("p", works);
      expect(await register.due("q", "call", 9)).toEqual([works[2]]);
      expect(await register.due("q", "run", 9)).toHaveLength(2);
    });

    test("of too much, what was held longest ago is dropped", async () => {
      const { register } = subject;
      await register.hold("p", [run("a")]);
      await subject.end();
      await register.hold("p", [run("b"), run("c"), run("d")]);
      await subject.end();
      expect(idsOf(await register.due("q", "run", 9))).toEqual(["b", "c", "d"]);
    });
  });
}
