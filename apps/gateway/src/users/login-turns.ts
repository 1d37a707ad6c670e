import { ServiceError } from '@stream-events/contracts';
import { addressKey, networkKeys } from '../http/client-address.js';

// Maximum number of running tasks, and of waiting tasks of each kind of client.
const maxRunning = 2;
const maxWaiting = 64;
// Keeps one client from filling the queue and locking out other clients. Each wider key may have twice as many tasks as the key before it:
// 4 of an IPv6 /64 network, 8 of its /56, and 16 of its /48.
const maxWaitingPerKey = 4;
// Maximum number of turns in a row for known clients while others wait. Keeps a user who logs in in a loop from locking out new clients.
const maxKnownInRow = 4;
// Maximum wait for a turn. An idle machine computes 64 password hashes in 7 s. On a busy machine, a task could wait longer than its client
// does.
const maxWaitMs = 10_000;

/** Who waits for a turn. */
export interface TurnClient {
  /** Known clients go first. */
  isKnown: boolean;
  /** What counts as one client, from the narrowest to the widest. */
  keys: readonly string[];
}

/** A client that has not logged in from its address before. */
export function newClientAt(address: string): TurnClient {
  return { isKnown: false, keys: networkKeys(address) };
}

/**
 * A client that has logged in as this user from this address before. Logins with other names from the address do not count, so that they
 * cannot use up the client's turns.
 */
export function knownClient(address: string, usernameKey: string): TurnClient {
  return { isKnown: true, keys: [`${addressKey(address)} ${usernameKey}`, usernameKey] };
}

interface Waiting extends TurnClient {
  start: () => void;
}

/**
 * Runs two tasks at a time and queues the rest. Known clients go first, each kind in order of arrival. Anyone can send logins at any rate
 * and from many addresses. A flood must not use up the threads, memory, and database connections that other requests need, and must not
 * delay users at addresses from which they have logged in before.
 */
export class LoginTurns {
  private readonly known: Waiting[] = [];
  private readonly others: Waiting[] = [];
  private running = 0;
  private knownInRow = 0;

  /**
   * Waits for a turn, then runs the task.
   *
   * @throws ServiceError `too_many_requests` when too many tasks of this client are waiting; `unavailable` when too many tasks are
   * waiting, or this task has waited for 10 s
   */
  async run<T>(client: TurnClient, task: () => Promise<T>): Promise<T> {
    if (this.running < maxRunning) this.running += 1;
    else await this.untilTurn(client);
    try {
      return await task();
    } finally {
      // Hand the turn to the next waiting task, so that a new task cannot overtake it.
      const next = this.takeNext();
      if (next) next.start();
      else this.running -= 1;
    }
  }

  private takeNext(): Waiting | undefined {
    const isTurnOfOthers = this.knownInRow >= maxKnownInRow && this.others.length > 0;
    const next = (isTurnOfOthers ? undefined : this.known.shift()) ?? this.others.shift();
    this.knownInRow = next?.isKnown ? this.knownInRow + 1 : 0;
    return next;
  }

  private async untilTurn(client: TurnClient): Promise<void> {
    const waiting = client.isKnown ? this.known : this.others;
    const isFull = client.keys.some(
      (key, index) =>
        waiting.filter(({ keys }) => keys.includes(key)).length >= maxWaitingPerKey * 2 ** index,
    );
    if (isFull) throw tooManyLoginsOfClient();
    if (waiting.length >= maxWaiting) throw tooManyLogins();
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const entry = { ...client, start };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(tooManyLogins());
      }, maxWaitMs);
      waiting.push(entry);
    });
  }
}

function tooManyLoginsOfClient(): ServiceError {
  return new ServiceError(
    'too_many_requests',
    'Too many passwords from this address are being checked. Retry after the time in `Retry-After`.',
    { retryAfterSeconds: 1 },
  );
}

function tooManyLogins(): ServiceError {
  return new ServiceError(
    'unavailable',
    'Too many logins are in progress. Retry after the time in `Retry-After`.',
  );
}
