/** The columns of the board: what each contains, in which order, and what dropping a card there does. */

import type { QueueRow, TaskRow } from "../../api/rows";

/** From left to right; stuck tasks are side by side in the middle, where people see them. */
export const COLUMNS = ["backlog", "todo", "doing", "blocked", "failed", "review", "done", "cancelled"] as const;
export type ColumnName = (typeof COLUMNS)[number];
/** Columns where something is happening or is wrong; their cards have a line that says what. */
export const TALL: ReadonlySet<string> = new Set(["doing", "blocked", "review", "failed"]);

export type Filter = { convoy: string; engine: string; role: string; text: string };

export function fits(task: TaskRow, filter: Filter): boolean {
  if (filter.convoy && task.convoy !== filter.convoy) return false;
  if (filter.engine && (task.engine || "default") !== filter.engine) return false;
  if (filter.role && task.role !== filter.role) return false;
  if (!filter.text) return true;
  const text = `${task.id} ${task.title} ${task.holder} ${task.session} ${task.reason} ${task.progress}`.toLowerCase();
  return filter.text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Sort tasks into columns, in the order in which they will be taken, or else newest first. */
export function sorted(
  tasks: readonly TaskRow[],
  queue: readonly QueueRow[],
  filter: Filter,
): Record<ColumnName, string[]> {
  const found = Object.fromEntries(COLUMNS.map((name) => [name, []])) as unknown as Record<ColumnName, TaskRow[]>;
  for (const task of tasks) if (fits(task, filter)) found[task.column as ColumnName]?.push(task);
  const places = new Map(queue.map((row) => [row.id, row.place]));
  const place = (task: TaskRow) => places.get(task.id) ?? 0;
  const next = (one: TaskRow, other: TaskRow) => other.priority - one.priority || one.order - other.order;
  const newest = (one: TaskRow, other: TaskRow) => other.since_at - one.since_at || other.order - one.order;
  for (const name of ["backlog", "todo", "blocked", "failed"] as const) found[name].sort(next);
  for (const name of ["doing", "done", "cancelled"] as const) found[name].sort(newest);
  found.review.sort(
    (one, other) => one.convoy.localeCompare(other.convoy) || place(one) - place(other) || next(one, other),
  );
  return Object.fromEntries(COLUMNS.map((name) => [name, found[name].map((task) => task.id)])) as Record<
    ColumnName,
    string[]
  >;
}

/** The priority that puts a task just before another one. */
export function priorityBefore(task: TaskRow, other: TaskRow): number {
  return task.order < other.order ? other.priority : other.priority + 1;
}

/** The priority that puts a task just after another one; at least 0. */
export function priorityAfter(task: TaskRow, other: TaskRow): number {
  return task.order > other.order ? other.priority : Math.max(0, other.priority - 1);
}

export type Move = "unblock" | "retry" | "hand-off" | "block" | "cancel" | "land";

/** What dropping a task on another column requests; the server decides whether it is allowed. */
export function moveTo(task: TaskRow, column: ColumnName): Move | null {
  switch (column) {
    case "todo":
    case "backlog":
      return task.state === "blocked"
        ? "unblock"
        : task.state === "doing"
          ? "hand-off"
          : task.state === "todo"
            ? null
            : "retry";
    case "blocked":
    case "cancelled":
      return task.state === column ? null : column === "blocked" ? "block" : "cancel";
    case "done":
      return task.state === "review" ? "land" : null;
    default:
      return null; // only sessions start, submit and fail tasks
  }
}
