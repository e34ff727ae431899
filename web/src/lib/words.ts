/** Formats numbers for people. */

import type { Cost } from "../api/rows";

const UNITS: readonly [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
];

/** Format a duration in its largest unit, or its two largest if the first is below 10: 45s, 12m, 3h 5m. */
export function span(ms: number): string {
  if (ms < 1000) return "0s";
  const at = UNITS.findIndex(([size]) => ms >= size);
  const [size, name] = UNITS[at]!;
  const whole = Math.floor(ms / size);
  const next = UNITS[at + 1];
  if (whole >= 10 || !next || name === "m") return `${whole}${name}`;
  const rest = Math.floor((ms % size) / next[0]);
  return rest ? `${whole}${name} ${rest}${next[1]}` : `${whole}${name}`;
}

/** Format a cost in dollars: `≥` if part of it has no known price, empty if nothing was spent. */
export function money(cost: Cost): string {
  const known = cost.usd ?? 0;
  if (!known && !cost.unpriced) return "";
  const digits = known >= 100 ? 0 : 2;
  return `${cost.unpriced ? "≥ " : ""}$${known.toFixed(digits)}`;
}

export function bytes(size: number): string {
  const names = ["B", "kB", "MB", "GB"];
  let at = 0;
  while (size >= 1000 && at < names.length - 1) [size, at] = [size / 1000, at + 1];
  return `${size < 10 && at ? size.toFixed(1) : Math.round(size)} ${names[at]}`;
}

export const count = (number: number): string => number.toLocaleString("en");

/** Format a number with its noun: plural(1, "task") is "1 task". */
export const plural = (number: number, word: string): string => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

export const moment = (ms: number): string =>
  new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
export const clock = (ms: number): string => new Date(ms).toLocaleTimeString(undefined, { hour12: false });
