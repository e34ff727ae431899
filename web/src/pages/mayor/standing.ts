/** How a conversation stands, in words and a colour. */

import type { MayorRow } from "../../api/rows";
import type { Tone } from "../../ui/parts";

export type Standing = { word: string; tone: Tone };

const STANDINGS: Record<MayorRow["state"], Standing> = {
  open: { word: "interrupted", tone: "amber" },
  asking: { word: "thinking", tone: "blue" },
  proposed: { word: "a plan waits for you", tone: "violet" },
  idle: { word: "listens", tone: "grey" },
  gave_up: { word: "gave up", tone: "red" },
  stopped: { word: "stopped", tone: "grey" },
};

export function standing(row: MayorRow): Standing {
  if (row.state === "open" && !row.reason) return { word: "about to ask", tone: "blue" };
  if (row.state === "idle" && row.convoy) return { word: "its plan is on the board", tone: "green" };
  return STANDINGS[row.state];
}

/** It does something, or is about to: nothing else can be asked. */
export const busy = (row: MayorRow) => row.state === "open" || row.state === "asking";
export const over = (row: MayorRow) => row.state === "gave_up" || row.state === "stopped";
/** Another goal has to wait until this is settled. */
export const unsettled = (row: MayorRow | undefined) => row !== undefined && (busy(row) || row.state === "proposed");
