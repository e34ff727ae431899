/** All details of one task of a plan. */

import type { ComponentChildren } from "preact";
import { tables } from "../../live";
import { Dialog, StateBadge, TaskLink } from "../../ui/parts";
import type { Planned, Proposal } from "./Plan";

export function PlannedTask({ task, proposal, onClose }: { task: Planned; proposal: Proposal; onClose: () => void }) {
  const known = tables.tasks.row(proposal.tasks[task.key] ?? "");
  const needs = proposal.edges.filter((edge) => edge.task === task.key);
  return (
    <Dialog title={task.title} onClose={onClose}>
      <div class="fill planned">
        <div class="prose">{task.brief || <span class="soft">No brief.</span>}</div>
        <dl>
          <Fact name="key">
            <span class="mono">{task.key}</span>
          </Fact>
          {known && (
            <Fact name="on the board">
              <TaskLink id={known.id} /> <StateBadge state={known.column} />
            </Fact>
          )}
          <Fact name="engine">{task.engine}</Fact>
          <Fact name="role">{task.role}</Fact>
          <Fact name="priority">{task.priority || ""}</Fact>
          <Fact name="minutes">{task.minutes || ""}</Fact>
          <Fact name="needs">
            {needs.length > 0 && (
              <ul>
                {needs.map((edge) => (
                  <li key={edge.need}>
                    <span class="mono">{edge.need}</span>
                    {edge.reason && <span class="soft"> ({edge.reason})</span>}
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          <Fact name="may change">
            <Lines of={task.paths} />
          </Fact>
          <Fact name="inputs">
            <Lines of={task.inputs} />
          </Fact>
          <Fact name="accepted when">{task.unproved ? "manual review" : <Lines of={task.accept} />}</Fact>
          <Fact name="runs">
            <Lines of={task.run} />
          </Fact>
        </dl>
      </div>
    </Dialog>
  );
}

function Lines({ of }: { of: readonly string[] | undefined }) {
  return of?.length ? (
    <ul class="mono">
      {of.map((one, at) => (
        <li key={at} class="prose">
          {one}
        </li>
      ))}
    </ul>
  ) : null;
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
