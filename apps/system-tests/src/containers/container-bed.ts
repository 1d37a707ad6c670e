import { check, type Finding } from '../chaos/checker.js';
import { isSameJson, readEventList } from '../chaos/event-list.js';
import { FaultLoad } from '../chaos/fault-load.js';
import { countOutcomes, markerOf, type LedgerEntry } from '../chaos/ledger.js';
import { waitFor } from '../measure/progress.js';
import type { Project } from './project.js';
import { startReading, type ReadCounts } from './read-load.js';

export interface PhaseResult {
  accepted: number;
  /** Failed attempts to send an event, by result. */
  failures: Map<string, number>;
  reads: ReadCounts;
  findings: Finding[];
}

const load = { perSecond: 60, clients: 12 };
const settleLimitMs = 60_000;

/** Clients that send and read events through the proxy of a project. */
export class ContainerBed {
  private entries: readonly LedgerEntry[] = [];

  private constructor(
    readonly project: Project,
    readonly token: string,
    private readonly events: FaultLoad,
  ) {}

  static async create(project: Project): Promise<ContainerBed> {
    const token = await logIn(project);
    const webhookSecret = project.variable('PLATFORM_WEBHOOK_SECRET');
    const events = new FaultLoad({ gatewayUrls: [project.url], token, webhookSecret, ...load });
    return new ContainerBed(project, token, events);
  }

  /** Runs a phase under load. Then compares all events sent so far with the event list. */
  async run(phase: () => Promise<void>): Promise<PhaseResult> {
    const failures = new Map<string, number>();
    const unwatch = this.events.watch(({ answer }) => {
      const name = 'status' in answer ? String(answer.status) : answer.kind;
      if (answer.kind !== 'accepted') failures.set(name, (failures.get(name) ?? 0) + 1);
    });
    this.events.start();
    const reading = startReading(this.project.url, this.token);
    let reads: ReadCounts;
    try {
      await phase();
    } finally {
      await this.events.pause();
      reads = await reading.stop();
      unwatch();
    }
    const sent = this.events.takeEntries();
    // Not `push(...sent)`: a call cannot have this many arguments.
    this.entries = this.entries.concat(sent);
    return { accepted: countOutcomes(sent).accepted, failures, reads, findings: await this.findFaults() };
  }

  async stop(): Promise<void> {
    await this.events.stop();
  }

  /**
   * Reads the event list until it contains every accepted event. After an outage, this takes time: the platform's messages wait on the
   * INGEST stream. Returns the differences from the sent events.
   */
  private async findFaults(): Promise<Finding[]> {
    let findings: Finding[] | undefined;
    let failure: unknown;
    const look = async (): Promise<true | undefined> => {
      // Right after a kill, the list can be unavailable.
      const events = await readEventList(this.project.url, this.token).catch((error: unknown) => {
        failure = error;
      });
      if (!events) return undefined;
      // Skip events without a marker: when a connector's sockets end, the simulator sends events about the lost subscriptions.
      const listed = events.filter(({ eventData }) => markerOf(eventData) !== undefined);
      findings = check({
        sent: this.entries,
        listed,
        deadLetters: new Set(),
        published: undefined,
        isSameData: isSameJson,
      });
      return findings.some(({ kind }) => kind === 'missing') ? undefined : true;
    };
    await waitFor(look, { limitMs: settleLimitMs, everyMs: 1_000 });
    if (!findings) throw failure;
    return findings;
  }
}

async function logIn(project: Project): Promise<string> {
  const look = async (): Promise<string | undefined> => {
    const response = await requestToken(project).catch(() => undefined); // the proxy may not know the gateways yet
    if (!response?.ok) return undefined;
    return ((await response.json()) as { token: string }).token; // Safe cast: the API's documented reply
  };
  const token = await waitFor(look, { limitMs: settleLimitMs, everyMs: 500 });
  if (token === undefined) throw new Error(`the owner cannot log in at ${project.url}`);
  return token;
}

/** Logs the owner in. */
export function requestToken(project: Project, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${project.url}/api-token-auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      username: project.variable('OWNER_USERNAME'),
      password: project.variable('OWNER_PASSWORD'),
    }),
  });
}
