import { NewRunPage } from "#components/runs/new-run-page.tsx";

export default function Page() {
  return <NewRunPage />;
}
