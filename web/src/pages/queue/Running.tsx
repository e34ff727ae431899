/** Runs in progress: the predicted state of each as a stack of changes on the trunk. */

import { useComputed } from "@preact/signals";
import type { CheckRow } from "../../api/rows";
import { now } from "../../lib/clock";
import { Age, Badge, TaskLink } from "../../ui/parts";
import { LogLink } from "./CheckLog";

const KINDS: Record<string, string> = {
  land: "lands if green",
  probe: "tries changes on the trunk as it is",
  hunt: "looks for who broke it",
  base: "is the trunk itself green?",
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
          <span class="small soft">{check.external ? "another CI runs it" : `slot ${check.slot}`}</span>
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

/** The trunk, then each change on top of it: what the run checks is the last one. */
export function Stack({ check }: { check: CheckRow }) {
  return (
    <ol class="stacked" aria-label="The predicted state">
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

/** How much of its time a run has used up. */
function Deadline({ check }: { check: CheckRow }) {
  const used = useComputed(() => (now.value - check.started_at) / (check.deadline_s * 1000));
  if (!check.deadline_s) return null;
  const part = Math.min(100, Math.max(0, 100 * used.value));
  return (
    <div
      class={`meter ${part > 80 ? "tone-amber" : ""}`}
      role="progressbar"
      aria-label={`Time of ${check.id}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(part)}
      title={`it may take ${check.deadline_s} s`}
    >
      <span style={{ width: `${part}%` }} />
    </div>
  );
}
