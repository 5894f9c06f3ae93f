import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { DCLinter } from "dclint";
import dockerfile from "dockerfile-utils";
import * as apps from "kubernetes-models/apps/v1";
import * as networking from "kubernetes-models/networking.k8s.io/v1";
import * as policy from "kubernetes-models/policy/v1";
import * as core from "kubernetes-models/v1";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const root = path.resolve(import.meta.dirname, "..");
const read = (file: string) => readFileSync(path.join(root, "deploy", file), "utf8");
const kubernetesFiles = readdirSync(path.join(root, "deploy/kubernetes"));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Kubernetes' own published schemas, by group. */
const groups: Record<string, Record<string, unknown>> = {
  v1: core,
  "apps/v1": apps,
  "policy/v1": policy,
  "networking.k8s.io/v1": networking,
};

/** Every fault of a file of manifests, as Kubernetes' schemas name it. */
const faultsOf = (source: string): ReadonlyArray<string> =>
  parseAllDocuments(source).flatMap((document) => {
    if (document.errors.length > 0) return document.errors.map((error) => error.message);
    const manifest = document.toJS() as Manifest;
    const model = groups[manifest.apiVersion]?.[manifest.kind] as
      | (new (data: unknown) => { validate: () => void })
      | undefined;
    if (model === undefined)
      return [`${manifest.apiVersion} ${manifest.kind} is no kind that is checked here`];
    try {
      new model(manifest).validate();
      return [];
    } catch (error) {
      return [`${manifest.kind}: ${String(error)}`];
    }
  });

const settings = new Set(
  [...readFileSync(path.join(root, ".env.example"), "utf8").matchAll(/^# ([A-Z_]+)=/gm)].map(
    ([, name]) => name ?? "",
  ),
);

describe("the deployment examples", () => {
  it.each(kubernetesFiles)("kubernetes/%s is valid by Kubernetes' own schemas", (file) => {
    expect(faultsOf(read(`kubernetes/${file}`))).toEqual([]);
  });

  it("a manifest with a wrong field, a missing part or broken YAML is seen", () => {
    const hosts = read("kubernetes/hosts.yaml");
    expect(faultsOf(hosts.replace("replicas: 2", "replicas: two"))).not.toEqual([]);
    expect(
      faultsOf(hosts.replace("  selector:\n    matchLabels:", "  chooser:\n    x:")),
    ).not.toEqual([]);
    expect(faultsOf(hosts.replace("kind: Service\n", "kind: Servant\n"))).not.toEqual([]);
  });

  it("compose.yaml is valid by the Compose specification's schema and its linter's errors", () => {
    const errorsOf = (file: string) => {
      const linter = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] });
      const results = linter.lintFiles([file], false);
      expect(results).toHaveLength(1);
      return results.flatMap(({ messages }) => messages.filter(({ type }) => type === "error"));
    };
    expect(errorsOf(path.join(root, "deploy/compose.yaml"))).toEqual([]);
    const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-deploy-"));
    try {
      const broken = path.join(folder, "compose.yaml");
      writeFileSync(broken, read("compose.yaml").replace("restart:", "restarts:"));
      expect(errorsOf(broken)).not.toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("the Dockerfile has no fault its linter knows, and copies only what a build makes or git holds", () => {
    const source = read("Dockerfile");
    expect(dockerfile.validate(source)).toEqual([]);
    expect(dockerfile.validate(source.replace("WORKDIR", "WORKDIRR"))).not.toEqual([]);
    const made = new Set(["node_modules", "dist/server", ".next"]);
    const copied = [...source.matchAll(/COPY --from=build .*?\/app\/(\S+) /g)].map(
      ([, from]) => from ?? "",
    );
    expect(copied.length).toBeGreaterThan(5);
    for (const from of copied) {
      expect(made.has(from) || existsSync(path.join(root, from)), from).toBe(true);
    }
  });

  it("every setting they give is one that the server reads, and every probe a path that it serves", () => {
    const containers = `${read("compose.yaml")}\n${read("kubernetes/hosts.yaml")}\n${read("kubernetes/secret.example.yaml")}`;
    const others = new Set(["POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD", "POD_IP"]);
    const named = [...containers.matchAll(/^\s+(?:- name: )?([A-Z][A-Z_]{2,})(?:: |$)/gm)].map(
      ([, name]) => name ?? "",
    );
    expect(named.length).toBeGreaterThan(8);
    for (const name of named) expect(settings.has(name) || others.has(name), name).toBe(true);
    for (const [, probe] of containers.matchAll(/path: (\/api\/\S+)/g)) {
      expect(["/api/v1/health", "/api/v1/ready"]).toContain(probe);
    }
  });
});
