/** Short names for the rows that the server sends. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Board = Schemas["Board"];
export type Cost = Schemas["Cost"];
export type TaskRow = Schemas["TaskRow"];
export type ConvoyRow = Schemas["ConvoyRow"];
export type SessionRow = Schemas["SessionRow"];
export type QueueRow = Schemas["QueueRow"];
export type CheckRow = Schemas["CheckRow"];
export type AlertRow = Schemas["AlertView"];
export type LeaseRow = Schemas["LeaseRow"];
export type MessageRow = Schemas["MessageView"];
export type PauseRow = Schemas["PauseRow"];
export type LimitRow = Schemas["LimitRow"];
export type SlotRow = Schemas["SlotRow"];
export type CostRow = Schemas["CostRow"];
export type JobRow = Schemas["JobRow"];
export type OverlapRow = Schemas["OverlapRow"];
export type FlakyRow = Schemas["FlakyRow"];
export type MayorRow = Schemas["MayorRow"];

/** The tables of a board: each of its fields that is a list of rows with an id. */
export type Tables = {
  [Name in keyof Board as Board[Name] extends { id: string }[] ? Name : never]: Board[Name] extends (infer Row)[]
    ? Row
    : never;
};
export type TableName = keyof Tables;
