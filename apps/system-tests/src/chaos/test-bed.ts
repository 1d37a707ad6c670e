import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceProcess } from '@stream-events/testing';
import { startServers, type ServerAddresses, type Servers } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';
import { check, type Finding, type PublishedMessage } from './checker.js';
import { isSameJson, readEventList } from './event-list.js';
import { FaultLoad, type Try } from './fault-load.js';
import { countOutcomes, markerOf, type LedgerEntry, type Outcome } from './ledger.js';
import { StoreReader } from './store-reader.js';

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

// Time limit for recovery. If an instance dies with messages from the INGEST stream, NATS redelivers these messages to another
// instance only after 30 s.
const recoveryLimitMs = 90_000;
// Pause between two reads of the backlog. Each read opens a connection.
const pollMs = 200;
const gateways = 2;

export const chaosLoad: LoadSize = { perSecond: 320, clients: 16 };

export interface LoadSize {
  perSecond: number;
  clients: number;
}

export interface BedParts<S extends ServerAddresses> {
  servers: S;
  databaseUrl: string;
  system: System;
  /** Further services that must run at the end of each scenario. */
  others?: readonly ServiceProcess[];
  load: LoadSize;
}

/** Two gateways, two events services, and their servers, under load. Records every sent event, and measures recovery times. */
export class TestBed<S extends ServerAddresses = Servers> {
  private result = emptyResult('');
  private entries: readonly LedgerEntry[] = [];
  private readonly added: LedgerEntry[] = [];
  private onStreamSince = Number.POSITIVE_INFINITY;
  /** Events of earlier scenarios that are in doubt and were not stored. The service can still store them after their scenario's check. */
  private inDoubt: readonly LedgerEntry[] = [];

  readonly servers: S;
  readonly system: System;
  readonly databaseUrl: string;
  readonly services: readonly ServiceProcess[];
  readonly load: FaultLoad;

  private constructor(
    { servers, system, databaseUrl, others = [], load }: BedParts<S>,
    readonly reader: StoreReader,
  ) {
    this.servers = servers;
    this.system = system;
    this.databaseUrl = databaseUrl;
    this.services = [...system.gateways, ...system.events, ...others];
    this.load = new FaultLoad({ ...system, gatewayUrls: system.gateways.map(({ url }) => url), ...load });
    this.load.watch(({ answer }) => {
      const name = 'status' in answer ? String(answer.status) : answer.kind;
      this.result.answers[name] = (this.result.answers[name] ?? 0) + 1;
    });
  }

  static async start(): Promise<TestBed> {
    const servers = await startServers();
    try {
      const databaseUrl = await servers.createDatabase('chaos');
      const system = await startSystem(servers, databaseUrl, { gateways, events: 2 });
      return await TestBed.of({ servers, system, databaseUrl, load: chaosLoad });
    } catch (error) {
      await servers.stop();
      throw error;
    }
  }

  /** Uses running servers and services. The caller stops them after `close`. */
  static async of<S extends ServerAddresses>(parts: BedParts<S>): Promise<TestBed<S>> {
    return new TestBed(parts, await StoreReader.connect(parts.servers, parts.databaseUrl));
  }

  /** Stops the load and the readers. The servers keep running. */
  async close(): Promise<void> {
    await this.load.stop();
    await this.reader.close();
  }

  /** Runs a scenario under load, waits until everything is published, and checks the result. */
  async run(name: string, scenario: () => Promise<void>): Promise<ScenarioResult> {
    this.result = emptyResult(name);
    this.load.start();
    try {
      await scenario();
    } catch (error) {
      this.find(`the scenario failed: ${String(error)}`);
    }
    await this.load.pause();
    await this.waitUntilPublished();
    this.checkProcesses();
    await this.checkScenario();
    return this.result;
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

  /** Measures the time from now until notifications and POSTs succeed at every gateway. */
  async measureRequests(): Promise<void> {
    const startedAt = performance.now();
    const missing = new Set(
      this.system.gateways.flatMap(({ url }) => [`${url} notification`, `${url} post`]),
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
    process.stdout.write(
      `    ${name}, fault ${faults}: ${what} recovered after ${(ms / 1_000).toFixed(1)} s\n`,
    );
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

  /** Reads the whole event list, as clients do. Returns its size, and the differences from the sent events. */
  async checkList(): Promise<{ events: number; findings: Finding[] }> {
    const {
      gateways: [gateway],
      token,
    } = this.system;
    const listed = await readEventList(gateway?.url ?? '', token);
    const deadLetters = await this.reader.readDeadLetters();
    const findings = check({
      sent: this.entries,
      listed,
      deadLetters,
      published: undefined,
      isSameData: isSameJson,
    });
    return { events: listed.length, findings };
  }

  /** Returns false and adds a finding if the time limit passes before everything is published. */
  private async waitUntilPublished(): Promise<boolean> {
    const deadline = performance.now() + recoveryLimitMs;
    let lastBatch: string | undefined;
    let last = 'the backlog could not be read';
    while (performance.now() < deadline) {
      try {
        lastBatch ??= await this.reader.readLastBatch();
        const backlog = await this.reader.readBacklog(lastBatch);
        if (backlog.outbox + backlog.ingest === 0) return true;
        last = JSON.stringify(backlog);
      } catch (error) {
        last = String(error); // a server may still be down
      }
      await wait(pollMs);
    }
    this.find(`the backlog is not empty after ${recoveryLimitMs / 1_000} s: ${last}`);
    return false;
  }

  /** Reports services that have crashed. They are still down, because only scenarios start services. */
  private checkProcesses(): void {
    for (const service of this.services)
      if (!service.isRunning) this.find(`${service.app} has ended: ${service.output.slice(-2_000)}`);
  }

  private async checkScenario(): Promise<void> {
    const sent = [...this.load.takeEntries(), ...this.added.splice(0)];
    // Not `push(...sent)`: a call cannot have this many arguments.
    this.entries = this.entries.concat(sent);
    this.result.outcomes = countOutcomes(sent);
    const listed = await this.reader.readNewEvents();
    const candidates = [...this.inDoubt, ...sent];
    const stored = new Set(listed.map(({ eventData }) => markerOf(eventData)));
    this.inDoubt = candidates.filter(
      ({ outcome, event }) => outcome === 'in doubt' && !stored.has(event.marker),
    );
    const deadLetters = await this.reader.readDeadLetters();
    const published = await this.readStream();
    this.result.copies = published ? published.length - new Set(published.map(({ id }) => id)).size : 0;
    const isKnownBefore = (id: string): boolean => this.reader.hasRead(id);
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

  private async readStream(): Promise<PublishedMessage[] | undefined> {
    try {
      return await this.reader.readNewMessages();
    } catch (error) {
      this.find(`the EVENTS stream cannot be read: ${String(error)}`);
      return undefined;
    }
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
