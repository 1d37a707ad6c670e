import { DeliveryLog, gapReasons, type EpochNames } from './delivery-log.js';
import { isRecord, readDelivery } from './read-delivery.js';
import { nowMicroseconds, type FilterParameters } from './test-events.js';
import { WebSocketClient, type Ending } from './web-socket.js';

export interface ClientPlan {
  token: string;
  filter: FilterParameters;
  /** Each connection picks one at random, like a load balancer. */
  ports: readonly number[];
}

/** Counts over all clients of a group. */
export interface ResumingCounts {
  received: number;
  connections: number;
  gaps: Record<string, number>;
  /** Ended connections by close code or reason. */
  endings: Record<string, number>;
  /** The first few messages that a client could not read. */
  strange: string[];
}

export interface ClientSurroundings {
  epochs: EpochNames;
  counts: ResumingCounts;
  /** Called for each event with the time from sending to receiving. */
  onLatency: (microseconds: number) => void;
}

// The pause doubles with each failed attempt, and each client waits 50 to 100 % of it. Without this jitter, a thousand clients that lose a
// gateway together would return together.
const firstPauseMs = 250;
const longestPauseMs = 4_000;
const maxStrange = 20;

const path = '/ws/platform-events/';

/** A client that remembers its last position and resumes there after each disconnect. */
export class ResumingClient {
  readonly log: DeliveryLog;
  private socket: WebSocketClient | undefined;
  private timer: NodeJS.Timeout | undefined;
  private position: string | undefined;
  private failures = 0;
  private isWanted = false;

  constructor(
    readonly plan: ClientPlan,
    private readonly surroundings: ClientSurroundings,
  ) {
    this.log = new DeliveryLog(surroundings.epochs);
  }

  get hasPosition(): boolean {
    return this.position !== undefined;
  }

  get isConnected(): boolean {
    return this.isWanted && this.failures === 0 && this.socket !== undefined;
  }

  /** Connects, and reconnects until `close`. */
  open(): void {
    this.isWanted = true;
    this.connect();
  }

  /** Disconnects. Keeps the log. */
  close(): void {
    this.isWanted = false;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  /** Stops or resumes reading from the socket. */
  setReading(isReading: boolean): void {
    if (isReading) this.socket?.goOnReading();
    else this.socket?.stopReading();
  }

  private connect(): void {
    const { token, filter, ports } = this.plan;
    const after = this.position === undefined ? {} : { after: this.position };
    const firstMessage = JSON.stringify({ token, ...filter, positions: true, keep_alive: true, ...after });
    const port = ports[Math.floor(Math.random() * ports.length)] ?? 0;
    this.socket = new WebSocketClient(
      { port, path, firstMessage },
      {
        onOpen: () => {
          this.log.noteConnected();
          this.surroundings.counts.connections += 1;
        },
        onText: (bytes, start, end) => this.onText(bytes, start, end),
        onEnd: (ending) => this.onEnd(ending),
      },
    );
  }

  private onText(bytes: Buffer, start: number, end: number): void {
    // Reset the pause only when a message arrives. A connection with a rejected token must not reset the pause.
    this.failures = 0;
    if (!isRecord(bytes, start)) {
      this.onMessage(bytes.toString('utf8', start, end));
      return;
    }
    const { counts, epochs, onLatency } = this.surroundings;
    const { event, sentAt, epoch, sequence, check, position } = readDelivery(bytes, start, end);
    this.position = position;
    this.log.noteEvent({ epoch: epochs.numberOf(epoch), sequence, check }, event);
    counts.received += 1;
    onLatency(nowMicroseconds() - sentAt);
  }

  private onMessage(text: string): void {
    const { counts, epochs } = this.surroundings;
    const message = JSON.parse(text) as { event?: unknown; reason?: unknown; position?: unknown }; // Safe cast: checked below
    const reason = gapReasons.find((known) => known === message.reason);
    const [epoch, sequence] = typeof message.position === 'string' ? message.position.split('-') : [];
    if (message.event === 'gap' && reason) {
      counts.gaps[reason] = (counts.gaps[reason] ?? 0) + 1;
      this.log.noteGap(reason);
    } else if ((message.event === 'ready' || message.event === 'keep_alive') && epoch && sequence) {
      this.position = String(message.position);
      this.log.notePosition({ epoch: epochs.numberOf(epoch), sequence: Number(sequence) });
    } else throw new Error(`unknown message: ${text}`);
  }

  private onEnd(ending: Ending): void {
    this.socket = undefined;
    if (!this.isWanted) return;
    const { endings, strange } = this.surroundings.counts;
    const name = nameOf(ending);
    endings[name] = (endings[name] ?? 0) + 1;
    if (ending.kind === 'garbled' && strange.length < maxStrange) strange.push(ending.why);
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.failures);
    this.failures += 1;
    this.timer = setTimeout(() => this.connect(), pauseMs * (0.5 + Math.random() / 2));
  }
}

function nameOf(ending: Ending): string {
  if (ending.kind === 'closed') return String(ending.code);
  return ending.kind === 'refused' ? `HTTP ${ending.status}` : ending.kind;
}
