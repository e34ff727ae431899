import type { PageProps } from "../../shell/pages";
import { EmptyState, Page } from "../../ui/parts";

export default function Sessions(_: PageProps) {
  return (
    <Page title="Sessions">
      <EmptyState title="Not built yet." />
    </Page>
  );
}
