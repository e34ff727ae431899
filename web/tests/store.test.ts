import { effect } from "@preact/signals";
import { expect, test } from "vitest";
import type { Board, TaskRow } from "../src/api/rows";
import { NAMES, Store } from "../src/live/store";

const task = (id: string, title = id) => ({ id, title, needs: [] as string[] }) as unknown as TaskRow;
const board = (seq: number, ...tasks: TaskRow[]) =>
  ({ seq, log: "L", ...Object.fromEntries(NAMES.map((name) => [name, []])), tasks }) as unknown as Board;

function made() {
  const frames: (() => void)[] = [];
  const store = new Store((draw) => frames.push(draw));
  const draw = () => {
    for (const frame of frames.splice(0)) frame();
  };
  return { store, frames, draw };
}

test("changes are shown once per frame, and only rows that differ are redrawn", () => {
  const { store, frames, draw } = made();
  store.replace(board(1, task("A"), task("B")));
  const drawn = { A: 0, B: 0, list: 0 };
  effect(() => {
    store.tables.tasks.row("A");
    drawn.A++;
  });
  effect(() => {
    store.tables.tasks.row("B");
    drawn.B++;
  });
  effect(() => {
    store.tables.tasks.ids.value;
    drawn.list++;
  });
  for (let seq = 2; seq < 50; seq++)
    store.change({ seq, set: { tasks: [task("A", `title ${seq}`), task("B")] }, gone: {} });
  expect([frames.length, store.reached, store.seq.value]).toEqual([1, 49, 1]);
  draw();
  expect(store.tables.tasks.row("A")?.title).toBe("title 49");
  expect(drawn).toEqual({ A: 2, B: 1, list: 1 });
  store.change({ seq: 50, set: { tasks: [task("C")] }, gone: { tasks: ["A"] } });
  draw();
  expect(store.tables.tasks.ids.value).toEqual(["B", "C"]);
  expect(store.tables.tasks.row("A")).toBeUndefined();
  expect(drawn.list).toBe(2);
});

test("an awaited row is redrawn when it appears, disappears and reappears", () => {
  const { store, draw } = made();
  const seen: (string | undefined)[] = [];
  effect(() => void seen.push(store.tables.tasks.row("A")?.title));
  store.change({ seq: 1, set: { tasks: [task("A", "here")] }, gone: {} });
  draw();
  store.change({ seq: 2, set: {}, gone: { tasks: ["A"] } });
  draw();
  store.change({ seq: 3, set: { tasks: [task("A", "again")] }, gone: {} });
  draw();
  expect(seen).toEqual([undefined, "here", undefined, "again"]);
});

test("viewing the past loses nothing of the present", () => {
  const { store, draw } = made();
  store.replace(board(9, task("A", "now"), task("B")));
  store.lookBack(board(3, task("A", "then")));
  store.change({ seq: 10, set: { tasks: [task("A", "later")] }, gone: { tasks: ["B"] } });
  draw();
  expect([store.tables.tasks.row("A")?.title, store.seq.value, store.newest.value]).toEqual(["then", 3, 10]);
  store.replace(board(11, task("A", "latest"), task("C")));
  expect(store.tables.tasks.row("A")?.title).toBe("then");
  store.backToNow();
  expect(store.tables.tasks.rows.value.map((row) => row.title)).toEqual(["latest", "C"]);
  expect([store.seq.value, store.past.value]).toEqual([11, null]);
});

test("what a person has caused is shown without waiting for a frame", async () => {
  const { store, frames } = made();
  store.replace(board(1));
  const seen: string[] = [];
  const waiting = store.reach(3).then(() => seen.push(store.tables.tasks.row("C")?.title ?? "nothing"));
  store.change({ seq: 2, set: { tasks: [task("B")] }, gone: {} });
  await Promise.resolve();
  expect([seen, store.tables.tasks.row("B")]).toEqual([[], undefined]);
  store.change({ seq: 3, set: { tasks: [task("C")] }, gone: {} });
  await waiting;
  expect([seen, store.tables.tasks.row("B")?.id, frames.length]).toEqual([["C"], "B", 1]);
  await store.reach(2);
});
