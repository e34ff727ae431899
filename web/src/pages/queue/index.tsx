import type { PageProps } from "../../shell/pages";
import { EmptyState, Page } from "../../ui/parts";

export default function Queue(_: PageProps) {
  return (
    <Page title="Queue">
      <EmptyState title="Not built yet." />
    </Page>
  );
}
