import { ServiceError } from '@stream-events/contracts';

// Maximum number of tasks that run at the same time, and that wait.
const maxRunning = 2;
const maxWaiting = 64;
// Prevents one address from filling the queue and locking out other clients.
const maxWaitingPerAddress = 4;
// How long a task waits for its turn. On an idle machine, 64 password hashes take 7 s. On a busy machine without this limit, a task could
// wait longer than its client does.
const maxWaitMs = 10_000;

/**
 * Runs two tasks at a time, and lets others wait in order of arrival. For logins, which anyone may send, as fast as they want: a flood of
 * logins must not use up the threads, the memory, or the database connections that other requests need.
 */
export class LoginTurns {
  private readonly waiting: { address: string; start: () => void }[] = [];
  private running = 0;

  /**
   * Runs a task when its turn comes, and returns its result.
   *
   * @throws ServiceError `unavailable` when too many tasks are waiting, or this task has waited for 10 s
   */
  async run<T>(address: string, task: () => Promise<T>): Promise<T> {
    if (this.running < maxRunning) this.running += 1;
    else await this.untilTurn(address);
    try {
      return await task();
    } finally {
      // Pass the turn directly to the next waiting task, so that no new task can take the turn first.
      const next = this.waiting.shift();
      if (next) next.start();
      else this.running -= 1;
    }
  }

  private async untilTurn(address: string): Promise<void> {
    const ownWaiting = this.waiting.filter((entry) => entry.address === address).length;
    if (this.waiting.length >= maxWaiting || ownWaiting >= maxWaitingPerAddress) throw tooManyLogins();
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

function tooManyLogins(): ServiceError {
  return new ServiceError(
    'unavailable',
    'Too many logins are in progress. Retry after the time in `Retry-After`.',
  );
}
