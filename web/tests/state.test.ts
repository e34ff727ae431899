import { expect, test } from "vitest";
import type { SessionRow } from "../src/api/rows";
import { chosen, readable, standing, verdictTone } from "../src/pages/sessions/state";

const row = (id: string, more: Partial<SessionRow> = {}) =>
  ({
    id,
    task: id.split(".")[0],
    convoy: "farm",
    title: "Title",
    profile: "claude",
    model: "",
    role: "",
    progress: "",
    verdict: "",
    detail: "",
    stop: "",
    question: "",
    asked: "",
    limited: false,
    live: true,
    started_at: 5,
    ended_at: 0,
    ...more,
  }) as SessionRow;

test("a session has one state; needing a person comes first", () => {
  expect(standing(row("A-1.1")).word).toBe("running");
  expect(standing(row("A-1.1", { limited: true })).word).toBe("rate limited");
  expect(standing(row("A-1.1", { limited: true, question: "m-1" }))).toEqual({
    word: "waiting for an answer",
    tone: "violet",
  });
  expect(standing(row("A-1.1", { stop: "stopped", question: "m-1" })).word).toBe("stopping");
  expect(standing(row("A-1.1", { live: false, verdict: "checks_failed" }))).toEqual({
    word: "checks failed",
    tone: "red",
  });
  expect([verdictTone("proved"), verdictTone("stopped"), verdictTone("")]).toEqual(["green", "amber", "blue"]);
});

test("waiting sessions come first, then running ones, then the most recently ended", () => {
  const rows = [
    row("A-1.1", { live: false, ended_at: 8 }),
    row("A-2.1", { live: false, ended_at: 9 }),
    row("A-3.1"),
    row("A-4.1", { asked: "?", started_at: 9 }),
  ];
  const ids = (filter: object) =>
    chosen(rows, { text: "", convoy: "", engine: "", which: "live", ...filter }).map((one) => one.id);
  expect(ids({ which: "all" })).toEqual(["A-4.1", "A-3.1", "A-2.1", "A-1.1"]);
  expect(ids({})).toEqual(["A-4.1", "A-3.1"]);
  expect(ids({ which: "ended", text: "a-2" })).toEqual(["A-2.1"]);
  expect([ids({ convoy: "other" }), ids({ engine: "codex" })]).toEqual([[], []]);
});

test("facts become text, even truncated ones", () => {
  expect(readable('{"fact": "said", "text": "a \\"b\\" \\u00e4')).toBe('a "b" ä');
  expect(readable('{"fact":"used","tool":"run","what":"pytest -q')).toBe("\x1b[36mrun\x1b[39m pytest -q");
  expect(readable('{"fact": "spent", "fresh": 3}')).toBeNull();
  expect(readable('{"fact": "said", "text": "cut in an escape \\u00')).toBeNull();
  expect(readable('{"other": 1}')).toBe('{"other": 1}');
});
