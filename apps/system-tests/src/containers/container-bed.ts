import { check, type Finding } from '../chaos/checker.js';
import { isSameJson, readEventList } from '../chaos/event-list.js';
import { FaultLoad } from '../chaos/fault-load.js';
import { countOutcomes, markerOf, type LedgerEntry, type Outcome } from '../chaos/ledger.js';
import { waitFor } from '../measure/progress.js';
import type { Engine } from './engine.js';
import { Project, type Scale } from './project.js';
import { ReadLoad, type ReadCounts } from './read-load.js';

export interface PhaseResult {
  /** Attempts by result. */
  answers: Record<string, number>;
  outcomes: Record<Outcome, number>;
  reads: ReadCounts;
  findings: Finding[];
}

const load = { perSecond: 60, clients: 12 };
const settleLimitMs = 60_000;

/** The whole system in containers, with clients that send and read events through the proxy. */
export class ContainerBed {
  private entries: readonly LedgerEntry[] = [];
  private answers: Record<string, number> = {};

  private constructor(
    readonly project: Project,
    readonly token: string,
    private readonly events: FaultLoad,
    private readonly reads: ReadLoad,
  ) {
    events.watch(({ answer }) => {
      const name = 'status' in answer ? String(answer.status) : answer.kind;
      this.answers[name] = (this.answers[name] ?? 0) + 1;
    });
  }

  static async start(engine: Engine, scale: Scale): Promise<ContainerBed> {
    const project = await Project.create(engine);
    try {
      await project.up(scale);
      const token = await logIn(project);
      const webhookSecret = project.variable('PLATFORM_WEBHOOK_SECRET');
      const events = new FaultLoad({ gatewayUrls: [project.url], token, webhookSecret, ...load });
      return new ContainerBed(project, token, events, new ReadLoad(project.url, token));
    } catch (error) {
      await project.down();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.events.stop();
    await this.reads.stop();
    await this.project.down();
  }

  /** Runs a phase under load. Then compares all events sent so far with the event list. */
  async run(phase: () => Promise<void>): Promise<PhaseResult> {
    this.answers = {};
    this.events.start();
    this.reads.start();
    let reads: ReadCounts;
    try {
      await phase();
    } finally {
      await this.events.pause();
      reads = await this.reads.stop();
    }
    const sent = this.events.takeEntries();
    // Not `push(...sent)`: a call cannot have this many arguments.
    this.entries = this.entries.concat(sent);
    return { answers: this.answers, outcomes: countOutcomes(sent), reads, findings: await this.findFaults() };
  }

  /**
   * Reads the event list until it contains every accepted event. After an outage, this takes time: the platform's messages wait on the
   * INGEST stream. Returns the differences from the sent events.
   */
  private async findFaults(): Promise<Finding[]> {
    let findings: Finding[] = [];
    const look = async (): Promise<true | undefined> => {
      // Skip events without a marker: when a connector's sockets end, the simulator sends events about the lost subscriptions.
      const events = await readEventList(this.project.url, this.token);
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
    return findings;
  }
}

async function logIn(project: Project): Promise<string> {
  const credentials = {
    username: project.variable('OWNER_USERNAME'),
    password: project.variable('OWNER_PASSWORD'),
  };
  const look = async (): Promise<string | undefined> => {
    const response = await fetch(`${project.url}/api-token-auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    }).catch(() => undefined); // the proxy may not know the gateways yet
    if (!response?.ok) return undefined;
    return ((await response.json()) as { token: string }).token; // Safe cast: the API's documented reply
  };
  const token = await waitFor(look, { limitMs: settleLimitMs, everyMs: 500 });
  if (token === undefined) throw new Error(`the owner cannot log in at ${project.url}`);
  return token;
}
