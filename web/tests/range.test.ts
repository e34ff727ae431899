import { expect, test, vi } from "vitest";
import type { LogLine } from "../src/live/stream";
import type { LogEvent } from "../src/pages/timeline/events";

vi.mock("../src/ui/toast", () => ({
  complain: (error: unknown) => {
    throw error;
  },
}));
const { Range } = await import("../src/pages/timeline/range");

const NONE = { type: "", task: "", convoy: "", actor: "", text: "" };
const event = (seq: number): LogEvent => ({
  seq,
  at: seq * 10,
  actor: "a",
  type: seq % 50 ? "task.renewed" : "task.added",
  data: {},
});
vi.stubGlobal("requestAnimationFrame", (draw: () => void) => setTimeout(draw, 0));

/** A log as the server shows it: an answer looks at a bounded number of events. */
class Log {
  asked = 0;
  constructor(
    public length: number,
    readonly looks = 1000,
  ) {}
  ask = (query: Record<string, string | number>) => {
    this.asked++;
    const fits = (one: LogEvent) => !query.type || one.type === query.type;
    const limit = Number(query.limit);
    let [begin, end] = [Number(query.after ?? 0) + 1, this.length];
    const events: LogEvent[] = [];
    if (query.before !== undefined) {
      end = Math.min(this.length, Number(query.before) - 1);
      const lowest = Math.max(1, end - this.looks + 1);
      for (begin = end + 1; begin > lowest && events.length < limit; )
        if (fits(event(--begin))) events.unshift(event(begin));
    } else {
      for (let seq = begin; seq <= this.length && events.length < limit; seq++) {
        end = seq;
        if (fits(event(seq))) events.push(event(seq));
      }
    }
    return Promise.resolve({ events, seq: this.length, begin, end });
  };
}
const seqs = (range: InstanceType<typeof Range>) => range.events.value.map((one) => one.seq);
const settled = () => new Promise((done) => setTimeout(done, 20));

test("pages load on demand, back to the first event", async () => {
  const log = new Log(100_000);
  const range = new Range(NONE, null, () => true, log.ask);
  await range.more();
  expect([log.asked, range.events.value.length, seqs(range).at(-1)]).toEqual([1, 200, 100_000]);
  await range.more();
  expect([log.asked, range.low.value, range.whole]).toEqual([2, 99_601, false]);
  const early = new Range(NONE, 150, () => true, log.ask);
  await early.more();
  expect([seqs(early)[0], seqs(early).at(-1), early.whole]).toEqual([1, 150, true]);
  expect([early.holds(150), early.holds(151)]).toEqual([true, false]);
});

test("a search for rare events continues until some are found", async () => {
  const log = new Log(10_000);
  const range = new Range({ ...NONE, type: "task.added" }, null, null, log.ask);
  await range.more();
  expect(seqs(range).every((seq) => seq % 50 === 0)).toBe(true);
  expect(range.events.value.length).toBeGreaterThanOrEqual(50);
  const nothing = new Range({ ...NONE, type: "none" }, null, null, log.ask);
  await nothing.more();
  expect([nothing.whole, nothing.low.value]).toEqual([true, 1]);
});

test("new events are added once and in order, gaps are filled, and the range stays bounded", async () => {
  const log = new Log(500);
  const range = new Range(NONE, null, () => true, log.ask, 300);
  await range.more();
  for (const seq of [501, 502, 502, 501, 503]) range.take(event(seq) as unknown as LogLine);
  log.length = 503;
  await settled();
  expect(seqs(range).slice(-4)).toEqual([500, 501, 502, 503]);
  log.length = 650;
  range.take(event(650) as unknown as LogLine); // a cut connection has missed the others
  await settled();
  expect(seqs(range)).toEqual(Array.from({ length: 300 }, (_, at) => 351 + at));
  expect(range.low.value).toBe(351);
});

test("with a filter that only the server understands, the server is asked for new events", async () => {
  const log = new Log(499);
  const range = new Range({ ...NONE, type: "task.added" }, null, null, log.ask);
  await range.more();
  log.length = 500;
  range.take(event(500) as unknown as LogLine);
  await settled();
  expect(seqs(range).at(-1)).toBe(500);
  range.close();
});

test("the past does not grow", async () => {
  const log = new Log(100);
  const range = new Range(NONE, 50, () => true, log.ask);
  await range.more();
  range.take(event(51) as unknown as LogLine);
  await settled();
  expect(seqs(range).at(-1)).toBe(50);
});

test("an event that arrives while the first page is loading is not missed", async () => {
  const log = new Log(10);
  const range = new Range(NONE, null, () => true, log.ask);
  const loading = range.more(); // the server has answered: ten events
  log.length = 11;
  range.take(event(11) as unknown as LogLine);
  await loading;
  await settled();
  expect(seqs(range).slice(-2)).toEqual([10, 11]);
  range.close();
});
