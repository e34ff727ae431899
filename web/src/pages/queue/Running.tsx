/** Check runs in progress, each with its predicted state: a stack of changes on the trunk. */

import { useComputed } from "@preact/signals";
import type { CheckRow } from "../../api/rows";
import { now } from "../../lib/clock";
import { Age, Badge, TaskLink } from "../../ui/parts";
import { LogLink } from "./CheckLog";

const KINDS: Record<string, string> = {
  land: "lands if it passes",
  probe: "tries changes on the current trunk",
  hunt: "looks for the change that broke it",
  base: "checks the trunk itself",
};

export const RunningChecks = ({ checks }: { checks: readonly CheckRow[] }) => (
  <ul>
    {checks.map((check) => (
      <li key={check.id} class="run" data-check={check.id}>
        <div class="across wrap">
          <span class="dot tone-blue" />
          <LogLink run={check.id} />
          <Badge tone="blue" title={KINDS[check.kind]}>
            {check.kind}
          </Badge>
          <span class="small soft">{check.external ? "external CI" : `slot ${check.slot}`}</span>
          <span class="grow" />
          <span class="small soft">
            for <Age at={check.started_at} title="since" />
          </span>
        </div>
        <Stack check={check} />
        <Deadline check={check} />
      </li>
    ))}
  </ul>
);

/** The trunk and each change on top of it; the run checks the last state. */
export function Stack({ check }: { check: CheckRow }) {
  return (
    <ol class="stacked" aria-label="Predicted state">
      <li class="mono small" title={`${check.convoy}: the trunk at ${check.tip}`}>
        {check.tip.slice(0, 7) || "trunk"}
      </li>
      {check.members.map((task) => (
        <li key={task}>
          <TaskLink id={task} />
        </li>
      ))}
      <li class="mono small faint" title={check.commit}>
        = {check.commit.slice(0, 7)}
      </li>
    </ol>
  );
}

/** The share of its time limit that a run has used. */
function Deadline({ check }: { check: CheckRow }) {
  const used = useComputed(() => (now.value - check.started_at) / (check.deadline_s * 1000));
  if (!check.deadline_s) return null;
  const part = Math.min(100, Math.max(0, 100 * used.value));
  return (
    <div
      class={`meter ${part > 80 ? "tone-amber" : ""}`}
      role="progressbar"
      aria-label={`Time used by ${check.id}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(part)}
      title={`time limit: ${check.deadline_s} s`}
    >
      <span style={{ width: `${part}%` }} />
    </div>
  );
}
