/** Runs `work` for several callers at once. Callers that arrive during a run share the next run. */
export class SharedRun {
  private running: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  /** Waits for the next run to finish. That run starts after this call. */
  join(): Promise<void> {
    this.next ??= this.runAfter(this.running);
    return this.next;
  }

  private async runAfter(previous: Promise<void>): Promise<void> {
    // A failure of the previous run concerns only its own callers.
    await previous.catch(() => undefined);
    this.running = this.next ?? Promise.resolve();
    this.next = undefined;
    await this.work();
  }
}
