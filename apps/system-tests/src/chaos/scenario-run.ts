import type { StoredEvent } from '@stream-events/contracts';
import type { ServiceProcess } from '@stream-events/testing';
import { say } from '../measure/progress.js';
import type { ServerSet } from '../system/servers.js';
import { check, type Finding, type PublishedMessage } from './checker.js';
import { isSameJson, readEventList } from './event-list.js';
import { FaultLoad, type Try } from './fault-load.js';
import { countOutcomes, markerOf, type LedgerEntry, type Outcome } from './ledger.js';
import { printAnswers, summarize } from './report.js';
import { recoveryLimitMs } from './store-reader.js';
import type { TestBed } from './test-bed.js';

/** The part of a scenario that the report shows. */
export interface DescribedScenario {
  name: string;
  description: string;
}

export interface ScenarioResult {
  name: string;
  faults: number;
  outcomes: Record<Outcome, number>;
  /** Attempts by result. */
  answers: Record<string, number>;
  /** For each call of `measureRequests`: time until notifications and POSTs succeeded at every gateway, in milliseconds. */
  requestsMs: number[];
  /** For each call of `measurePublished`: time until everything accepted before the call was published, in milliseconds. */
  publishedMs: number[];
  /** Messages on the stream that repeat an event. */
  copies: number;
  /** Extra columns of the report. */
  measured: Record<string, string>;
  findings: Finding[];
}

export interface ChaosResults {
  scenarios: readonly DescribedScenario[];
  results: readonly ScenarioResult[];
  /** The event list from the API at the end of the run. */
  list: { events: number; findings: readonly Finding[] };
}

/** `perSecond` is the total rate of all clients. */
export interface LoadSize {
  perSecond: number;
  clients: number;
}

/**
 * Selects scenarios from a comma-separated list of names. Default: all.
 *
 * @throws Error for an unknown name
 */
export function chooseScenarios<S extends DescribedScenario>(
  all: readonly S[],
  only: string | undefined,
): readonly S[] {
  if (only === undefined) return all;
  const names = only.split(',');
  const known = all.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`unknown scenario ${unknown.join(', ')}; the scenarios are ${known.join(', ')}`);
  return all.filter(({ name }) => names.includes(name));
}

/** Runs scenarios on a bed under load. Records every sent event, checks the events after each scenario, and measures recovery times. */
export class ScenarioRun<S extends ServerSet = ServerSet> {
  readonly load: FaultLoad;
  private result = emptyResult('');
  private entries: readonly LedgerEntry[] = [];
  private readonly added: LedgerEntry[] = [];
  private onStreamSince = Number.POSITIVE_INFINITY;
  /** Events of earlier scenarios that are in doubt and were not stored. The service can still store them after their scenario's check. */
  private inDoubt: readonly LedgerEntry[] = [];

  /** @param services all services that must run at the end of each scenario */
  constructor(
    readonly bed: TestBed<S>,
    size: LoadSize,
    readonly services: readonly ServiceProcess[] = [...bed.system.gateways, ...bed.system.events],
  ) {
    const { system } = bed;
    this.load = new FaultLoad({ ...system, gatewayUrls: system.gateways.map(({ url }) => url), ...size });
    bed.onStop(() => this.load.stop());
    this.load.watch(({ answer }) => {
      const name = 'status' in answer ? String(answer.status) : answer.kind;
      this.result.answers[name] = (this.result.answers[name] ?? 0) + 1;
    });
  }

  /** Runs the scenarios in order, then compares the API's event list with the sent events. Prints the findings. */
  async runAll<Scenario extends DescribedScenario>(
    scenarios: readonly Scenario[],
    run: (scenario: Scenario) => Promise<void>,
  ): Promise<ChaosResults> {
    const results: ScenarioResult[] = [];
    for (const scenario of scenarios) {
      const { name } = scenario;
      say(`${name}: running`);
      const result = await this.runOne(name, () => run(scenario));
      results.push(result);
      say(`${name}: answers: ${printAnswers(result)}`);
      for (const line of summarize(result.findings)) say(`${name}: FOUND ${line}`);
    }
    const list = await this.checkList();
    for (const line of summarize(list.findings)) say(`list: FOUND ${line}`);
    return { scenarios, results, list };
  }

  find(what: string): void {
    this.result.findings.push({ kind: 'broken promise', what });
  }

  /** Adds a column to the report. */
  measure(column: string, value: string): void {
    this.result.measured[column] = value;
  }

  countFault(): void {
    this.result.faults += 1;
  }

  /** Attempts since the start of the scenario, by result. */
  get answers(): Readonly<Record<string, number>> {
    return this.result.answers;
  }

  /** Adds events that the scenario itself has sent. */
  addEntries(entries: readonly LedgerEntry[]): void {
    this.added.push(...entries);
  }

  /**
   * Adds a check at the end of the scenario: the stream must contain every event accepted at or after `since` (milliseconds since 1970).
   */
  requireOnStream(since: number): void {
    this.onStreamSince = since;
  }

