import { readFileSync } from 'node:fs';

/** A metric of docs/metrics.md, which the generator writes from the code. */
export interface DocumentedMetric {
  name: string;
  type: string;
  labels: readonly string[];
  /** The title of its table. */
  section: string;
}

const root = new URL('../../../../', import.meta.url);

/** Reads a file of the repository. */
export function readRepositoryFile(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** Reads the metrics of docs/metrics.md, by name. */
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
