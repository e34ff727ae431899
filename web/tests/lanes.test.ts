import { expect, test } from "vitest";
import type { SessionRow } from "../src/api/rows";
import { eventTone, type LogEvent, subjectsOf, summaryOf, tasksOf } from "../src/pages/timeline/events";
import { lanesOf, SPANS, stacked, ticks, zoomed } from "../src/pages/timeline/lanes";

let seq = 0;
const event = (type: string, at: number, data: Record<string, unknown>): LogEvent => ({
  seq: ++seq,
  at,
  actor: "witness",
  type,
  data,
});
const row = (id: string, started_at: number, ended_at = 0, verdict = "") =>
  ({ id, task: id.split(".")[0], started_at, ended_at, verdict, live: !ended_at, title: "" }) as unknown as SessionRow;

const EVENTS = [
  event("session.ended", 110, { session: "AF-9.1", verdict: "crashed", detail: "code 1" }),
  event("session.started", 120, { session: "AF-1.1", task: "AF-1", profile: "claude" }),
  event("check.started", 130, { run: "c-1", members: ["AF-1", "AF-2"] }),
  event("check.started", 135, { run: "c-2", members: [] }),
  event("check.ended", 140, { run: "c-1", result: "green" }),
  event("session.ended", 150, { session: "AF-1.1", verdict: "proved" }),
  event("task.landed", 160, { task: "AF-1", commit: "a" }),
  event("session.started", 170, { session: "AF-1.2", task: "AF-1", profile: "claude" }),
  event("alert.raised", 180, { alert: "a-1", kind: "disk", subject: "disk", text: "full" }),
];

test("each task has a lane with its sessions as bars, coloured by verdict", () => {
  const lanes = lanesOf(EVENTS, [row("AF-3.1", 50), row("AF-4.1", 10, 20, "proved")], "task", 100);
  expect(lanes.map((lane) => [lane.id, lane.bars.map((bar) => [bar.key, bar.from, bar.to, bar.tone])])).toEqual([
    [
      "Checks",
      [
        ["c-1", 130, 140, "green"],
        ["c-2", 135, null, "blue"],
      ],
    ],
    ["AF-3", [["AF-3.1", 50, null, "blue"]]], // began before, known from the board; AF-4.1 was over before
    ["AF-9", [["AF-9.1", 100, 110, "red"]]], // nobody knows when it began: it comes in from the left
    [
      "AF-1",
      [
        ["AF-1.1", 120, 150, "green"],
        ["AF-1.2", 170, null, "blue"],
      ],
    ],
    ["Other", []],
  ]);
  expect(lanes[3]!.marks.map((mark) => [mark.shape, mark.at])).toEqual([["landed", 160]]);
  expect(lanes[4]!.marks[0]!.told).toBe("disk alert: full");
});

test("each session has a lane, and events of the task are on its newest session", () => {
  const lanes = lanesOf(EVENTS, [], "session", 100);
  expect(lanes.map((lane) => [lane.id, lane.bars.length, lane.marks.length])).toEqual([
    ["Checks", 2, 0],
    ["AF-9.1", 1, 0],
    ["AF-1.1", 1, 1],
    ["AF-1.2", 1, 0],
    ["Other", 0, 1],
  ]);
});

test("concurrent runs are stacked", () => {
  const bars = lanesOf(EVENTS, [], "task", 100)[0]!.bars;
  const { rows, height } = stacked(bars, 200);
  expect([rows.get("c-1"), rows.get("c-2"), height]).toEqual([0, 1, 2]);
});

test("ten thousand events are laid out at once", () => {
  const many = Array.from({ length: 5000 }, (_, at) => [
    event("session.started", at, {
      session: `AF-${at % 900}.${Math.floor(at / 900)}`,
      task: `AF-${at % 900}`,
      profile: "x",
    }),
    event("session.ended", at + 500, { session: `AF-${at % 900}.${Math.floor(at / 900)}`, verdict: "proved" }),
  ]).flat();
  const began = performance.now();
  expect(lanesOf(many, [], "task", 0)).toHaveLength(900);
  expect(performance.now() - began).toBeLessThan(5000); // some 30 ms on a quiet machine; quadratic would be minutes
});

test("the axis has round times", () => {
  const found = ticks(1000, 61_000, 8);
  expect(found.length).toBeLessThanOrEqual(8);
  expect(found.every(({ at, step }) => at % step === 0 && at >= 1000 && at <= 61_000)).toBe(true);
  expect(zoomed(SPANS[3]!, -1)).toBe(SPANS[2]);
  expect(zoomed(SPANS[0]!, -1)).toBe(SPANS[0]);
  expect(zoomed(SPANS.at(-1)!, 1)).toBe(SPANS.at(-1));
});

test("an event is described in words", () => {
  const ended = event("session.ended", 1, { session: "AF-1.1", verdict: "checks_failed", detail: "two\nlines" });
  expect([eventTone(ended), summaryOf(ended), subjectsOf(ended)]).toEqual([
    "blue",
    "checks_failed · two lines",
    [{ kind: "session", id: "AF-1.1" }],
  ]);
  expect(tasksOf(ended)).toEqual(["AF-1"]);
  const odd = event("new.thing", 1, { task: 7, title: { a: 1 }, tasks: "no list" });
  expect([summaryOf(odd), subjectsOf(odd), tasksOf(odd)]).toEqual(["", [], []]);
});
