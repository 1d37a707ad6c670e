import { parser } from '@prometheus-io/lezer-promql';
import type { DocumentedMetric } from './documented-metrics.js';

type Node = ReturnType<typeof parser.parse>['topNode'];

/** Prometheus and deploy/prometheus/prometheus.yml add these labels to every metric. */
const targetLabels = ['job', 'instance', 'service'];

/** Finds syntax errors in PromQL expressions, and metrics and labels that no service exports. */
export class PromqlChecker {
  constructor(private readonly metrics: ReadonlyMap<string, DocumentedMetric>) {}

  findFaults(expression: string): string[] {
    const { topNode } = parser.parse(expression);
    const textOf = ({ from, to }: Node): string => expression.slice(from, to);
    const faults = findAll(topNode, ({ type }) => type.isError).map(
      ({ from }) => `syntax error at character ${from}`,
    );
    const known = new Set<string>(targetLabels);
    for (const selector of findNamed(topNode, 'VectorSelector')) {
      const name = selector.getChild('Identifier');
      const labels = name && this.labelsOf(textOf(name));
      if (!labels) {
        faults.push(`unknown metric in ${textOf(selector)}`);
        continue;
      }
      for (const label of labels) known.add(label);
      for (const matched of findNamed(selector, 'LabelName').map(textOf))
        if (!labels.includes(matched)) faults.push(`${textOf(selector)} has no label ${matched}`);
    }
    const grouped = findNamed(topNode, 'GroupingLabels').flatMap((labels) => findNamed(labels, 'LabelName'));
    for (const label of grouped.map(textOf))
      if (!known.has(label)) faults.push(`no metric of the expression has the label ${label}`);
    return faults;
  }

  /** Returns the grouping labels of the outermost aggregation; undefined without an aggregation. */
  groupingOf(expression: string): string[] | undefined {
    const { topNode } = parser.parse(expression);
    const [outermost] = findNamed(topNode, 'GroupingLabels');
    if (!outermost) return undefined;
    return findNamed(outermost, 'LabelName').map(({ from, to }) => expression.slice(from, to));
  }

  /** Returns a metric's labels; undefined when no service exports the metric. Prometheus itself exports `up`. */
  private labelsOf(name: string): string[] | undefined {
    if (name === 'up') return targetLabels;
    const metric = this.metrics.get(name);
    if (metric && metric.type !== 'histogram') return [...metric.labels, ...targetLabels];
    const [, base = '', part] = /^(.+)_(bucket|sum|count)$/.exec(name) ?? [];
    const histogram = this.metrics.get(base);
    if (histogram?.type !== 'histogram') return undefined;
    return [...histogram.labels, ...targetLabels, ...(part === 'bucket' ? ['le'] : [])];
  }
}

function findNamed(node: Node, name: string): Node[] {
  return findAll(node, (each) => each.name === name);
}

function findAll(node: Node, matches: (node: Node) => boolean): Node[] {
  const found: Node[] = [];
  node.cursor().iterate((each) => {
    if (matches(each.node)) found.push(each.node);
  });
  return found;
}
