import { expect, test } from "vitest";
import type { TaskRow } from "../src/api/rows";
import { priorityAfter, priorityBefore } from "../src/pages/board/columns";

const task = (order: number, priority: number) => ({ order, priority }) as TaskRow;
/** As the server takes them: by priority, then by age. */
const first = (one: TaskRow, other: TaskRow) =>
  one.priority > other.priority || (one.priority === other.priority && one.order < other.order);

test("a task dropped on another goes just before or after it", () => {
  for (const [mine, other] of [
    [1, 2],
    [2, 1],
  ] as const) {
    for (const priority of [1, 5]) {
      const [held, there] = [task(mine, 3), task(other, priority)];
      expect(first({ ...held, priority: priorityBefore(held, there) }, there)).toBe(true);
      expect(first(there, { ...held, priority: priorityAfter(held, there) })).toBe(true);
    }
  }
  expect(priorityAfter(task(1, 3), task(2, 0))).toBe(0); // nothing is less urgent
});
