import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Store } from "../src/live/store";
import { Stream } from "../src/live/stream";

class Source extends EventTarget {
  static made: Source[] = [];
  onopen = () => undefined as undefined;
  onerror = () => undefined as undefined;
  closed = false;
  constructor(readonly url: string) {
    super();
    Source.made.push(this);
  }
  close() {
    this.closed = true;
  }
  say(name: string, data: unknown = {}) {
    this.dispatchEvent(Object.assign(new Event(name), { data: JSON.stringify(data) }));
  }
}

const asked = vi.fn();

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  Source.made = [];
  asked.mockReset();
  vi.stubGlobal("EventSource", Source);
  vi.stubGlobal("window", globalThis);
  vi.stubGlobal("fetch", asked);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function opened() {
  const stream = new Stream(new Store(() => undefined));
  stream.open();
  Source.made[0]!.onopen();
  return { stream, source: Source.made[0]! };
}

test("a silent connection counts as lost from when it was last heard", async () => {
  const { stream, source } = opened();
  asked.mockResolvedValue({ status: 200 });
  await vi.advanceTimersByTimeAsync(30_000);
  source.say("beat");
  await vi.advanceTimersByTimeAsync(38_000);
  expect(stream.state.value).toBe("live");
  expect(source.closed).toBe(false);
  await vi.advanceTimersByTimeAsync(8_000);
  expect(source.closed).toBe(true);
  expect(stream.cutAt.value).toBe(1_030_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(Source.made).toHaveLength(2);
  Source.made[1]!.onopen();
  expect([stream.state.value, stream.cutAt.value]).toEqual(["live", 0]);
});

test("an expired cookie is not a lost connection", async () => {
  const { stream, source } = opened();
  asked.mockResolvedValue({ status: 401 });
  source.onerror();
  expect(stream.state.value).toBe("cut");
  await vi.advanceTimersByTimeAsync(500);
  expect(stream.state.value).toBe("unknown");
  expect(Source.made).toHaveLength(1);
});
