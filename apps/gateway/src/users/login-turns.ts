import { ServiceError } from '@stream-events/contracts';

// Maximum number of running tasks, and of waiting tasks.
const maxRunning = 2;
const maxWaiting = 64;
// Keeps one address from filling the queue and locking out other clients.
const maxWaitingPerAddress = 4;
// Maximum wait for a turn. An idle machine computes 64 password hashes in 7 s. On a busy machine, a task could wait longer than its client
// does.
const maxWaitMs = 10_000;

/**
 * Runs two tasks at a time and queues the rest in order of arrival. Anyone can send logins at any rate. A flood must not use up the
 * threads, memory, and database connections that other requests need.
 */
export class LoginTurns {
  private readonly waiting: { address: string; start: () => void }[] = [];
  private running = 0;

  /**
   * Waits for a turn, then runs the task.
   *
   * @throws ServiceError `too_many_requests` when too many tasks of this address are waiting; `unavailable` when too many tasks are
   * waiting, or this task has waited for 10 s
   */
  async run<T>(address: string, task: () => Promise<T>): Promise<T> {
    if (this.running < maxRunning) this.running += 1;
    else await this.untilTurn(address);
    try {
      return await task();
    } finally {
      // Hand the turn to the next waiting task, so that a new task cannot overtake it.
      const next = this.waiting.shift();
      if (next) next.start();
      else this.running -= 1;
    }
  }

  private async untilTurn(address: string): Promise<void> {
    const ownWaiting = this.waiting.filter((entry) => entry.address === address).length;
    if (ownWaiting >= maxWaitingPerAddress) throw tooManyLoginsOfAddress();
    if (this.waiting.length >= maxWaiting) throw tooManyLogins();
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const entry = { address, start };
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        reject(tooManyLogins());
      }, maxWaitMs);
      this.waiting.push(entry);
    });
  }
}

function tooManyLoginsOfAddress(): ServiceError {
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
