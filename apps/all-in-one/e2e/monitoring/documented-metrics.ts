import { readFileSync } from 'node:fs';

/** A metric in docs/metrics.md, which is generated from the code. */
export interface DocumentedMetric {
  name: string;
  type: string;
  labels: readonly string[];
  /** Title of the table in docs/metrics.md. */
  section: string;
}

const root = new URL('../../../../', import.meta.url);

export function readRepositoryFile(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** Parses docs/metrics.md. The keys are metric names. */
export function readDocumentedMetrics(): Map<string, DocumentedMetric> {
  let section = '';
  const metrics = new Map<string, DocumentedMetric>();
  for (const line of readRepositoryFile('docs/metrics.md').split('\n')) {
    section = /^### (?<title>.+)$/.exec(line)?.groups?.title ?? section;
    const [, name, type = '', labels = ''] = /^\| `(\w+)` +\| (\w+) +\| ([^|]*)\|/.exec(line) ?? [];
    if (name !== undefined)
      metrics.set(name, {
        ...{ name, type, section },
        labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
      });
  }
  return metrics;
}
