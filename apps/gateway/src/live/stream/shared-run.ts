/** Work that is done once for all who ask for it together: by a run that begins after they have asked. */
export class SharedRun {
  private running: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  /** Done with a run that begins after this call. */
  join(): Promise<void> {
    this.next ??= this.runAfter(this.running);
    return this.next;
  }

  private async runAfter(previous: Promise<void>): Promise<void> {
    // Its failure is for those who wait for it.
    await previous.catch(() => undefined);
    this.running = this.next ?? Promise.resolve();
    this.next = undefined;
    await this.work();
  }
}
