import { AuditPage } from "#components/audit/audit-page.tsx";

export default function Page() {
  return <AuditPage />;
}
