import { formatCount, formatSeconds, table, type KeptPromise, type Section } from '../measure/report.js';
import { median } from '../measure/quantile.js';
import type { PhaseResult } from './container-bed.js';
import type { ImageFacts } from './images.js';
import type { Phase } from './phases.js';
import type { Start } from './project.js';

/** Measured starts by service. */
export type StartTimes = ReadonlyMap<string, readonly Start[]>;

const megabyte = 1_000_000;
const maxImageMegabytes = 120;
const maxStartMs = 3_000;

export function printImage(image: ImageFacts): Section {
  const added = (image.bytes - image.baseBytes) / megabyte;
  return {
    title: 'Image',
    paragraphs: [
      'One image contains all services, and the command selects the service. The image is built in stages from the lock file, contains the build output and the production packages, and runs as uid 1000 with a read-only root file system. Its SBOM (CycloneDX) is at `/app/sbom.cdx.json`.',
      table(
        ['image', ''],
        [
          ['Size beyond its base', `${added.toFixed(0)} MB`],
          ['Size of the base (`node:24-bookworm-slim`)', `${(image.baseBytes / megabyte).toFixed(0)} MB`],
          ...(image.buildMs === undefined ? [] : [['Build', formatSeconds(image.buildMs)]]),
          ['Packages in the SBOM', String(image.listedPackages)],
          ['User', image.user],
          [
            'Labels',
            Object.keys(image.labels)
              .filter((name) => name.startsWith('org.opencontainers'))
              .map((name) => `\`${name.replace('org.opencontainers.image.', '')}\``)
              .join(', '),
          ],
        ],
      ),
    ],
    promises: [
      {
        promise: `The image is at most ${maxImageMegabytes} MB larger than its base`,
        measured: `${added.toFixed(1)} MB`,
        isKept: added > 0 && added <= maxImageMegabytes,
      },
      {
        promise: 'The image has no sources, tests, secrets, or development packages',
        measured: image.unwantedFiles.length === 0 ? 'none' : image.unwantedFiles.slice(0, 5).join(', '),
        isKept: image.unwantedFiles.length === 0,
      },
      {
        promise: 'The SBOM lists every package in the image',
        measured:
          image.unlistedPackages.length === 0
            ? `all ${image.listedPackages}`
            : image.unlistedPackages.slice(0, 5).join(', '),
        isKept: image.listedPackages > 0 && image.unlistedPackages.length === 0,
      },
      {
        promise: 'The image does not run as root',
        measured: `uid ${image.user}`,
        isKept: /^[1-9]/.test(image.user),
      },
    ],
  };
}

export function printStarts(starts: StartTimes): Section {
  const all = [...starts.values()].flat().map(({ ms }) => ms);
  return {
    title: 'Start',
    paragraphs: [
      'The time from the start of the container until the service logs that it has started. By then, the service has connected to PostgreSQL and NATS, and is listening. Each service starts alone, while the other services run without load. The processor time does not depend on other work on the machine.',
      table(
        ['service', 'starts', 'median', 'maximum', 'processor time (median)'],
        [...starts].map(([service, measured]) => {
          const times = measured.map(({ ms }) => ms);
          const cpu = formatSeconds(median(measured.map(({ cpuMs }) => cpuMs)));
          return [
            service,
            String(times.length),
            formatSeconds(median(times)),
            formatSeconds(Math.max(...times)),
            cpu,
          ];
        }),
      ),
    ],
    promises: [
      {
        promise: `Every service starts within ${maxStartMs / 1_000} s`,
        measured: `${formatSeconds(Math.max(...all))} at most, in ${all.length} starts`,
        isKept: all.length > 0 && Math.max(...all) <= maxStartMs,
      },
    ],
  };
}

export function printPhases(phases: readonly Phase[], results: readonly PhaseResult[]): Section {
  const rows = phases.map(({ name, description }, index) => {
    const { outcomes, reads, findings, answers } = resultAt(results, index);
    return [
      name,
      description,
      formatCount(outcomes.accepted),
      formatCount(reads.succeeded),
      describeFailures({ answers, reads }),
      findings.length === 0 ? 'none' : `**${findings.length}**`,
    ];
  });
  const accepted = results.reduce((sum, { outcomes }) => sum + outcomes.accepted, 0);
  const findings = results.reduce((sum, result) => sum + result.findings.length, 0);
  return {
    title: 'Faults, scaling, and rolling restarts',
    paragraphs: [
      'Compose runs all services and the included proxy. 12 clients send 60 signed notifications and POSTs per second through the proxy, and 4 clients read from every service. Half of the clients keep their connections open. After each phase, the event list is compared with everything that was sent. A killed process loses the requests that it was handling, so requests may fail in the phases that kill processes. The senders retry failed requests as the platform does.',
      table(
        [
          'phase',
          'what happens',
          'events accepted',
          'reads',
          'failed requests',
          'lost, duplicated, or changed',
        ],
        rows,
      ),
    ],
    promises: [
      {
        promise: 'Every accepted event is stored exactly once',
        measured: `${formatCount(accepted)} accepted, ${findings} findings`,
        isKept: accepted > 0 && findings === 0,
      },
      ...phases.flatMap((phase, index) =>
        phase.mayFail ? [] : [promiseNoFailure(phase, resultAt(results, index))],
      ),
    ],
  };
}

function promiseNoFailure({ name, description }: Phase, result: PhaseResult): KeptPromise {
  const failures = describeFailures(result);
  const requests = Object.values(result.answers).reduce((sum, count) => sum + count, result.reads.succeeded);
  return {
    promise: `No request fails in ${name}: ${description.charAt(0).toLowerCase()}${description.slice(1)}`,
    measured: `${formatCount(requests)} requests, failed: ${failures}`,
    isKept: requests > 0 && failures === 'none',
  };
}

function describeFailures({ answers, reads }: Pick<PhaseResult, 'answers' | 'reads'>): string {
  const failures = [...Object.entries(answers).filter(([name]) => name !== 'accepted'), ...reads.failures];
  return failures.length === 0 ? 'none' : failures.map(([name, count]) => `${count} × ${name}`).join(', ');
}

function resultAt(results: readonly PhaseResult[], index: number): PhaseResult {
  const result = results[index];
  if (!result) throw new Error(`phase ${index} did not run`);
  return result;
}
