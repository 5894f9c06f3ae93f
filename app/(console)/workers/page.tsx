import { WorkersPage } from "#components/workers/workers-page.tsx";

export default function Page() {
  return <WorkersPage />;
}
