import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import { maxHeapGrowth, type PartResult } from './parts.js';
import { leftOutOperations } from './schemathesis.js';

export function printFuzzSections(
  results: readonly PartResult[],
  { seed, inputs }: { seed: string; inputs: number },
): Section[] {
  const of = (kind: string): PartResult[] => results.filter(({ id }) => id.startsWith(kind));
  return [
    {
      title: 'Method',
      paragraphs: [
        `Each input is a valid input with changes in one to four places: bits, bytes, broken UTF-8, halves of surrogate pairs, NUL, numbers beyond 2^53, repeated and inherited names, changed types, deep nesting, long texts, and parts of other inputs. The inputs depend only on the seed (here \`${seed}\`) and on the order of responses.`,
        '**Parsers** are called directly, each in its own process. Coverage guides the inputs: the test derives further inputs from each input that reaches a statement or a branch for the first time. Each parser must also satisfy a property. For example, the events service must be able to read every message that the webhook accepts.',
        '**Over the wire**, the inputs go to running services over HTTP, WebSocket, and NATS. Findings are: a 5xx status, a connection without a response, an error reply that the contract does not define, an error in a log, a service that ends or is not ready, and a valid request that fails afterwards. When the system reports an overload (503 with `Retry-After`), the test sends the input again later.',
        `**Memory** is the growth of the JavaScript heap in use (after garbage collection) from the first fifth of the inputs to the last input. The table shows the service whose heap grew most. Caches can grow, so up to ${maxHeapGrowth} MiB are accepted.`,
      ],
      promises: [],
    },
    section('Parsers', of('parser/'), inputs),
    section('Over the wire', of('wire/'), inputs),
    printSchemathesis(of('schemathesis')),
  ];
}

function section(title: string, results: readonly PartResult[], inputs: number): Section {
  const findings = results.flatMap((result) => result.findings);
  const fewest = Math.min(...results.map((result) => result.inputs));
  const promise: KeptPromise = {
    promise: `${title}: at least ${formatCount(inputs)} inputs each, without a crash, a hang, a server error, or growing memory`,
    measured: `${formatCount(sum(results))} inputs to ${results.length} targets, at least ${formatCount(fewest)} each; ${formatCount(findings.length)} findings`,
    isKept: results.length > 0 && findings.length === 0 && fewest >= inputs,
  };
  return {
    title,
    paragraphs: [
      table(
        ['target', 'inputs', 'per second', 'outcomes', 'slowest ms', 'heap MiB', 'notes'],
        results.map(printRow),
      ),
      ...results.map(({ id, description }) => `- **${nameOf(id)}**: ${description}.`),
      ...printFindings(findings),
    ],
    promises: results.length === 0 ? [] : [promise],
  };
}

function printSchemathesis(results: readonly PartResult[]): Section {
  const [result] = results;
  if (!result) return { title: 'schemathesis', paragraphs: ['Not run.'], promises: [] };
  const left = Object.entries(leftOutOperations).map(([path, reason]) => `- \`${path}\`: ${reason}`);
  return {
    title: 'schemathesis',
    paragraphs: [
      `[schemathesis](https://schemathesis.readthedocs.io) makes valid and invalid requests from \`docs/openapi.json\`, with an owner's token, and checks the responses against it. ${result.notes.join('; ')}. All of its checks are on, except \`positive_data_acceptance\`: whether a valid request is accepted also depends on facts that a description cannot express, such as which list a cursor belongs to, or which names the platform knows. An accepted parameter that is empty or repeated is not a finding: the API treats an empty value as absent, and uses the last of several values. These operations are left out:`,
      left.join('\n'),
      ...printFindings(result.findings),
    ],
    promises: [
      {
        promise: 'schemathesis finds nothing',
        measured: `${formatCount(result.inputs)} requests, ${result.findings.length} findings`,
        isKept: result.inputs > 0 && result.findings.length === 0,
      },
    ],
  };
}

function printRow({ id, inputs, ms, outcomes, slowestMs, heapGrowth, notes }: PartResult): string[] {
  const sorted = Object.entries(outcomes).sort(([, one], [, other]) => other - one);
  return [
    nameOf(id),
    formatCount(inputs),
    formatCount((inputs / ms) * 1_000),
    sorted.map(([name, count]) => `${formatCount(count)} ${name}`).join(', '),
    formatCount(slowestMs),
    heapGrowth.toFixed(1),
    notes.join('; '),
  ];
}

function printFindings(findings: readonly string[]): string[] {
  return findings.map((finding) => `\`\`\`\n${finding.replaceAll('```', "'''")}\n\`\`\``);
}

function nameOf(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

function sum(results: readonly PartResult[]): number {
  return results.reduce((total, { inputs }) => total + inputs, 0);
}
