/** What needs a person: on the page of alerts, on the board, and as a number beside its name. */

import { computed } from "@preact/signals";
import type { AlertRow, MessageRow, TaskRow } from "../api/rows";
import { tables } from ".";

/** A question that nobody has answered, or what people were told or have taken and not called seen. */
export const forPeople = (one: MessageRow) =>
  !one.acknowledged && (one.question || one.to === "people" || (one.reader !== "" && !tables.sessions.row(one.reader)));

/** The alert about a question is not shown beside the question itself. */
export const isAsked = (alert: AlertRow) =>
  alert.kind === "question" &&
  tables.messages.rows.value.some((one) => one.question && one.sender === alert.subject && forPeople(one));

/** Nobody goes on with it by themselves: it has failed for good, or who worked on it could not go on. */
export const isStuck = (task: TaskRow) => task.state === "failed" || (task.state === "blocked" && task.session !== "");

export const messages = computed(() => tables.messages.rows.value.filter(forPeople));
export const alerts = computed(() => tables.alerts.rows.value.filter((alert) => !isAsked(alert)));
/** Tasks that are stuck and that no open alert is about. */
export const stuck = computed(() => {
  const told = new Set(tables.alerts.rows.value.map((alert) => alert.subject));
  return tables.tasks.rows.value.filter((task) => isStuck(task) && !told.has(task.id));
});
export const needed = computed(
  () => alerts.value.filter((alert) => !alert.seen_by).length + messages.value.length + stuck.value.length,
);
