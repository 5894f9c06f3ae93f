import { ExactChanges } from "#components/json/exact-changes.tsx";
import { JsonViewer } from "#components/json/json-viewer.tsx";
import { Section } from "#components/ui/facts.tsx";
import type { ExactJson } from "#lib/client/exact-json.ts";

/** What a denial told the model to ask for instead; it ran nothing. */
export default function Suggested({
  declared,
  suggestion,
}: {
  declared: ExactJson;
  suggestion: ExactJson;
}) {
  return (
    <Section
      title="Suggested to the model"
      aside={<span className="text-soft">nothing has run with these</span>}
    >
      <ExactChanges before={declared} after={suggestion} />
      <div className="mt-2">
        <JsonViewer value={suggestion} label="suggested arguments" maxHeight={220} />
      </div>
    </Section>
  );
}
