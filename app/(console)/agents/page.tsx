import { AgentsPage } from "#components/agents/agents-page.tsx";

export default function Page() {
  return <AgentsPage />;
}
