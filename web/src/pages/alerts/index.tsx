import type { PageProps } from "../../shell/pages";
import { EmptyState, Page } from "../../ui/parts";

export default function Alerts(_: PageProps) {
  return (
    <Page title="Alerts">
      <EmptyState title="Not built yet." />
    </Page>
  );
}
