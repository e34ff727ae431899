/** Describes log events in words. */

import { plural } from "../../lib/words";
import type { Tone } from "../../ui/parts";

export type LogEvent = {
  seq: number;
  at: number;
  actor: string;
  type: string;
  data: Readonly<Record<string, unknown>>;
};

/** Filter criteria; empty ones are ignored. */
export type Filter = { type: string; task: string; convoy: string; actor: string; text: string };

export const KINDS = [
  "task",
  "session",
  "change",
  "check",
  "landing",
  "trunk",
  "queue",
  "convoy",
  "alert",
  "message",
  "overlap",
  "lease",
  "work",
  "mayor",
  "plan",
  "chore",
  "log",
] as const;

const TONES: Record<string, Tone> = {
  task: "accent",
  session: "blue",
  change: "violet",
  check: "violet",
  landing: "green",
  trunk: "green",
  queue: "amber",
  convoy: "accent",
  alert: "red",
  message: "violet",
  overlap: "amber",
  work: "amber",
  plan: "accent",
  mayor: "accent",
};
const SPECIAL: Record<string, Tone> = {
  "task.landed": "green",
  "task.failed": "red",
  "task.blocked": "amber",
  "task.cancelled": "grey",
  "task.renewed": "grey",
  "alert.cleared": "grey",
  "alert.acknowledged": "grey",
  "session.limited": "amber",
  "session.asked": "violet",
  "change.returned": "amber",
  "session.stop_asked": "amber",
};
const RESULTS: Record<string, Tone> = {
  green: "green",
  red: "red",
  timed_out: "red",
  proved: "green",
  handed_over: "green",
  stopped: "amber",
  cancelled: "grey",
};

export function eventTone(event: LogEvent): Tone {
  const result = text(event, "result") || text(event, "verdict");
  return RESULTS[result] ?? SPECIAL[event.type] ?? TONES[event.type.split(".")[0]!] ?? "grey";
}

const text = (event: LogEvent, name: string): string => {
  const value = event.data[name];
  return typeof value === "string" ? value : "";
};
const list = (event: LogEvent, name: string): string[] => {
  const value = event.data[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
};

export type Subject = { kind: "task" | "session" | "other"; id: string };

/** What an event is about, most specific first. */
export function subjectsOf(event: LogEvent): Subject[] {
  const session = text(event, "session");
  const tasks = [text(event, "task"), ...list(event, "tasks"), ...list(event, "members")].filter(Boolean);
  if (session) return [{ kind: "session", id: session }];
  if (tasks.length) return [...new Set(tasks)].map((id) => ({ kind: "task", id }));
  const other = ["run", "subject", "convoy", "mayor", "message", "alert", "resource", "chore"]
    .map((name) => text(event, name))
    .find(Boolean);
  return other ? [{ kind: "other", id: other }] : [];
}

const SAID = [
  "title",
  "text",
  "verdict",
  "result",
  "why",
  "kind",
  "action",
  "cause",
  "holder",
  "reason",
  "detail",
  "name",
  "to",
  "command",
  "how",
];
const NUMBERS: readonly [string, (value: number) => string][] = [
  ["turns", (value) => plural(value, "turn")],
  ["took_ms", (value) => `took ${value < 1000 ? `${value} ms` : `${Math.round(value / 1000)} s`}`],
  ["nano_usd", (value) => `$${(value / 1e9).toFixed(2)}`],
  ["priority", (value) => `priority ${value}`],
];

/** Summarise the rest of an event in one line. */
export function summaryOf(event: LogEvent): string {
  const said = SAID.map((name) => text(event, name)).filter(Boolean);
  const numbers = NUMBERS.flatMap(([name, tell]) =>
    typeof event.data[name] === "number" && event.data[name] !== 0 ? [tell(event.data[name])] : [],
  );
  return [...new Set(said), ...numbers].join(" · ").replaceAll(/\s+/g, " ");
}

/** The tasks that an event is about, directly or through a session. */
export const tasksOf = (event: LogEvent): string[] => {
  const named = [
    text(event, "task"),
    text(event, "session"),
    text(event, "subject"),
    ...list(event, "tasks"),
    ...list(event, "members"),
  ];
  return [...new Set(named.filter(Boolean).map(taskOf))];
};
/** AF-1.2 is a session of AF-1. */
export const taskOf = (id: string): string => (id.includes(".") ? id.slice(0, id.lastIndexOf(".")) : id);
