/** The results of recent check runs. */

import type { CheckRow } from "../../api/rows";
import { span } from "../../lib/words";
import { Age, Badge, TaskLink, type Tone } from "../../ui/parts";
import { type Column, Table } from "../../ui/virtual";
import { LogLink } from "./CheckLog";

const TONES: Record<string, Tone> = { green: "green", red: "red", flaky: "amber", cancelled: "grey" };
export const ResultBadge = ({ result }: { result: string }) => <Badge tone={TONES[result] ?? "grey"}>{result}</Badge>;

const COLUMNS: readonly Column<CheckRow>[] = [
  { name: "Run", width: "64px", cell: (check) => <LogLink run={check.id} /> },
  {
    name: "Verdict",
    width: "88px",
    cell: (check) => <ResultBadge result={check.result} />,
    by: (check) => check.result,
  },
  { name: "Kind", width: "56px", cell: (check) => check.kind, by: (check) => check.kind },
  {
    name: "Changes",
    width: "minmax(120px, 1fr)",
    cell: (check) =>
      check.members.map((task) => (
        <span key={task}>
          <TaskLink id={task} />{" "}
        </span>
      )),
  },
  {
    name: "Detail",
    width: "minmax(120px, 1.4fr)",
    cell: (check) => (
      <span class={check.command ? "mono small" : "small soft"} title={check.detail}>
        {check.command || check.detail}
      </span>
    ),
  },
  {
    name: "Took",
    width: "64px",
    right: true,
    cell: (check) =>
      check.cached ? (
        <span title={`result of ${check.cached} on the same tree`}>cached</span>
      ) : check.took_ms < 1000 ? (
        `${check.took_ms} ms`
      ) : (
        span(check.took_ms)
      ),
    by: (check) => check.took_ms,
  },
  {
    name: "Ago",
    width: "64px",
    right: true,
    cell: (check) => <Age at={check.ended_at} />,
    by: (check) => -check.ended_at,
  },
];

export const Verdicts = ({ checks }: { checks: readonly CheckRow[] }) => (
  <div class="verdicts">
    <Table label="Verdicts" columns={COLUMNS} items={checks} keyOf={(check) => check.id} minWidth={700} />
  </div>
);