  /** Measures the time from now until notifications and POSTs succeed at every gateway. */
  async measureRequests(): Promise<void> {
    const startedAt = performance.now();
    const missing = new Set(
      this.bed.system.gateways.flatMap(({ url }) => [`${url} notification`, `${url} post`]),
    );
    const recovered = new Promise<boolean>((resolve) => {
      const giveUp = setTimeout(() => resolve(false), recoveryLimitMs);
      const unwatch = this.load.watch(({ gatewayUrl, kind, answer, sentAt }: Try) => {
        if (answer.kind !== 'accepted' || sentAt < startedAt) return;
        missing.delete(`${gatewayUrl} ${kind === 'notification' ? 'notification' : 'post'}`);
        if (missing.size > 0) return;
        unwatch();
        clearTimeout(giveUp);
        resolve(true);
      });
    });
    if (await recovered) this.note('requests', this.result.requestsMs, startedAt);
    else this.find(`no success after ${recoveryLimitMs / 1_000} s: ${[...missing].join(', ')}`);
  }

  /** Measures the time from now until everything accepted so far is stored and on the stream. */
  async measurePublished(): Promise<void> {
    const startedAt = performance.now();
    if (await this.waitUntilPublished()) this.note('published', this.result.publishedMs, startedAt);
  }

  private note(what: string, times: number[], startedAt: number): void {
    const ms = performance.now() - startedAt;
    times.push(ms);
    const { name, faults } = this.result;
    say(`  ${name}, fault ${faults}: ${what} recovered after ${(ms / 1_000).toFixed(1)} s`);
  }

  /** Runs a scenario under load, waits until everything is published, and checks the result. */
  private async runOne(name: string, scenario: () => Promise<void>): Promise<ScenarioResult> {
    this.result = emptyResult(name);
    this.load.start();
    try {
      await scenario();
    } catch (error) {
      this.find(`the scenario failed: ${String(error)}`);
    }
    await this.load.pause();
    await this.waitUntilPublished();
    // A service that has crashed is still down, because only scenarios start services.
    for (const service of this.services)
      if (!service.isRunning) this.find(`${service.app} has ended: ${service.output.slice(-2_000)}`);
    await this.checkScenario();
    return this.result;
  }

  private async waitUntilPublished(): Promise<boolean> {
    try {
      await this.bed.store.waitUntilPublished();
      return true;
    } catch (error) {
      this.find(String(error));
      return false;
    }
  }

  private async checkScenario(): Promise<void> {
    const { store } = this.bed;
    const sent = [...this.load.takeEntries(), ...this.added.splice(0)];
    // Not `push(...sent)`: a call cannot have this many arguments.
    this.entries = this.entries.concat(sent);
    this.result.outcomes = countOutcomes(sent);
    const { listed, published } = await this.readStored();
    const candidates = [...this.inDoubt, ...sent];
    const stored = new Set(listed.map(({ eventData }) => markerOf(eventData)));
    this.inDoubt = candidates.filter(
      ({ outcome, event }) => outcome === 'in doubt' && !stored.has(event.marker),
    );
    const deadLetters = await store.readDeadLetters();
    this.result.copies = published ? published.length - new Set(published.map(({ id }) => id)).size : 0;
    const isKnownBefore = (id: string): boolean => store.hasRead(id);
    this.result.findings = this.result.findings.concat(
      check({ sent: candidates, listed, deadLetters, published, isKnownBefore }),
    );
    if (published) this.checkOnStream(published);
  }

  private checkOnStream(published: readonly PublishedMessage[]): void {
    const markers = new Set(
      published.map(({ text }) => /"event_data":\{"marker":"([\w-]+)"/.exec(text)?.[1]),
    );
    for (const { acceptedAt, event, canBeDeadLetter } of this.entries) {
      if (acceptedAt >= this.onStreamSince && !canBeDeadLetter && !markers.has(event.marker))
        this.result.findings.push({
          kind: 'not on the stream',
          what: `${event.marker}, accepted within the required time`,
        });
    }
    this.onStreamSince = Number.POSITIVE_INFINITY;
  }

  /** Returns the new events in the store, and the new messages on the stream. */
  private async readStored(): Promise<{ listed: StoredEvent[]; published: PublishedMessage[] | undefined }> {
    const { store, stream } = this.bed;
    const listed = await store.readNewEvents();
    try {
      const published: PublishedMessage[] = (await stream.readNew()).messages;
      // Meanwhile, a slow system can store events whose clients have given up.
      const late = await store.readNewEvents();
      if (late.length === 0 || !(await this.waitUntilPublished())) return { listed, published };
      return {
        listed: [...listed, ...late],
        published: [...published, ...(await stream.readNew()).messages],
      };
    } catch (error) {
      this.find(`the EVENTS stream cannot be read: ${String(error)}`);
      return { listed, published: undefined };
    }
  }

  /** Reads the whole event list, as clients do. Returns its size, and the differences from the sent events. */
  private async checkList(): Promise<ChaosResults['list']> {
    const { system, store } = this.bed;
    const listed = await readEventList(system.gateways[0]?.url ?? '', system.token);
    const deadLetters = await store.readDeadLetters();
    const evidence = {
      sent: this.entries,
      listed,
      deadLetters,
      published: undefined,
      isSameData: isSameJson,
    };
    return { events: listed.length, findings: check(evidence) };
  }
}

function emptyResult(name: string): ScenarioResult {
  return {
    name,
    faults: 0,
    outcomes: { accepted: 0, refused: 0, 'in doubt': 0 },
    answers: {},
    requestsMs: [],
    publishedMs: [],
    copies: 0,
    measured: {},
    findings: [],
  };
}
