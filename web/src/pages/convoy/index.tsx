/** Convoys, each with its graph, critical path, branch and merge report. */

import type { ConvoyRow } from "../../api/rows";
import { pathTo } from "../../lib/router";
import { tables } from "../../live";
import type { PageProps } from "../../shell/pages";
import { Age, Badge, Card, EmptyState, Money, Page } from "../../ui/parts";
import { Convoy } from "./Convoy";
import { Progress } from "./Progress";
import "./convoy.css";

export default function Convoys({ rest }: PageProps) {
  const convoys = tables.convoys.rows.value;
  const only = convoys.length === 1 ? convoys[0]!.id : undefined;
  const id = rest[0] ?? only;
  if (id !== undefined) return <Convoy key={id} id={id} alone={only !== undefined} />;
  return (
    <Page title="Convoys">
      {convoys.length === 0 && (
        <EmptyState title="No convoys yet.">
          Create one from a plan: <code>corral plan apply PLAN</code>
        </EmptyState>
      )}
      <div class="stack">
        {[...convoys].reverse().map((row) => (
          <Summary key={row.id} row={row} />
        ))}
      </div>
    </Page>
  );
}

function Summary({ row }: { row: ConvoyRow }) {
  return (
    <Card title={<a href={pathTo("convoy", [row.id])}>{row.title}</a>} tools={<BranchBadge row={row} />}>
      <div class="stack tight" data-convoy={row.id}>
        <Progress row={row} />
        <div class="across wrap small soft">
          <span class="mono">{row.branch}</span>
          <span>
            created <Age at={row.created_at} /> ago
          </span>
          <Money cost={row.cost} />
        </div>
      </div>
    </Card>
  );
}

/** How the convoy reached its base branch. */
const FINISHED: Record<string, string> = {
  left: "all landed on its own branch",
  fast_forwarded: "fast-forwarded",
  asked: "in a pull request",
};

export function BranchBadge({ row }: { row: ConvoyRow }) {
  const left = Object.entries(row.tasks).some(
    ([name, number]) => number > 0 && name !== "done" && name !== "cancelled",
  );
  if (row.finished && !left)
    return (
      <Badge tone="green" title={row.finished_commit}>
        {FINISHED[row.finished] ?? row.finished}
      </Badge>
    );
  const pause = tables.pauses.row(`sessions:${row.id}`);
  if (pause)
    return (
      <Badge tone="amber" title={pause.reason}>
        sessions paused
      </Badge>
    );
  if (row.paused)
    return (
      <Badge tone="amber" title={row.paused}>
        landing paused
      </Badge>
    );
  if (row.landing) return <Badge tone="violet">landing {row.landing}</Badge>;
  return <Badge tone={row.landed ? "blue" : "grey"}>{row.landed ? `${row.landed} landed` : "nothing landed"}</Badge>;
}
